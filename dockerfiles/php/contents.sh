# Name and version of every package that Composer fetched, with the reference of its source or the hash of its archive.
[ ! -e /opt/php/composer.lock ] || php -r '
    $lock = json_decode(file_get_contents("/opt/php/composer.lock"), true);
    foreach ([...$lock["packages"], ...$lock["packages-dev"]] as $each) {
        $hash = ($each["dist"]["shasum"] ?? "") ?: $each["dist"]["reference"] ?? $each["source"]["reference"] ?? "-";
        echo "{$each["name"]} {$each["version"]} $hash\n";
    }' | LC_ALL=C sort > packages
