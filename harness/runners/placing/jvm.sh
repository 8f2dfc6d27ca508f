# Maven's and Gradle's own arguments choose projects; the others are files or classes.
projects=, others=
for each do
  shift
  case $each in
    -pl=* | --projects=*) projects=$projects${each#*=}, ;;
    -am | -amd | --also-make*) others='?' ;;
    *:*) projects=$projects${each%:*}, ;;
    [a-z]*) [ ! -e "$each" ] || set -- "$@" "$each" ;;
    *) set -- "$@" "$each" ;;
  esac
done
# Prints the modules of a build of Maven, with a question mark if a profile decides.
modules() {
  case $1 in */*/*/*/*/*/*/*/*/*) return ;; esac # a module may name one above it
  awk 'BEGIN { RS = "<" } /^!--/ { hidden = 1 } /^profile>/ { mark = "?" } /^\/profile>/ { mark = "" }
    /^\/?modules>/ { listed = /^m/ }
    /^module>/ && listed && !hidden { gsub(/^module>[ \t\r\n]*|[ \t\r\n]*$/, ""); if ($0 != "") print $0 mark }
    /-->/ { hidden = 0 }' "$1/pom.xml" 2> /dev/null | while read -r each; do
    echo "$1/$each"
    modules "$1/${each%\?}" | case $each in *\?) sed 's/[?]*$/?/' ;; *) cat ;; esac
  done
}
built=$(echo . && modules .) named=$#
# What a build file chooses by itself, unless classes are named; the tripwires' class ends in Test.
has_choice() {
  [ "$named" -eq 0 ] && grep -hsE '<(groups|suiteXmlFile|skipTests)>|<include>.*[.](java|class)<' "$@" | grep -qv '[*]Test[.]'
}
# Prints a question mark for a module of which nobody knows whether it is run; fails for one that is not.
is_run() {
  path=${1#./} listed=$1
  if [ "$tool" = gradle ]; then
    path=$(printf %s "$path" | tr / :) && [ "$1" != . ] || path=
    [ "$1" = . ] || grep -qsE "[\"':]${path}[\"']" settings.gradle settings.gradle.kts || listed="$1?"
  elif [ -f pom.xml ]; then
    listed=$(printf '%s\n' "$built" | grep -xF -e "$1" -e "$1?" | head -n 1)
    ! has_choice pom.xml "$1/pom.xml" || listed=${listed:+"$1?"}
  fi
  case $projects in
    , | *",$path,"* | *",./$path,"* | *",:$path,"*) ;;
    *:* | *",!"* | *",-"*) [ -z "$listed" ] || [ "$tool$listed" = "gradle$1" ] && listed= || listed="$1?" ;;
    *) listed=${others:+${listed:+"$1?"}} ;;
  esac
  [ -n "$listed" ] && printf %s "${listed#"$1"}"
}
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
  echo "$number$unsure"
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
  unsure=$(is_run "$module") || continue
  [ -z "$framework" ] || place "$framework" ""
  if [ "$suffix" = kt ] && grep -q '^import kotlin\.test\.' "$file" && [ -n "$(mark)" ]; then
    place kotlin "$(mark)"
  fi
done
