find . -path '*/surefire-reports/TEST-*.xml' -delete
@MAVEN@ --offline --batch-mode --fail-at-end {options} -DskipTests=false -Dmaven.test.skip=false \
  -Dmaven.test.failure.ignore=true -Dsurefire.skipAfterFailureCount=0 \
  -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false "$@" test |
  awk '{ print; fflush() } /Tests run: .*<<< (FAILURE|ERROR)!/ { failed = 1 } END { exit failed }'
status=$((PIPESTATUS[0] ? PIPESTATUS[0] : PIPESTATUS[1]))
mkdir -p {reports}
find . -path '*/surefire-reports/TEST-*.xml' -exec cp --parents -t {reports} {} +
exit "$status"
