# Fetches the tree's packages with Composer: those of its lock file, or else of the instance's date. Neither scripts nor
# plug-ins run. Where no index answers there is nothing to fetch: the recipe names Debian packages.

# Extensions come with the recipe. Where the lock is for another PHP, whatever it names is fetched.
fetch_packages() {
    export COMPOSER_HOME=/tmp/composer COMPOSER_VENDOR_DIR=/opt/php/vendor COMPOSER_ALLOW_SUPERUSER=1
    fixed=$([ -e composer.lock ] && echo yes || true)
    [ -n "$fixed" ] || [ ! -e /build/locked/composer.lock ] || cp /build/locked/composer.lock .
    verb=$([ -e composer.lock ] && echo install || echo update)
    mkdir -p "$COMPOSER_HOME" /opt/php
    cat > "$COMPOSER_HOME/config.json" <<'END'
{"repositories": [{"type": "composer", "url": "http://127.0.0.1:9291"}, {"packagist.org": false}],
 "config": {"secure-http": false, "platform-check": false}}
END
    : > /tmp/undated
    UNTIL=$([ $verb = install ] && echo 9999-01-01 || cat /build/cutoff)
    export UPSTREAM="${COMPOSER_MIRROR:-https://repo.packagist.org}" UNTIL NOTE=/tmp/undated
    php -S 127.0.0.1:9291 /build/dated_index.php > /tmp/index.log 2>&1 &
    index=$!
    until php -r 'exit(@fsockopen("127.0.0.1", 9291) ? 0 : 1);'; do
        kill -0 $index
        sleep 0.2
    done
    export no_proxy="127.0.0.1${no_proxy:+,$no_proxy}"
    set -- --no-interaction --no-progress --no-scripts --no-plugins --no-autoloader --prefer-dist
    composer $verb "$@" --ignore-platform-req='ext-*' || composer $verb "$@" --ignore-platform-reqs
    kill $index
    cp composer.lock /opt/lock/
    cp composer.lock /opt/php/
    [ ! -s /tmp/undated ] || sort -u /tmp/undated > /opt/lock/note
    chmod -R a+rX /opt/php
}

if [ -e /build/index ] && [ -e composer.json ]; then
    fetch_packages
fi
