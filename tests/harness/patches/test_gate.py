import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import MAX_BYTES, gate


def diff(path: str, *, old: str = "a", new: str = "b") -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def test_plain_patch_passes_unchanged() -> None:
    text = diff("src/calc.py")
    gated = gate(text)
    assert (gated.text, gated.paths, gated.normalized) == (text, ("src/calc.py",), ())


@pytest.mark.parametrize("text", ["", "\n", "  \n\n"])
def test_blank_patch_is_empty(text: str) -> None:
    assert gate(text).is_empty


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


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../x", "leaves the tree"),
        ("src/../../x", "leaves the tree"),
        ("/etc/passwd", "absolute"),
        (".git/hooks/pre-commit", "git's own"),
        (".GIT/config", "git's own"),
        ("sub/.Git/config", "git's own"),
        ("git~1/config", "git's own"),
        (".git\u200c/config", "git's own"),
        (".git./config", "git's own"),
        ("..\\x", "leaves the tree"),
        ("C:/x", "absolute"),
    ],
)
@pytest.mark.parametrize("header", ["--- {}", "+++ {}", "rename from {}", "rename to {}", "copy to {}", "--- {}\tdate"])
def test_paths_outside_the_tree_are_refused(header: str, path: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(diff("x.py") + header.format(path) + "\n")


@pytest.mark.parametrize(
    "line", ["diff --git a/../x b/../x", 'diff --git "a/\\056\\056/x" "b/\\056\\056/x"', '--- "a/\\056./x"']
)
def test_paths_are_checked_in_git_headers_and_behind_escapes(line: str) -> None:
    with pytest.raises(MalformedPatchError, match="leaves the tree"):
        gate(diff("x.py") + line + "\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("new file mode 120000", "symbolic link"),
        ("new mode 120000", "symbolic link"),
        ("index 0123abc..4567def 120000", "symbolic link"),
        ("new file mode 160000", "submodule"),
        ("GIT binary patch", "binary"),
        ("Binary files a/x and b/x differ", "binary"),
    ],
)
def test_link_submodule_or_binary_data_is_refused(line: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(f"diff --git a/y b/y\n{line}\n" + diff("x.py"))


def test_binary_data_passes_if_the_gold_patch_has_some() -> None:
    text = "diff --git a/y b/y\nindex 1..2 100644\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"
    assert gate(text, allow_binary=True).paths == ("y",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I would change line 3 to `return a + b`.", "not a unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n", "cut off"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\ndiff --git a/y b/y\n", "shorter"),
        (diff("x.py") + "\0", "NUL"),
        (diff("x.py", new="\ud800"), "surrogate"),
        (diff("x.py", new="b" * MAX_BYTES), "bytes"),
        ("".join(diff(f"f{n}") for n in range(2001)), "2001 files"),
    ],
)
def test_unusable_diff_is_refused(text: str, why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        gate(text)


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


@pytest.mark.parametrize("header", ["--- ", "+++ ", "rename to "])
def test_text_after_a_quoted_path_is_refused(header: str) -> None:
    with pytest.raises(MalformedPatchError, match="followed by something"):
        gate(diff("x.py") + f'{header}"b/conftest.py" \n')


def test_hunk_header_with_other_digits_is_refused() -> None:
    text = "--- a/x\n+++ b/x\n@@ -\u0661 +\u0661 @@\n-a\n+b\n--- a/../y\n"
    with pytest.raises(MalformedPatchError, match="leaves the tree"):
        gate(text)
