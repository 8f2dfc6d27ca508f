for file in "$TRIPWIRES"/*.py; do
  sed 's/@PLACE@/0/g' "$file" > "sympy/${file##*/}" && echo 0
done
number=0
for file; do
  sed 's/.*/^def &(/' "$TRIPWIRES/labels" | grep -qf - -- "$file" 2> /dev/null || continue
  number=$((number + 1))
  sed "s/@PLACE@/$number/g" "$TRIPWIRES/inside" >> "$file" && echo "$number"
done
