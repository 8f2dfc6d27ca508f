# Resolves /build/*.in over the tree in /testbed into /build/lock.txt.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
. /build/project.sh
export UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never
cd /testbed
# The tag at the end of the project's version is not needed here, and some versions of setuptools add it twice.
[ ! -e setup.cfg ] || sed -i -E '/^tag_(build|date|svn_revision)[[:space:]]*=/d' setup.cfg
xargs -0 /run/uv pip compile --quiet --no-sources --no-header --no-annotate --generate-hashes \
    --python "$(command -v python3)" $(cat /build/bounds) \
    --constraints /build/constraints.in --output-file /build/lock.txt /build/requirements.in < /build/files
