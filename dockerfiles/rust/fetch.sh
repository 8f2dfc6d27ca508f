# Downloads the crates of the tree's workspace: in the versions of a lock, of the tree, or else of the day.
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
        echo "crates are as of $day: some of $1 have been yanked since" > /opt/lock/note
    done
}

fixed=$([ -e Cargo.lock ] && echo yes || true)
[ ! -e /build/locked/Cargo.lock ] || cp /build/locked/Cargo.lock .
[ -e Cargo.lock ] || lock_as_of "$(cat /build/cutoff)"
[ -n "$fixed" ] || cp Cargo.lock /opt/cargo/
cargo fetch --target "$(rustc --version --verbose | sed -n 's/^host: //p')"
cp Cargo.lock /opt/lock/  # with what the tree's own lacked
chmod -R a+rX /opt/cargo
chown assay: /opt/target
