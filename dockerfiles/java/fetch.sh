# Fetches what Maven needs for a build and a test run, plug-ins included; only a build knows all of it. Surefire fetches
# the provider of a project's test framework only if there are test classes to run, so it runs them without any method.
mvn --batch-mode --no-transfer-progress --fail-never test '-Dtest=*#assay_runs_nothing' -DfailIfNoTests=false \
    -Dsurefire.failIfNoSpecifiedTests=false > /tmp/maven.log 2>&1 || { cat /tmp/maven.log; exit 1; }
tail -200 /tmp/maven.log
if grep -q 'Could not transfer' /tmp/maven.log; then exit 1; fi
