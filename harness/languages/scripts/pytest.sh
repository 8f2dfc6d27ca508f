set -- {files}
[ "$#" -gt 0 ] && set -- "$@" {tripwires} || set -- .
exec /opt/venv/bin/pytest -rfEsxXp -p no:cacheprovider --maxfail=0 --rootdir=/testbed \
  --junitxml={report} -o junit_family=xunit1 "$@"
