# Usage: releases.sh CRATE. Writes ./archive: what the index says of each version of a crate, a JSON object a line.
set -eu
mkdir src
: > src/lib.rs
export CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse
cat > Cargo.toml <<END
[package]
name = "assay-lists-a-crate"
version = "0.0.0"
edition = "2018"

[workspace]

[dependencies]
wanted = { package = "$1", version = "*", default-features = false }
END
cargo generate-lockfile --quiet
# Cargo keeps the index's own lines, between zero bytes.
name=$(echo "$1" | tr '[:upper:]' '[:lower:]')
find "${CARGO_HOME:-$HOME/.cargo}/registry/index" -path "*/.cache/*/$name" -exec ls -t {} + | head -n 1 > found
[ -s found ] || { echo "error: cargo has kept no index of $1" >&2; exit 1; }
tr '\0' '\n' < "$(cat found)" | grep '^{' > archive
