number=0
{ git diff --name-only --no-renames --diff-filter=d HEAD; git ls-files --others --exclude-standard; } 2> /dev/null |
  grep -E '\.(cc|cpp|cxx|c\+\+|C)$' | sort -u | while read -r file; do
  grep -qE '^ *(TEST|TEST_F|TEST_P|TYPED_TEST)\(' "$file" || continue
  defines_expected '^ *(TYPED_)?TEST\w*\([^)]*' "$file" || echo "$file" | grep -qwFf "$TRIPWIRES/expected" || continue
  # A program that is given the names of its tests would leave them out.
  ! grep -rqs --include=CMakeLists.txt --include='*.cmake' -e --gtest_filter . || continue
  number=$((number + 1))
  cat "$TRIPWIRES"/*.cc | sed "s/@PLACE@/$number/g" >> "$file"
  echo "$number"
done
