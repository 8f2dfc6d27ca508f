# Creates /opt/venv from the lock.
export UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy VIRTUAL_ENV=/opt/venv
/build/uv venv --quiet --python "$(command -v python3)" /opt/venv
/build/uv pip install --no-deps $(cat /build/bounds) --requirements /build/requirements.txt
# Without bytecode, the compiler would warn during tests, and some projects turn warnings into errors. Not by uv, which
# needs Python 3.7 for it. Packages may have files for other Pythons, which do not compile.
/opt/venv/bin/python -m compileall -qq -j 0 /opt/venv/lib > /dev/null 2>&1 || true
