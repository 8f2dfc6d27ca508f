place=0
for file do
  has_expected "$file" || grep -qsF -- "$file" "$TRIPWIRES/labels" || continue
  if grep -qsxE '__END__' "$file"; then continue; fi
  if grep -qE '\b(fit|fdescribe|fcontext|fspecify)\b|:focus\b|\bfocus: ' "$file"; then continue; fi
  place=$((place + 1))
  { echo; sed "s/@PLACE@/$place/g" "$TRIPWIRES"/*.rb; } >> "$file" && echo "$place"
done
for file in "$TRIPWIRES"/*.rb; do
  sed "s/@PLACE@/root/g" "$file" > "${file##*/}" && echo root
done
