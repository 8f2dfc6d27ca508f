has_expected() { [ ! -s "$TRIPWIRES/expected" ] || grep -qrwFf "$TRIPWIRES/expected" -- "$@" 2> /dev/null; }
