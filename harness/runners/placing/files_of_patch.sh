named=
for each do [ ! -f "$each" ] || named=yes; done
# Words that are no files are parts of the paths of files.
if [ -z "$named" ]; then
  parts=$(IFS='|' && echo "$*" | sed 's:[.]/::g')
  set -f
  IFS='
'
  set -- $(git apply --numstat "$TRIPWIRES/../tests.patch" 2> /dev/null | cut -f 3 |
    grep -E '(^|/)__tests__/|[.-](test|spec)\.[cm]?[jt]sx?$' | grep -vE '(^|/)(cypress|e2e|playwright)/' | grep -E -e "${parts:-.}")
fi
