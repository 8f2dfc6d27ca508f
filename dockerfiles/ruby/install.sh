# Ruby compiles nothing.
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
fi
