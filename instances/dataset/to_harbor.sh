#!/bin/bash
# Sends what the agent changed to the service of ASSAY_SERVICE (assay serve), which tests it in a container of its own,
# and writes the reward that it answers with. If the infrastructure fails there is no reward, and no file.
set -u
patch=@PATCH@ body=$(mktemp) answer=$(mktemp)
[ -f "$patch" ] || { echo "there is no $patch"; exit 1; }
service=${ASSAY_SERVICE:-}
[ -n "$service" ] || { echo "set ASSAY_SERVICE to the address of assay serve"; exit 1; }

escapes=(-e 's/\\/\\\\/g' -e 's/"/\\"/g')
for code in 01 02 03 04 05 06 07 08 09 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f; do
    escapes+=(-e "s/\\x$code/\\\\u00$code/g")
done
{
    printf '{"instance_id": "%s", "reward": "resolved", "wait": 600, "patch": "' @ID@
    LC_ALL=C sed "${escapes[@]}" "$patch" | while IFS= read -r line || [ -n "$line" ]; do printf '%s\\n' "$line"; done
    printf '"}'
} > "$body"

# Prints the status that the service answers with; the answer is in the file.
ask() {
    if command -v curl > /dev/null; then
        curl -s -o "$answer" -w '%{http_code}' "$service/v1/rewards" -H 'Content-Type: application/json' \
            ${ASSAY_TOKEN:+-H "Authorization: Bearer $ASSAY_TOKEN"} --data-binary "@$body"
        return
    fi
    local place=${service#http://}
    place=${place%%/*}
    local host=${place%%:*} port=80
    case $place in *:*) port=${place##*:} ;; esac
    exec 3<> "/dev/tcp/$host/$port" || return
    printf 'POST /v1/rewards HTTP/1.0\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n%s\r\n' \
        "$place" "$(wc -c < "$body")" "${ASSAY_TOKEN:+Authorization: Bearer $ASSAY_TOKEN$'\r\n'}" >&3
    cat "$body" >&3
    cat <&3 > "$answer"
    exec 3>&-
    head -n 1 "$answer" | cut -d ' ' -f 2
}

while status=$(ask); do
    case $status in
        200) break ;;
        202) ;;
        429 | 502 | 503 | "" | 000) sleep 10 ;;
        *) cat "$answer"; exit 1 ;;
    esac
done
reward=$(grep -oE '"reward": ?-?[0-9.]+' "$answer" | head -n 1 | grep -oE -e '-?[0-9.]+$')
[ -n "$reward" ] || { cat "$answer"; exit 1; }
mkdir -p /logs/verifier
printf '{"reward": %s}\n' "$reward" > /logs/verifier/reward.json
