# Downloads the crates of the tree's workspace, and keeps the versions that were chosen where the tree fixes none.
mkdir -p /opt/cargo /opt/target
export CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback
cargo fetch
[ ! -e Cargo.lock ] || cp Cargo.lock /opt/cargo/
chmod -R a+rX /opt/cargo
