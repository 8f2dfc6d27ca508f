for path; do
    mkdir -p "/tests/$(dirname "$path")" && cp "@STAGED@/$path" "/tests/$path" && chmod +x "/tests/$path" || exit 125
done
named=$(grep -rIhoE 'reward[.](json|txt)' /tests/ | sort -u)
said=$(mktemp) && bash /tests/test.sh > "$said" 2>&1
sed "s/^/| /" "$said"
for name in $named; do
    file=/logs/verifier/$name
    [ -e "$file" ] || continue
    case $name in
        *.txt) reward="\"$(tr -c '[:alnum:][:space:].+_-' x < "$file" | tr '[:space:]' ' ')\"" ;;
        *) reward=$(cat "$file") ;;
    esac
    printf '\n{"reward": %s}\n' "$reward"
    exit 0
done
[ ! -s /logs/verifier/unforeseen.txt ] || sed 's/^/unforeseen: /' /logs/verifier/unforeseen.txt
exit 0
