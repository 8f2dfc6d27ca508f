# The gems of the tree, if Bundler fetched them.
if [ -d /opt/gems ] && [ ! -e Gemfile.lock ] && [ -e /opt/gems/Gemfile.lock ] && [ -e Gemfile ]; then
    cp /opt/gems/Gemfile.lock .
fi
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
else
    # Compiles extensions into the folder "lib" of their gem; tests of one that does not compile fail.
    for script in ext/extconf.rb ext/*/extconf.rb ext/*/*/extconf.rb; do
        [ -e "$script" ] || continue
        (cd "$(dirname "$script")" && ruby extconf.rb && make && make sitearchdir=/testbed/lib sitelibdir=/testbed/lib install) ||
            echo "$script has failed"
    done
fi
