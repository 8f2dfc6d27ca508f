# PHP compiles nothing; the recipe writes the autoloader.
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
fi
