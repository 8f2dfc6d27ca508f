place=0
for file do
  has_expected "$file" || grep -qsF -- "$file" "$TRIPWIRES/labels" || continue
  grep -qsE '(^|[^.[:alnum:]_$])(it|test)[.(`]' "$file" || continue
  if grep -qE '\.only\b|\bf(it|describe)\(' "$file"; then continue; fi
  place=$((place + 1))
  @SOURCE@
  sed "s/@PLACE@/$place/g" "$TRIPWIRES/$source" >> "$file" && echo "$place"
done
