# Usage: archive.sh CRATE VERSION. Fetches one version of a crate into ./archive, by cargo's own settings.
set -eu

# Creates a package that depends on the crate in the versions $1.
manifest() {
    cat > Cargo.toml <<END
[package]
name = "assay-fetches-a-crate"
version = "0.0.0"
edition = "2018"

[workspace]

[dependencies]
wanted = { package = "$name", version = "$1", default-features = false }
END
}

name=$1 version=$2
mkdir src
: > src/lib.rs
# For cargos that support the index over HTTP but do not use it by default.
export CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse
# Cargo does not choose a yanked version, but accepts one that a lock names.
manifest '*'
cargo generate-lockfile --quiet
sed "/^name = \"$name\"\$/,/^\$/ { s/^version = .*/version = \"$version\"/; /^checksum = /d; }" Cargo.lock > lock
mv lock Cargo.lock
manifest "=$version"
cargo fetch --quiet
find "${CARGO_HOME:-$HOME/.cargo}/registry/cache" -name "$name-$version.crate" -exec ls -t {} + | head -n 1 > found
[ -s found ] || { echo "error: cargo has kept no archive of $name $version" >&2; exit 1; }
cp "$(cat found)" archive
