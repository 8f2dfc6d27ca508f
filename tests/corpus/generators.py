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


def modes_in_odd_spellings(instance: Instance) -> str:
    more = _new_file("NOTES.txt", "x").replace("mode 100644", "mode 0100644 ")
    return more + "diff --git a/README.txt b/README.txt\nold mode 100644\nnew mode  000100755\n" + instance.gold_patch


def message_like_headers(instance: Instance) -> str:
    """The fix as a mail, whose text looks like headers."""
    head = "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] fix\n\n"
    words = "new file mode 120000\nBinary files are not touched.\nrename to ../x\nindex 1..2 160000\n--- a word\n"
    return f"{head}{words}\n---\n src/calc/__init__.py | 2 +-\n\n{instance.gold_patch}-- \n2.39.5\n\n"


def fix_among_strays(instance: Instance) -> str:
    """The fix, a new link, a submodule, a binary file without its data, and planted bytecode."""
    new = "diff --git a/{0} b/{0}\nnew file mode {1}\nindex 0000000..0123456\n{2}\n"
    text = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{1}"
    link = new.format("latest", "120000", text.format("latest", "/etc/passwd\n\\ No newline at end of file"))
    module = new.format("vendored", "160000", text.format("vendored", "Subproject commit " + "0" * 40))
    picture = new.format("plot.png", "100644", "Binary files /dev/null and b/plot.png differ")
    return link + picture + planted_bytecode(instance) + instance.gold_patch + module


def link_removed(instance: Instance) -> str:
    gone = "diff --git a/link b/link\ndeleted file mode 120000\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-/tmp\n"
    return f"{gone}\\ No newline at end of file\n{instance.gold_patch}"


def link_moved_without_a_mode(instance: Instance) -> str:
    return f"diff --git a/link b/moved\nsimilarity index 100%\nrename from link\nrename to moved\n{instance.gold_patch}"


def link_copied_to_a_protected_name(instance: Instance) -> str:
    head = "diff --git a/link b/conftest.py\nsimilarity index 100%\n"
    return f"{head}copy from link\ncopy to conftest.py\n{instance.gold_patch}"


def file_moved_and_copied(instance: Instance) -> str:
    head = "diff --git a/README.txt b/docs/README.txt\nsimilarity index 100%\n"
    return f"{head}rename old README.txt\nrename new docs/README.txt\n{instance.gold_patch}"


def folder_in_place_of_a_fixture(instance: Instance) -> str:
    gone = "--- a/tests/data/sums.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1 2 3\n-2 2 4\n"
    return gone + _new_file("tests/data/sums.txt/sums.txt", "1 2 3") + instance.gold_patch


def long_paths(_instance: Instance) -> str:
    """As many and as long as the gate lets through."""
    folder = "/".join(["d" * 120] * 18)
    return "".join(_new_file(f"{folder}/{number}.txt", "x") for number in range(1100))


def long_protected_paths(_instance: Instance) -> str:
    """All of them are put back: more than fits into the arguments of a program."""
    return long_paths(_instance).replace(".txt", "_test.py")


def fix_with_long_paths(instance: Instance) -> str:
    folder = "docs/" + "/".join(["d" * 60] * 8)
    return instance.gold_patch + "".join(_new_file(f"{folder}/{number}.txt", "x") for number in range(1900))


GENERATORS: dict[str, Generator] = {
    each.__name__: each
    for each in (
        without_final_newline,
        lone_surrogate,
        nul_byte,
        fifty_megabytes,
        ten_thousand_files,
        planted_bytecode,
        modes_in_odd_spellings,
        message_like_headers,
        fix_among_strays,
        link_removed,
        link_moved_without_a_mode,
        link_copied_to_a_protected_name,
        file_moved_and_copied,
        folder_in_place_of_a_fixture,
        long_paths,
        long_protected_paths,
        fix_with_long_paths,
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
