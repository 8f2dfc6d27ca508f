# Fetches one version of a crate, from where cargo is set to fetch from: archive.sh CRATE VERSION writes ./archive.
set -eu
mkdir src
: > src/lib.rs
cat > Cargo.toml <<END
[package]
name = "assay-fetches-a-crate"
version = "0.0.0"
edition = "2018"

[workspace]

[dependencies]
wanted = { package = "$1", version = "*", default-features = false }
END
# For cargos that know the index over HTTP but do not ask it that way by themselves.
export CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse
cargo generate-lockfile --quiet
# Cargo picks no version that was withdrawn, as those with the worst mistakes are; but it takes one that a lock names.
sed "/^name = \"$1\"\$/,/^\$/ { s/^version = .*/version = \"$2\"/; /^checksum = /d; }" Cargo.lock > lock
mv lock Cargo.lock
cargo fetch --quiet
find "${CARGO_HOME:-$HOME/.cargo}/registry/cache" -name "$1-$2.crate" -exec ls -t {} + | head -n 1 > found
[ -s found ] || { echo "error: cargo has kept no archive of $1 $2" >&2; exit 1; }
cp "$(cat found)" archive
