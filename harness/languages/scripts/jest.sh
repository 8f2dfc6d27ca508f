set -- {files}
[ "$#" -eq 0 ] || set -- --runTestsByPath "$@"
exec node_modules/.bin/jest --ci --json --verbose --bail=0 --outputFile={report} --reporters=default "$@"
