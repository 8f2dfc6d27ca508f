is_run() {
  file=${1#./} class=$2 && shift 2
  [ "$#" -gt 0 ] || return 0
  for target; do
    [ -e "$target" ] || target=$folder/$(printf %s "$target" | tr . /)
    target=${target#./} && target=${target%.py}
    case ${file%.py} in "$target" | "${target%/}"/*) return 0 ;; esac
    # A single test of the class is not the class.
    case $target in . | "${file%.py}/$class") return 0 ;; esac
  done
  return 1
}
of_ids() {
  sed -n 's/^\w* (\([A-Za-z0-9_.]*\))$/\1/p' "$TRIPWIRES/labels" | sed 's/\.test\w*$//' | while read -r case; do
    echo "$folder/$(printf %s "${case%.*}" | tr . /).py ${case##*.}"
  done
}
of_docstrings() {
  for target; do
    [ -f "$target" ] || target=$folder/$(printf %s "$target" | tr . /).py
    [ ! -f "$target" ] || LABELS=$TRIPWIRES/labels awk '
      BEGIN { while ((getline label < ENVIRON["LABELS"]) > 0) labels[label] }
      /^class / { class = $2; sub(/[(:].*/, "", class) }
      { gsub(/^[ \t]*([rR]?["\047]+[ \t]*)?|[ \t]*["\047]*[ \t\r]*$/, "") }
      $0 in labels && class { print FILENAME, class }' "$target"
  done
}
number=0
{ of_ids && of_docstrings "$@"; } | sort -u | while read -r file class; do
  is_run "$file" "$class" "$@" && grep -q "^class $class\b" "$file" 2> /dev/null || continue
  number=$((number + 1))
  sed -e "s/@PLACE@/$number/g" -e "s/@CLASS@/$class/g" "$TRIPWIRES/inside" >> "$file" && echo "$number"
done
