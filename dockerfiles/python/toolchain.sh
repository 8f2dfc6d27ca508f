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
# Some projects cannot be imported without bz2; this is what its C module offers, over the C library.
[ -e "$(find "lib/$version/lib-dynload" -name '_bz2.*.so')" ] || cat > "lib/$version/_bz2.py" <<'EOF'
from ctypes import CDLL, Structure, byref, c_uint, c_void_p, cast, create_string_buffer
from threading import Lock

_OK, _RUN_OK, _FLUSH_OK, _FINISH_OK, _STREAM_END = range(5)
_RUN, _FLUSH, _FINISH = range(3)
_CHUNK = 1 << 16
_library = CDLL("libbz2.so.1.0")


class _Stream(Structure):
    _fields_ = [
        ("next_in", c_void_p), ("avail_in", c_uint), ("in_low", c_uint), ("in_high", c_uint),
        ("next_out", c_void_p), ("avail_out", c_uint), ("out_low", c_uint), ("out_high", c_uint),
        ("state", c_void_p), ("alloc", c_void_p), ("free", c_void_p), ("opaque", c_void_p),
    ]


def _check(code):
    if code < 0:
        raise {-3: MemoryError, -9: RuntimeError}.get(code, OSError)("Invalid data stream")
    return code


class BZ2Compressor:
    def __init__(self, compresslevel=9):
        if not 1 <= compresslevel <= 9:
            raise ValueError("compresslevel must be between 1 and 9")
        self._stream, self._lock, self._done = _Stream(), Lock(), False
        _check(_library.BZ2_bzCompressInit(byref(self._stream), compresslevel, 0, 0))

    def __del__(self):
        _library.BZ2_bzCompressEnd(byref(self._stream))

    def __getstate__(self):
        raise TypeError("cannot serialize '%s' object" % type(self).__name__)

    def compress(self, data):
        return self._run(bytes(data), _RUN)

    def flush(self):
        found = self._run(b"", _FINISH)
        self._done = True
        return found

    def _run(self, data, action):
        with self._lock:
            if self._done:
                raise ValueError("Compressor has been flushed")
            held, out, found = create_string_buffer(data, len(data) or 1), create_string_buffer(_CHUNK), []
            stream = self._stream
            stream.next_in, stream.avail_in = cast(held, c_void_p), len(data)
            while True:
                stream.next_out, stream.avail_out = cast(out, c_void_p), _CHUNK
                code = _check(_library.BZ2_bzCompress(byref(stream), action)) if data or action else _RUN_OK
                found.append(out.raw[: _CHUNK - stream.avail_out])
                if code == _STREAM_END or (action == _RUN and not stream.avail_in):
                    return b"".join(found)


class BZ2Decompressor:
    def __init__(self):
        self._stream, self._lock, self._input = _Stream(), Lock(), b""
        self.eof, self.needs_input, self.unused_data = False, True, b""
        _check(_library.BZ2_bzDecompressInit(byref(self._stream), 0, 0))

    def __del__(self):
        _library.BZ2_bzDecompressEnd(byref(self._stream))

    def __getstate__(self):
        raise TypeError("cannot serialize '%s' object" % type(self).__name__)

    def decompress(self, data, max_length=-1):
        with self._lock:
            if self.eof:
                raise EOFError("End of stream already reached")
            given, left, found = self._input + bytes(data), max_length, []
            held, stream = create_string_buffer(given, len(given) or 1), self._stream
            stream.next_in, stream.avail_in = cast(held, c_void_p), len(given)
            while left and not self.eof:
                size = min(left, _CHUNK) if left > 0 else _CHUNK
                out = create_string_buffer(size)
                stream.next_out, stream.avail_out = cast(out, c_void_p), size
                self.eof = _check(_library.BZ2_bzDecompress(byref(stream))) == _STREAM_END
                found.append(out.raw[: size - stream.avail_out])
                left -= len(found[-1]) if left > 0 else 0
                if stream.avail_out and not stream.avail_in:
                    break
            self._input = given[len(given) - stream.avail_in :]
            if self.eof:
                self.unused_data, self._input = self._input, b""
            self.needs_input = not self.eof and not (max_length >= 0 and not left)
            return b"".join(found)
EOF
ldconfig
python3 -m compileall -qq -j 0 "lib/$version" || true
python3 -c "import bz2, ctypes, hashlib, ssl, zlib"
