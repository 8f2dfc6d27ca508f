# Compiles the project and its tests, so that an evaluation compiles only what its patch changes.
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
else
    mvn --offline --batch-mode --quiet --fail-at-end {options} test-compile > /dev/null 2>&1 || true
fi
find . -path '*/surefire-reports/*' -delete
