# Name and version of every gem that Bundler fetched, with the hash of its archive.
[ ! -d /opt/gems ] || find /opt/gems/bundle -path '*/cache/*.gem' | LC_ALL=C sort | while read -r file; do
    hash=$(sha256sum "$file")
    echo "$(basename "$file" .gem) sha256:${hash%% *}"
done > packages
