# An autoloader for the tree and for what it needs: packages that Composer fetched, libraries below /opt/downloads, and
# Debian's, which have autoloaders of their own.
if [ -e composer.json ] && { [ ! -e vendor ] || [ -d /opt/php/vendor ]; }; then
    mkdir -p /opt/php/vendor/composer vendor
    export COMPOSER_VENDOR_DIR=/opt/php/vendor COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_DISABLE_NETWORK=1 COMPOSER_HOME=/tmp/composer
    mkdir -p /tmp/composer
    echo '{"config": {"platform-check": false}}' > /tmp/composer/config.json
    php > /opt/php/vendor/composer/found.json <<'END'
<?php
// Describes the libraries in /opt/downloads as Composer describes packages that it has installed.
$packages = [];
foreach (glob('/opt/downloads/libraries/*/composer.json') as $file) {
    $package = json_decode(file_get_contents($file), true) ?: [];
    $name = str_replace('__', '/', basename(dirname($file)));
    @mkdir(dirname("/opt/php/vendor/$name"), 0755, true);
    is_link("/opt/php/vendor/$name") || symlink(dirname($file), "/opt/php/vendor/$name");
    $packages[] = ['name' => $name, 'version' => 'dev-main', 'version_normalized' => 'dev-main', 'type' => 'library',
        'install-path' => "../$name"] + $package;
}
echo json_encode(['packages' => $packages, 'dev' => true, 'dev-package-names' => []]);
END
    [ -e /opt/php/vendor/composer/installed.json ] || mv /opt/php/vendor/composer/found.json /opt/php/vendor/composer/installed.json
    rm -f /opt/php/vendor/composer/found.json
    # Composer reads a manifest as its own day did: names in its requirements that are no longer valid stop it.
    php > /tmp/composer/composer.json -r '
        $manifest = json_decode(file_get_contents("composer.json"), true) ?: [];
        $kept = ["name", "type", "autoload", "autoload-dev"];
        $valid = preg_match("~^[a-z0-9._-]+/[a-z0-9._-]+$~", $manifest["name"] ?? "");
        echo json_encode((object) array_diff_key(array_intersect_key($manifest, array_flip($kept)), $valid ? [] : ["name" => 0]));'
    COMPOSER=/tmp/composer/composer.json composer dump-autoload --no-interaction --no-plugins --no-scripts
    # The folder where a project expects its packages. Debian's are there before the tree's own files run; the tree's own
    # classes are looked for first all the same.
    for entry in /opt/php/vendor/*; do
        name=$(basename "$entry")
        [ "$name" = autoload.php ] || ln -sfn "$entry" "vendor/$name"
    done
    debian=
    [ -e /opt/php/composer.lock ] || debian=$(find /usr/share/php -name autoload.php ! -path '*/PHPUnit/*' ! -path '*/Composer/autoload.php' | LC_ALL=C sort)
    {
        echo '<?php'
        for file in $debian; do echo "require_once '$file';"; done
        echo "return require '/opt/php/vendor/autoload.php';"
    } > vendor/autoload.php
fi
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
fi
