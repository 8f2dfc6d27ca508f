"""Patches that are too large or too odd to be written down."""

import base64
import importlib.util
import zlib
from collections.abc import Callable

from assay.harness.domain import Instance

Generator = Callable[[Instance], str]


def without_final_newline(instance: Instance) -> str:
    return instance.gold_patch.rstrip("\n")


def lone_surrogate(_instance: Instance) -> str:
    return _new_file("x.py", "x = '\ud800'")


def nul_byte(_instance: Instance) -> str:
    return _new_file("x.py", "x = '\0'")


def fifty_megabytes(_instance: Instance) -> str:
    lines = 50 * 1024 * 1024 // 64
    return _header("x.py") + f"@@ -0,0 +1,{lines} @@\n" + ("+" + "#" * 62 + "\n") * lines


def ten_thousand_files(_instance: Instance) -> str:
    return "".join(_new_file(f"many/x{number}.py", "x = 1") for number in range(10_000))


def planted_bytecode(_instance: Instance) -> str:
    """Unchecked bytecode of a module without tests that fail, named as pytest names its own."""
    import marshal

    code = compile("def test_add(): pass", "tests/test_calc.py", "exec")
    content = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
    path = "tests/__pycache__/test_calc.cpython-311-pytest-7.3.1.pyc"
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{'1' * 40}\nGIT binary patch\n"
        f"literal {len(content)}\n{_base85(zlib.compress(content))}\nliteral 0\nHcmV?d00001\n\n"
    )


GENERATORS: dict[str, Generator] = {
    each.__name__: each
    for each in (
        without_final_newline,
        lone_surrogate,
        nul_byte,
        fifty_megabytes,
        ten_thousand_files,
        planted_bytecode,
    )
}


def _new_file(path: str, line: str) -> str:
    return f"{_header(path)}@@ -0,0 +1 @@\n+{line}\n"


def _header(path: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"


def _base85(data: bytes) -> str:
    """Write data as git does: lines of up to 52 bytes, each after a letter that tells their number."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    rows = [data[start : start + 52] for start in range(0, len(data), 52)]
    return "".join(f"{letters[len(row) - 1]}{base64.b85encode(row, pad=True).decode()}\n" for row in rows)
