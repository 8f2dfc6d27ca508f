# Builds the project and its tests, so that an evaluation compiles only what its patch changes.
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
elif [ -e CMakeLists.txt ]; then
    { cmake -S . -B assay-build -DCMAKE_BUILD_TYPE=Debug {options} && cmake --build assay-build --parallel 2; } || true
fi
