set -- {files}
[ "$#" -gt 0 ] || set -- spec
set -- --no-color --no-fail-fast --format documentation --format json --out {report} "$@" {tripwires}
exec /opt/assay/with_gems /usr/bin/rspec "$@"
