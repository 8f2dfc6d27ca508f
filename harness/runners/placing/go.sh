package_clause() { sed -n 's/^package  *\([A-Za-z0-9_]*\).*/\1/p' "$@" | head -n 1; }
folders() {
  packages "$@" | while read -r package; do
    top=${package%/...}
    [ "$package" != "$top" ] || echo "$package"
    [ "$package" = "$top" ] || find "$top" -name '*_test.go' -exec dirname {} + | sort -u | while read -r folder; do
      [ "$(module_of "$folder")" != "$(module_of "$package")" ] ||
        echo "$folder" | grep -vE '/(testdata|vendor|[_.][^/]+)(/|$)'
    done
  done | awk '!seen[$0]++'
}
own=$(sed -n 's/^module  *\([^ ]*\).*/\1/p' go.mod 2> /dev/null) others=
for each do
  shift
  case $each in "${own:-.}" | "${own:-.}"/*) each=.${each#"${own:-.}"} ;; esac
  case ${each%%/*} in ?*.[a-z]*) [ -e "$each" ] || { others=yes && continue; } ;; esac
  set -- "$@" "$each"
done
number=0
# Packages of another module have no tripwires.
[ "$#" -eq 0 ] && [ -n "$others" ] || folders "$@" | while read -r folder; do
  defines_expected '^func +\w+' "$folder"/*_test.go || continue
  clause='' number=$((number + 1))
  # Files with a build constraint may belong to another package, which is never tested.
  free=$(grep -LE '^(//go:build|// *\+build) ' "$folder"/[!_.]*_test.go 2> /dev/null | head -n 1)
  [ -z "$free" ] || clause=$(package_clause "$free")
  [ -n "$clause" ] || clause=$(package_clause "$folder"/[!_.]*_test.go 2> /dev/null)
  [ -n "$clause" ] || continue
  clause=${clause%_test}
  for file in "$TRIPWIRES"/*.go; do
    sed -e "s/@PLACE@/$number/g" -e "s/^package tests/package $clause/" "$file" > "$folder/${file##*/}"
  done
  echo "$number"
done
