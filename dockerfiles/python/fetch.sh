# Creates /opt/venv from the lock.
export UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy VIRTUAL_ENV=/opt/venv
/build/uv venv --quiet --python "$(command -v python3)" /opt/venv
# Without bytecode, warnings of the compiler would fall into the tests of projects that turn warnings into errors.
/build/uv pip install --compile-bytecode --no-deps $(cat /build/bounds) --requirements /build/requirements.txt
