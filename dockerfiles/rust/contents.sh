# Name and version of every crate, with its hash as in Cargo.lock.
find /opt/cargo/registry/cache -name '*.crate' 2> /dev/null | LC_ALL=C sort | while read -r file; do
    hash=$(sha256sum "$file")
    echo "$(basename "$file" .crate) sha256:${hash%% *}"
done > packages
