set -o pipefail
cmake -S . -B @BUILD@ -DCMAKE_BUILD_TYPE=Debug {options} && cmake --build @BUILD@ --parallel 2 || exit $?
rm -rf {reports} && mkdir -p {reports} || exit $?
export GTEST_OUTPUT=xml:{reports}/ GTEST_BRIEF=0
ctest --test-dir @BUILD@ -V --output-junit {reports}/ctest.xml | @SHORTENED@
status=$?
find {reports} -name '*.xml' ! -exec grep -q 'failures=' {} ';' -delete
exit "$status"
