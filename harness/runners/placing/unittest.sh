folder=. && [ ! -d "${1:-.}" ] || folder=${1:-.}
for file in "$TRIPWIRES"/*.py; do
  sed 's/@PLACE@/0/g' "$file" > "$folder/${file##*/}" && echo 0
done
