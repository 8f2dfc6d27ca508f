packages() {
  [ "$#" -gt 0 ] || set -- ./...
  for package in "$@"; do
    until [ "${package%...}" != "$package" ] || ls "$package"/*_test.go > /dev/null 2>&1; do
      [ "$package" = . ] && package=./... || package=$(dirname "$package")
    done
    echo "$package"
  done | awk '!seen[$0]++'
}
module_of() {
  module=$(dirname "$1")
  [ ! -e "$1/go.mod" ] || module=$1
  until [ -e "$module/go.mod" ] || [ "$module" = . ]; do module=$(dirname "$module"); done
  echo "$module"
}
