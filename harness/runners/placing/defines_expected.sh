defines_expected() {
  heads=$1; shift
  [ ! -s "$TRIPWIRES/expected" ] || grep -rohE -e "$heads" -- "$@" 2> /dev/null | grep -qwFf "$TRIPWIRES/expected"
}
