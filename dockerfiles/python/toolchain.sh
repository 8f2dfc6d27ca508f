# Sets up a CPython that was unpacked into /usr/local, in the new system.
cd /usr/local
version=$(basename lib/python3.*)
# The path under which it was built is in its settings, in its scripts, and in its OpenSSL as the place of certificates.
built=$(sed -n 's/^prefix=[[:space:]]*//p' "lib/$version"/config-*/Makefile)
mkdir -p "$(dirname "$built")" ssl
ln -s /usr/local "$built"
ln -s /etc/ssl/certs/ca-certificates.crt ssl/cert.pem
ln -s /etc/ssl/certs ssl/certs
for library in libpython3.*.so.*; do
    ln -s "../$library" "lib/$library"
    ln -s "../$library" "lib/${library%.so.*}.so"
done
rm -rf libjnipython.so python3.* libs share/man "lib/$version/idlelib" "lib/$version/turtledemo"
# As in the packages of distributions, what other projects use of the interpreter's own tests stays.
find "lib/$version/test" -mindepth 1 -maxdepth 1 ! -name support ! -name __init__.py ! -name libregrtest -exec rm -rf {} +
# Some builds lack modules (sqlite3, lzma, curses, readline). Those of the distribution's same Python fit.
for module in "/usr/lib/$version"/lib-dynload/*.so; do
    [ ! -e "$module" ] || cp -n "$module" "lib/$version/lib-dynload/"
done
ldconfig
python3 -m compileall -qq -j 0 "lib/$version" || true
python3 -c "import bz2, ctypes, curses, hashlib, lzma, readline, sqlite3, ssl, zlib"
