# Installs the lock in /opt/venv, in place of other versions that are there. What source packages are built with is kept
# in /opt/lock, and taken from there again.
export UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy VIRTUAL_ENV=/opt/venv
# uv takes a wheel that it has built before, whatever it was built with, unless its build had other variables.
key=$(cat /build/requirements.txt /build/bounds | sha256sum | cut -c 1-16)
{
    echo '[extra-build-variables]'
    sed -nE 's/^([A-Za-z0-9][A-Za-z0-9._-]*).*/\1 = { ASSAY_ENVIRONMENT = "'"$key"'" }/p' /build/requirements.txt | sort -u
} > /tmp/uv.toml
export UV_CONFIG_FILE=/tmp/uv.toml

# Prints the options by which build requirements are chosen: exactly those of a lock, or those of the day. Where two
# packages need different versions of one, it is the day too.
bounds() {
    locked=/build/locked/build-requirements.txt
    if [ -e "$locked" ]; then
        sed -nE 's/^([A-Za-z0-9][A-Za-z0-9._-]*)==.*/\1/p' "$locked" | sort | uniq -d > /tmp/several
        if [ -s /tmp/several ]; then cat /build/bounds; else echo "--build-constraints $locked"; fi
    else
        cat /build/bounds
    fi
}

[ -e /opt/venv ] || /build/uv venv --quiet --python "$(command -v python3)" /opt/venv
/build/uv pip install --verbose --no-deps $(bounds) --requirements /build/requirements.txt 2> /tmp/uv.log || {
    grep -v -E '^(DEBUG|TRACE) ' /tmp/uv.log
    exit 1
}
grep -v -E '^(DEBUG|TRACE) ' /tmp/uv.log
# Without bytecode, the compiler would warn during tests, and some projects turn warnings into errors. Not by uv, which
# needs Python 3.7 for it. Packages may have files for other Pythons, which do not compile.
/opt/venv/bin/python -m compileall -qq -j 0 /opt/venv/lib > /dev/null 2>&1 || true

# Builds that an earlier try has finished are not in this log.
built=/root/.cache/uv/assay-built-$key
mkdir -p /root/.cache/uv
sed -nE 's/^DEBUG Installing (`.*`) in `.*builds-v[0-9]+.*/\1/p' /tmp/uv.log | tr ',' '\n' | tr -d '` ' >> "$built"
sort -u "$built" | while read -r requirement; do
    echo "$requirement" | /build/uv pip compile --quiet --no-deps --no-header --no-annotate --generate-hashes - 2> /dev/null
done > /opt/lock/build-requirements.txt
[ -s /opt/lock/build-requirements.txt ] || rm /opt/lock/build-requirements.txt
