# Downloads the crates of the tree's workspace, and keeps the chosen versions if the tree fixes none.
mkdir -p /opt/cargo /opt/target
export CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback

# Chooses the versions of a day ($1), which Debian's newest cargo supports. If all versions of that day have been yanked
# since, it tries the same day of later years, up to today.
lock_as_of() {
    (cd /tmp && apt-get update -q && apt-get download -q cargo-web && dpkg --extract cargo-web_*.deb cargo-web) > /dev/null
    day=$1
    until RUSTC_BOOTSTRAP=1 /tmp/cargo-web/usr/bin/cargo generate-lockfile -Z unstable-options --publish-time "$day"; do
        [ "$(date --date "$day" +%s)" -lt "$(date +%s)" ] || return 1
        day=$(date --utc --date "$day + 1 year" +%Y-%m-%dT%H:%M:%SZ)
    done
}

if [ ! -e Cargo.lock ]; then
    lock_as_of "$(cat /build/cutoff)"
    cp Cargo.lock /opt/cargo/
fi
cargo fetch --target "$(rustc --version --verbose | sed -n 's/^host: //p')"
chmod -R a+rX /opt/cargo
chown assay: /opt/target
