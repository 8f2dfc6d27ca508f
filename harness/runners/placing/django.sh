folder=tests && [ -f tests/runtests.py ] || folder=.
for package in "$TRIPWIRES"/*/; do
  package=${package%/} && cp -R "$package" "$folder" || continue
  sed -i 's/@PLACE@/0/g' "$folder/${package##*/}"/*.py && echo 0
done
