export GOENV=off
set -o pipefail
@PACKAGES@status=0
for package in $(packages {files}); do
  (cd "$(module_of "$package")" && exec go test -json -vet=off -count=1 -timeout=0 "$OLDPWD/$package") |
    @EVENTS@ || status=$?
done
exit "$status"
