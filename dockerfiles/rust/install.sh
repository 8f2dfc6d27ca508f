# Compiles the crates and their tests, so that a patch's tests only compile what the patch changes.
export CARGO_NET_OFFLINE=true
[ -e Cargo.lock ] || cp /opt/cargo/Cargo.lock .
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
else
    cargo test --offline --no-run > /dev/null 2>&1 || true
fi
chown -R assay: /opt/target
