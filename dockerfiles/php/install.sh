# PHP compiles nothing; a recipe makes the autoloader.
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
fi
