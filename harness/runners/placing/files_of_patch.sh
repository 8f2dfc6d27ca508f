if [ "$#" -eq 0 ]; then
  set -f
  IFS='
'
  set -- $(git apply --numstat "$TRIPWIRES/../tests.patch" 2> /dev/null | cut -f 3 |
    grep -E '(^|/)__tests__/|[.-](test|spec)\.[cm]?[jt]sx?$' | grep -vE '(^|/)(cypress|e2e|playwright)/')
fi
