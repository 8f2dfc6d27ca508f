test_files() {
  if [ "$#" -eq 0 ]; then find . -path '*/src/test/*' \( -name '*.java' -o -name '*.kt' \); fi
  # Some languages' targets are files, others' are classes.
  for each in "$@"; do
    found=./${each#./}
    [ -f "$each" ] || found=$(find . -name "$each.java" -o -name "$each.kt")
    [ -n "$found" ] || found=$(grep -rlE --include='*.kt' "^[^/*]*(class|object) $each\b" .)
    [ -z "$found" ] || printf '%s\n' "$found"
  done
}
with_expected_tests() {
  if [ -s "$TRIPWIRES/expected" ]; then xargs -r grep -lwFf "$TRIPWIRES/expected" --; else cat; fi
}
framework() {
  for line in junit5:org.junit.jupiter testng:org.testng junit4:org.junit junit3:junit.framework; do
    ! grep -qE "^import (static )?${line#*:}\." "$1" || { echo "${line%:*}"; return; }
  done
}
# Puts a set for a framework ($1) beside a test file, if it is the first that needs one. $2 marks a test of kotlin.test.
place() {
  [ -f "$TRIPWIRES/$1.$suffix" ] || return 0
  kind=junit
  case "$1" in
    kotlin) kind=kotlin holder=kotlin.test ;;
    junit5) holder=org.junit.jupiter.api.Assertions ;;
    testng) holder=org.testng.Assert ;;
    junit4) holder=org.junit.Assert ;;
    junit3) holder=junit.framework.Assert ;;
  esac
  from=$holder. import=
  for all in "$holder" "${holder%.*}"; do
    [ -z "$import" ] && grep -qE "^import $all\.\*" "$file" || continue
    import="import $all.*" from=${holder#"$all"} from=${from#.}
    from=${from:+$from.}
  done
  case "$seen" in *"<$module $kind $1>"*) ;; *"<$module $kind "*) return ;; esac
  set="<$module $1${import:+ $import in ${file%/*}}>"
  case "$seen" in *"$set"*) return ;; esac
  seen="$seen<$module $kind $1>$set" number=$((number + 1))
  [ "$suffix" = kt ] || import=${import:+$import;}
  source=$TRIPWIRES/$1.$suffix
  class=$(sed -n 's/^public class \([A-Za-z@]*\).*/\1/p' "$source" | sed "s/@PLACE@/$number/")
  # The license above the package's name is what some builds ask for.
  { ! grep -q '^package ' "$file" || sed '/^@file:/d; /^package /q' "$file"; echo "$import"; cat "$source"; } |
    sed "s/@PLACE@/$number/g; s/@FROM@/$from/g; s/@MARK@/$2/g" > "${file%/*}/$class.$suffix"
  echo "$number"
}
marks() { grep -qE "^import $1\.(Test\b|\*)" "$file"; }
mark() {
  for package in org.junit.jupiter.api org.testng.annotations org.junit kotlin.test; do
    ! marks "$package" || { echo "$package.Test"; return; }
  done
}
number=0 seen=
test_files "$@" | grep -vE '/(target|build)/' | with_expected_tests | sort | while read -r file; do
  module=${file%%/src/*} suffix=${file##*.} framework=$(framework "$file")
  [ -z "$framework" ] || place "$framework" ""
  if [ "$suffix" = kt ] && grep -q '^import kotlin\.test\.' "$file" && [ -n "$(mark)" ]; then
    place kotlin "$(mark)"
  fi
done
