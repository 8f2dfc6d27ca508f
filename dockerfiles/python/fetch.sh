# Creates /opt/venv from the lock.
export UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy VIRTUAL_ENV=/opt/venv
/build/uv venv --quiet --python "$(command -v python3)" /opt/venv
# Without bytecode, the compiler would warn during tests, and some projects turn warnings into errors.
/build/uv pip install --compile-bytecode --no-deps $(cat /build/bounds) --requirements /build/requirements.txt
