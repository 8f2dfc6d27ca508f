for file in "$TRIPWIRES"/*.py; do
  sed 's/@PLACE@/0/g' "$file" > "${file##*/}" && echo 0
done
is_run() {
  file=$1 && shift
  [ "$#" -gt 0 ] || return 0
  for target; do
    target=${target#./} && case $file in "$target" | "${target%/}"/*) return 0 ;; esac
    [ "$target" != . ] || return 0
  done
  return 1
}
number=0
{ sed -n 's/^\([^:]*\.py\)::\(\w*\)::.*/\1 \2/p' "$TRIPWIRES/labels"
  sed -n 's/^\([^:]*\.py\)::[^:]*\(\[.*\)*$/\1 -/p' "$TRIPWIRES/labels"
} | sort -u | while read -r file class; do
  is_run "$file" "$@" && [ -f "$file" ] || continue
  # Whatever gives arguments to all tests of a file gives some that these do not take.
  ! grep -qE '^(pytestmark|def pytest_generate_tests)' "$file" || continue
  [ "$class" = - ] || grep -q "^class $class\b" "$file" || continue
  [ "$class" = - ] && source=in_file || source=in_class
  number=$((number + 1))
  sed -e "s/@PLACE@/$number/g" -e "s/@CLASS@/$class/g" "$TRIPWIRES/$source" >> "$file" && echo "$number"
done
