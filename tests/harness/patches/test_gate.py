import os
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import MAX_BYTES, MAX_FILES, gate
from tables import read_tables

TABLES = read_tables(__file__)


def diff(path: str, *, old: str = "a", new: str = "b") -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def test_plain_patch_passes_unchanged() -> None:
    text = diff("src/calc.py")
    gated = gate(text)
    assert (gated.text, gated.paths, gated.normalized) == (text, ("src/calc.py",), ())
    assert gated.is_empty is False


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_blank_patch_is_empty(text: str) -> None:
    assert gate(text).is_empty is True


def test_missing_final_newline_is_added_and_recorded() -> None:
    gated = gate(diff("x.py").rstrip("\n"))
    assert gated.text == diff("x.py")
    assert gated.normalized == ("final newline",)


def test_carriage_returns_inside_hunks_are_kept() -> None:
    text = diff("x.py", old="a\r", new="b\r")
    assert gate(text).text == text


@pytest.mark.parametrize("break_at", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_line_ends_at_line_feeds_only(break_at: str) -> None:
    text = diff("x.py", new=f"b{break_at}--- a/../../etc/passwd")
    assert gate(text).paths == ("x.py",)


@pytest.mark.parametrize(("path", "why"), TABLES["paths_outside_the_tree_are_refused"])
@pytest.mark.parametrize(
    "header",
    [
        "--- a/{0}\n+++ a/{0}\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/{0}\t2020-01-01 10:00:00\n+++ a/{0}\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n",
        "diff --git a/y b/z\nrename from {0}\nrename to y\n",
        "diff --git a/y b/z\nrename from y\nrename to {0}\n",
        "diff --git a/y b/z\nrename old y\nrename new {0}\n",
        "diff --git a/y b/z\ncopy from y\ncopy to {0}\n",
    ],
)
def test_paths_outside_the_tree_are_refused(header: str, path: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(diff("x.py") + header.format(path))


@pytest.mark.parametrize("path", ["a/\\056\\056/x", "a/\\056./x"])
def test_paths_are_checked_behind_escapes(path: str) -> None:
    with pytest.raises(MalformedPatchError, match="leaves the tree"):
        gate(f'diff --git "{path}" "{path}"\nold mode 100644\nnew mode 100755\n')


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ('"b/\\377.py"', "not UTF-8"),
        ('"b/x\\000.py"', "names no file"),
        ('"b/"', "names no file"),
        ("b/" + "d/" * 2100 + "x", "at most 4095"),
        ("b/" + "x" * 256, "more than 255 bytes"),
        ("b/" + "ä" * 128, "more than 255 bytes"),
        ("b/" + "d/" * 128 + "x", "129 folders"),
        ("b/.g\u200dit/config", "git's own"),
        ("b/.\u200d./x", "leaves the tree"),
        ("b/\uff0e\uff0e/x", "leaves the tree"),
        ("b/\uff0egit/config", "git's own"),
    ],
)
def test_paths_that_no_tree_has_are_refused(path: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(f"--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+a\n")


def test_created_paths_are_new_files_and_targets_of_moves() -> None:
    new = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n"
    moved = "diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\n"
    assert gate(new + diff("x") + moved).created == ("n", "p")


STRAYS = [
    ("new file mode 120000", "symbolic link"),
    ("new file mode 0120000", "symbolic link"),
    ("new file mode 120000 ", "symbolic link"),
    ("new mode +120777", "symbolic link"),
    ("index 0123abc..4567def 120000", "symbolic link"),
    ("old mode 120000", "symbolic link"),
    ("new file mode 160000", "submodule"),
    ("index 1..2\nGIT binary patch\nliteral 0\nHcmV?d00001\n", "binary"),
    ("index 1..2\nBinary files a/y and b/y differ", "binary"),
    ("index 1..2\nFiles a/y and b/y differ", "binary"),
]


@pytest.mark.parametrize(("line", "why"), STRAYS)
def test_stray_files_are_left_out_and_named(line: str, why: str) -> None:
    stray = f"diff --git a/y b/y\n{line}\n"
    for text in (stray + diff("x.py"), diff("x.py") + stray, diff("a.py") + stray + diff("x.py")):
        gated = gate(text)
        assert (gated.text, gated.strays) == (text.replace(stray, ""), ("y",))
        assert "y" not in (*gated.paths, *gated.created)


@pytest.mark.parametrize(("line", "why"), STRAYS)
@pytest.mark.parametrize("other", ["", diff("y"), diff("y/z"), "diff --git a/y b/z\nrename from y\nrename to z\n"])
def test_stray_files_alone_or_with_others_at_their_path_are_refused(line: str, why: str, other: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(f"diff --git a/y b/y\n{line}\n" + other + (diff("x.py") if other else ""))


def test_binary_data_stay_where_the_fix_has_some_too_and_a_file_without_its_data_never_does() -> None:
    data, differs = (
        f"diff --git a/{name} b/{name}\n{line}\n" for name, (line, _) in zip("yz", STRAYS[7:9], strict=True)
    )
    gated = gate(data + differs.replace("a/y and b/y", "a/z and b/z") + diff("x.py"), allow_binary=True)
    assert (gated.paths, gated.strays) == (("y", "x.py"), ("z",))


@pytest.mark.parametrize("path", ["../y", "/y", ".git/config"])
def test_stray_files_outside_of_the_tree_are_refused(path: str) -> None:
    with pytest.raises(MalformedPatchError):
        gate(f"diff --git a/{path} b/{path}\nnew file mode 120000\n" + diff("x.py"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("deleted file mode  120000", "symbolic link"),
        ("old mode 100644\nnew mode 120000", "symbolic link"),
        ("old mode 120000\nnew mode 100644", "symbolic link"),
        ("rename from y\nrename to w\nindex 1..2 120000", "symbolic link"),
        ("new file mode 040000", "folder"),
        ("new file mode 100664", "only 100644"),
        ("new file mode 106755", "only 100644"),
        ("new file mode 0", "only 100644"),
    ],
)
def test_modes_that_neither_plain_nor_stray_files_have_are_refused(line: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(f"diff --git a/y b/y\n{line}\n" + diff("x.py"))


@pytest.mark.parametrize("mode", ["100644", "100755", "0100644", "100644 ", "000000100755\t", " 100644"])
def test_modes_of_plain_files_pass_in_every_spelling(mode: str) -> None:
    assert gate(f"diff --git a/y b/y\nnew file mode {mode}\n").paths == ("y",)


def test_words_of_headers_in_a_message_are_no_headers() -> None:
    message = "From 1 Mon\nSubject: x\n\nnew file mode 120000\nBinary files differ\nrename to ../x\n---\n x | 2 +-\n\n"
    assert gate(message + diff("x") + "-- \n2.39\n").paths == ("x",)


def test_binary_data_passes_if_the_gold_patch_has_some() -> None:
    text = "diff --git a/y b/y\nindex 1..2 100644\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"
    assert gate(text, allow_binary=True).paths == ("y",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I would change line 3 to `return a + b`.", "not a unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n", "cut off"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\ndiff --git a/y b/y\n", "shorter"),
        (diff("x.py") + "@@ -1 +1 @@\n-a\n", "cut off"),
        (diff("x.py") + "\n@@ -1 +1 @@\n-a\n+b\n", "no file header"),
        (diff("x.py") + "\0", "NUL"),
        (diff("x.py", new="\ud800"), "surrogate"),
        (diff("x.py", new="b" * MAX_BYTES), "bytes"),
        ("".join(diff(f"f{n}") for n in range(2001)), "more than 2000 files"),
    ],
)
def test_unusable_diff_is_refused(text: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(text)


def test_patch_of_exactly_the_limits_passes() -> None:
    spare = 5 * 1024 * 1024 - len(diff("x.py", new=""))
    assert gate(diff("x.py", new="b" * spare)).paths == ("x.py",)
    with pytest.raises(MalformedPatchError, match="at most 5242880"):
        gate(diff("x.py", new="b" * (spare + 1)))
    assert len(gate("".join(diff(f"f{n}") for n in range(2000))).paths) == 2000


@pytest.mark.parametrize("path", ["x" * 255, "ä" * 127, "d/" * 127 + "x", "/".join(["d" * 255] * 15 + ["e" * 255])])
def test_path_of_exactly_the_limits_passes(path: str) -> None:
    assert gate(diff(path)).paths == (path,)


@pytest.mark.parametrize("path", ["..x", "x..", "a/...x", ".github/x", ".gitignore", "git~2", "ab:/x", "c/D:x"])
def test_path_that_only_resembles_a_refused_one_passes(path: str) -> None:
    assert gate(diff(path)).paths == (path,)


def test_header_lines_inside_a_hunk_are_content() -> None:
    text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- ../../a comment of SQL\n+-- another\n kept\n"
    assert gate(text).paths == ("x.sql",)


def test_paths_include_renames_modes_and_new_files() -> None:
    text = (
        "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/e b/e\nnew file mode 100644\n--- /dev/null\n+++ b/e\n@@ -0,0 +1 @@\n+x\n"
    )
    assert gate(text).paths == ("old.py", "new.py", "run.sh", "e")


def test_quoted_names_are_unescaped() -> None:
    text = '--- "a/\\303\\244.py"\n+++ "b/\\303\\244.py"\n@@ -1 +1 @@\n-a\n+b\n'
    assert gate(text).paths == ("ä.py",)


@given(st.text())
def test_any_text_passes_or_is_refused(text: str) -> None:
    try:
        gated = gate(text)
    except MalformedPatchError:
        return
    assert gated.is_empty or gated.text.rstrip("\n") == text.rstrip("\n")


FILL = 1_000_000
HEAD = "diff --git a/x b/x\n"
HUNK = "@@ -1 +1 @@\n-a\n+b\n"


def filled(unit: str) -> str:
    return unit * (FILL // len(unit.encode()))


WORST = {
    "nearly equal names": f"diff --git a/{'x' * (FILL // 2)} b/{'x' * (FILL // 2 - 1)}y\n",
    "equal names": f"diff --git a/{'x' * (FILL // 2 - 9)} b/{'x' * (FILL // 2 - 9)}\nold mode 100644\n",
    "blanks": f"diff --git a/{filled(' ')}\n",
    "blanks and folders": f"diff --git a/{filled(' b/')}\n",
    "words": f"diff --git a/{filled('x ')}b/\n",
    "quotes": f"diff --git a/{filled(chr(34))}\n",
    "escapes": f'diff --git "{filled(chr(92) + "141")}" b\n',
    "headers": filled(HEAD),
    "modes": HEAD + filled("old mode 100644\n"),
    "index lines": filled(HEAD + "index \n"),
    "long header": HEAD + filled("index \n"),
    "digits": f"--- a/x\n+++ b/x\n@@ -1,{filled('9')} +1 @@\n-a\n+b\n",
    "zeros": f"--- a/x\n+++ b/x\n@@ -1,{filled('0')}1 +1 @@\n-a\n+b\n",
    "starts of hunks": f"--- a/x\n+++ b/x\n{filled('@@ -')}\n",
    "pairs": filled("--- a\n+++ b\n"),
    "files": filled(f"--- a/x\n+++ b/x\n{HUNK}"),
    "lines": filled("\n") + "x",
    "long line": filled("x"),
    "slashes": f"--- {filled('/')}\n+++ b/x\n{HUNK}",
    "blanks before a time": f"--- a/x{filled(' ')}2020-01-01 10:00:00\n+++ b/x\n{HUNK}",
    "times": f"--- a/x{filled(' 10:00:00.1')}\n+++ b/x\n{HUNK}",
    "fractions": f"--- a/x 10:00:00.{filled('1')}\n+++ b/x\n{HUNK}",
    "dates": f"--- a/x{filled('20-')}20\n+++ b/x\n{HUNK}",
    "epoch": f"--- a/x\t1970-01-01 00:00:00.{filled('0')}\n+++ b/x\n{HUNK}",
    "combining marks": filled(f"--- a/x\n+++ b/{chr(0x315) * 30}{chr(0x300) * 30}\n{HUNK}"),
    "added lines": f"--- a/x\n+++ b/x\n@@ -0,0 +1,{FILL // 2} @@\n" + "+\n" * (FILL // 2),
    "blank lines": f"--- a/x\n+++ b/x\n@@ -1,{FILL} +1,{FILL} @@\n" + filled("\n"),
    "hunks": "--- a/x\n+++ b/x\n" + filled(HUNK),
    "notes": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n" + filled("\\ No newline at end of file\n") + "+b\n",
    "binary data": f"{HEAD}index 1..2\nGIT binary patch\nliteral 5\n" + filled("A00000\n"),
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in WORST.items()])
def test_time_is_in_proportion_to_the_size_in_every_shape(text: str) -> None:
    began = time.thread_time()
    with suppress(MalformedPatchError):
        gate(text)
    assert time.thread_time() - began < 10, "in the square of the size it would be minutes"


@pytest.mark.parametrize("name", ["x{}", "x"], ids=["other files", "one file"])
def test_a_patch_of_too_many_files_is_refused(name: str) -> None:
    def of(count: int) -> str:
        return "".join(f"--- a/{name.format(i)}\n+++ b/{name.format(i)}\n{HUNK}" for i in range(count))

    assert gate(of(MAX_FILES)).paths
    with pytest.raises(MalformedPatchError, match=f"touches more than {MAX_FILES} files"):
        gate(of(MAX_FILES + 1))


PIECES = ["a/", "b/", "/", " ", "x", '"', "\\", "\t", "\r", "\n", "\n", "0", "9", "@@ -", "diff --git ", "--- ", "+++ "]
PIECES += [
    "index ",
    "..",
    "old mode ",
    "new file mode 100644\n",
    "rename to ",
    "@@ -1 +1 @@\n",
    "-a\n+b\n",
    "\u0300",
    ":00",
]
PIECES += [
    "/dev/null",
    "GIT binary patch\n",
    "literal ",
    "20-20-20",
    " 10:00:00",
    "Binary files ",
    " differ\n",
    HEAD,
    HUNK,
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6), st.lists(st.sampled_from(PIECES), max_size=6))
@settings(deadline=None, max_examples=int(os.environ.get("EXAMPLES", "100")) // 2)
def test_any_repeated_text_is_answered_in_linear_time(repeated: list[str], start: list[str]) -> None:
    unit = "".join(repeated)
    text = "".join(start) + unit * (1_000_000 // len(unit.encode()))
    began = time.process_time()
    with suppress(MalformedPatchError):
        gate(text)
    assert time.process_time() - began < 10
