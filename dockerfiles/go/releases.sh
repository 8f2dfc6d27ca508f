# Usage: releases.sh MODULE DAY. Writes ./archive: a line "VERSION TIME" for each version of a module, newest first; those
# below the first one that is older than the day have no time, since go asks its proxy once for each.
set -eu
[ -z "${HOST_GOPROXY:-}" ] || export GOPROXY="$HOST_GOPROXY"
export GO111MODULE=on GOWORK=off GOSUMDB=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
go list -m -versions -f '{{range .Versions}}{{println .}}{{end}}' "$1" 2> said > versions || { sed 's/^/error: /' said >&2; exit 1; }
# A release candidate is listed too, and is no release.
sed -n '/^v[0-9.]*\(+incompatible\)\{0,1\}$/p' versions | sort --version-sort --reverse > wanted
: > archive
asking=yes
while read -r version; do
    time=
    if [ "$asking" ]; then
        time=$(go list -m -f '{{if .Time}}{{.Time.UTC.Format "2006-01-02T15:04:05Z"}}{{end}}' "$1@$version")
        [ "$(printf '%s\n%s\n' "$2" "$time" | sort | head -n 1)" = "$2" ] || asking=
    fi
    echo "$version $time" >> archive
done < wanted
