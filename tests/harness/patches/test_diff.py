"""The reader of unified diffs: what it reads and renders, and where it knows better than unidiff."""

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.patches.diff import (
    MalformedPatchError,
    apply_change,
    drop_binary_hunks,
    find_added_paths,
    find_touched_paths,
    leave_out,
    paths_after,
    read_diff,
    render,
    unescape,
)
from corpus.model import diff
from tables import read_tables
from toy import GOLD, TESTS

TEXTS = read_tables(__file__)

PLAIN = """\
--- a/one.txt
+++ b/one.txt
@@ -1 +1,2 @@
 one
+two
--- a/three.txt
+++ b/three.txt
@@ -2,0 +3 @@
+three
"""
MANY_KINDS = TEXTS["many_kinds"]


SEVERAL_HUNKS = """\
--- a/one.txt
+++ b/one.txt
@@ -1 +1,3 @@
 one
+two
+three
@@ -9 +10,0 @@
-nine
@@ -20 +21 @@
-twenty
+more
"""


@pytest.mark.parametrize("text", ["", GOLD, PLAIN, MANY_KINDS, SEVERAL_HUNKS])
def test_diff_read_and_rendered_is_the_same_text(text: str) -> None:
    assert render(read_diff(text)) == text


def test_empty_context_line_is_rendered_with_its_blank() -> None:
    assert render(read_diff(TESTS)) == TESTS.replace("\n\n def test_same", "\n \n def test_same")


def test_files_that_are_left_out_are_nowhere_in_a_diff() -> None:
    renamed = "diff --git a/d.py b/e.py\nsimilarity index 90%\nrename from d.py\nrename to e.py\n"
    parts = [diff({}, {"a.py": "x = 1\n"}), diff({"b.py": "diff --git a/a.py b/a.py\n"}, {"b.py": "y\n"}), renamed]
    parts.append(diff({}, {"f.sh": "true\n"}).replace("100644", "100755"))
    text = "".join(parts)
    assert leave_out(text, ()) == text
    assert leave_out(text, {"a.py", "e.py"}) == "".join(parts[1:])
    assert leave_out(text, {"a.py", "b.py", "f.sh"}) == "".join(parts[2:])


def test_path_is_the_new_name_or_that_of_a_removed_file() -> None:
    assert [each.path for each in read_diff(MANY_KINDS)] == ["new.py", "old.py", "to.py", "odd.txt"]
    assert [each.base_path for each in read_diff(MANY_KINDS)] == ["new.py", "old.py", "from.py", "odd.txt"]
    assert [len(each.hunks) for each in read_diff(MANY_KINDS)] == [1, 1, 0, 1]
    assert list(read_diff(MANY_KINDS)[0].added()) == ["a = 1", "b = 2"]


LINES = st.lists(st.sampled_from(["a", "b", "- c", "+ d", "", "@@", "\\"]), max_size=30)


@given(LINES, LINES)
def test_any_plain_diff_read_and_rendered_is_the_same_text(old: list[str], new: list[str]) -> None:
    found = difflib.unified_diff(old, new, "a/x.txt", "b/x.txt", n=1, lineterm="")
    text = "".join(f"{line}\n" for line in found)
    (change,) = read_diff(text) or (None,)
    assert render(read_diff(text)) == text
    if change is not None:
        assert [line for hunk in change.hunks for line in hunk.added()] == [
            line[1:] for line in text.split("\n")[2:] if line.startswith("+")
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOLD.removesuffix("+    return a + b\n"), "shorter than expected"),
        ("@@ -1 +1 @@\n-a\n+b\n", "Unexpected hunk"),
        (GOLD.replace(" def add(a, b):", "def add(a, b):"), "Hunk diff line expected"),
    ],
)
def test_broken_diff_is_malformed(text: str, message: str) -> None:
    with pytest.raises(MalformedPatchError, match=message):
        read_diff(text)


CHANGED, MADE, REMOVED = ("@@ -1 +1 @@", "-x", "+y"), ("@@ -0,0 +1 @@", "+y"), ("@@ -1 +0,0 @@", "-x")
QUOTED = r'"{}/caf\303\251.py"'


def text_of(*lines: str, end: str = "\n") -> str:
    return "".join(f"{line}{end}" for line in lines)


@pytest.mark.parametrize(
    ("text", "old", "new", "by_unidiff"),
    [
        pytest.param(
            text_of(
                f"diff --git {QUOTED.format('a')} {QUOTED.format('b')}",
                *(f"--- {QUOTED.format('a')}", f"+++ {QUOTED.format('b')}", *CHANGED),
            ),
            *("café.py", "café.py"),
            [(QUOTED.format("a"), QUOTED.format("b"))],
            id="unidiff keeps quotes and escapes",
        ),
        pytest.param(
            text_of("diff --git a/n.py b/n.py", "--- /dev/null", "+++ b/n.py", *MADE),
            *(None, "n.py"),
            [("a/n.py", "b/n.py")],
            id="unidiff overlooks a new file without its mode line",
        ),
        pytest.param(
            text_of(
                "diff --git a/n.py b/n.py", "new file mode 100644", "--- /dev/null", "+++ b/n.py", *MADE, end="\r\n"
            ),
            *(None, "n.py"),
            [("a/n.py", "b/n.py\r")],
            id="unidiff overlooks a new file with carriage returns, and keeps one in the name",
        ),
        pytest.param(
            text_of("diff --git a/x b/y b/x b/y", "--- a/x b/y\t", "+++ b/x b/y\t", *CHANGED),
            *("x b/y", "x b/y"),
            None,
            id="unidiff refuses a path with b/ after a blank",
        ),
        pytest.param(
            text_of("diff --git a/x.py b/x.py", *CHANGED), *("x.py", "x.py"), [("a/x.py", "b/x.py")], id="no names"
        ),
        pytest.param(
            text_of("diff --git a/1.py b/2.py", "similarity index 100%", "rename from 1.py", "rename to 2.py"),
            *("1.py", "2.py"),
            [("a/1.py", "b/2.py")],
            id="rename",
        ),
        pytest.param(
            text_of("diff --git a/run b/run", "old mode 100644", "new mode 100755"),
            *("run", "run"),
            [("a/run", "b/run")],
            id="mode",
        ),
        pytest.param(
            text_of("diff --git a/o b/o", "deleted file mode 100644", "--- a/o", "+++ /dev/null", *REMOVED),
            *("o", None),
            [("a/o", "/dev/null")],
            id="removed file",
        ),
        pytest.param(
            text_of("--- o\t2020-01-01", "+++ o\t2020-01-02", *CHANGED),
            *("o", "o"),
            [("o", "o")],
            id="plain, with times",
        ),
    ],
)
def test_names_are_those_that_git_reads(
    text: str, old: str | None, new: str | None, by_unidiff: list[tuple[str, str]] | None
) -> None:
    (change,) = read_diff(text)
    assert (change.old, change.new) == (old, new)
    assert find_touched_paths(text) == tuple(dict.fromkeys(path for path in (old, new) if path))
    assert find_added_paths(text) == ((new,) if old is None else ())
    assert files_by_unidiff(text) == by_unidiff


def files_by_unidiff(text: str) -> list[tuple[str, str]] | None:
    """Return source and target of each file as unidiff names them; None where it refuses the diff."""
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        return [(file.source_file, file.target_file) for file in PatchSet(text)]
    except UnidiffParseError:
        return None


@pytest.mark.parametrize(
    ("name", "path"),
    [('"', '"'), ('""', ""), ('"x"', "x"), ('"x', '"x'), ('x"', 'x"'), ('!"', '!"'), ("!a!", "!a!"), ("xax", "xax")],
)
def test_name_in_quotes_is_read_without_them(name: str, path: str) -> None:
    (change,) = read_diff(f"diff --git a/x b/y\nrename from {name}\nrename to y\n")
    assert change.old == path


@pytest.mark.parametrize("line", ["diff --git ", "diff --git a/", "diff --git a/ b", 'diff --git "a/" "b/'])
def test_line_that_is_too_short_for_two_names_has_none(line: str) -> None:
    assert read_diff(f"{line}\nold mode 100644\n") == ()


def test_added_paths_are_those_of_new_files() -> None:
    def new(path: str, body: str = "") -> str:
        return f"diff --git {path.format('a')} {path.format('b')}\nnew file mode 100644\n{body}"

    content = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+new file mode 100644\n"
    text = GOLD + new("{}/new.py", content) + new("{}/empty one") + new('"{}/\\303\\244.py"')
    assert find_added_paths(text) == ("new.py", "empty one", "ä.py")
    assert find_added_paths(GOLD) == ()


def test_missing_line_feed_in_another_language_is_a_marker() -> None:
    marker = "\\ Kein Zeilenumbruch am Dateiende."
    text = text_of("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-x", marker, "+y", marker, "@@ -9 +9 @@", "-x", "+y")
    assert files_by_unidiff(text) is None
    (change,) = read_diff(text)
    assert [[line.mark for line in hunk.lines] for hunk in change.hunks] == [["-", "\\", "+", "\\"], ["-", "+"]]


def test_carriage_returns_within_hunks_are_kept() -> None:
    text = "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@ f()\r\n-x\r\n+y\r\n\r\n"
    (change,) = read_diff(text)
    assert change.path == "x"
    assert change.hunks[0].section == "f()"
    assert [(line.mark, line.text) for line in change.hunks[0].lines] == [("-", "x\r"), ("+", "y\r"), (" ", "\r")]


def test_letter_and_blank_lines_around_are_no_part_of_the_diff() -> None:
    letter = f"From 1234 Mon Sep 17 00:00:00 2001\nSubject: fix\n\n---\n calc.py | 2 +-\n\n{GOLD}-- \n2.39.2\n\n"
    assert [change.hunks for change in read_diff(letter)] == [change.hunks for change in read_diff(GOLD)]
    assert [change.hunks for change in read_diff(f"{GOLD}\n\n")] == [change.hunks for change in read_diff(GOLD)]


def test_text_without_a_diff_changes_nothing() -> None:
    assert read_diff("") == read_diff("some words\n") == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [(r"caf\303\251", "café"), (r"a\tb\\c\"d", 'a\tb\\c"d'), ("é", "é"), (r"é\t", "é\t"), (r"\q", r"\q")],
)
def test_unescaped_path(text: str, path: str) -> None:
    assert unescape(text) == path


TEXTS = st.lists(st.sampled_from(["a", "b", " c", "-- d", "++ e", "@@ -1 +1 @@", "g\r", "h\f", "\\ x", ""]), max_size=9)
CONTENTS = st.tuples(TEXTS, st.booleans()).map(lambda drawn: "\n".join(drawn[0]) + "\n" * (drawn[1] and bool(drawn[0])))
PATHS = st.sampled_from(["a.py", "b c.txt", "x b/y", "é.md", 'q".c', "t\tab", "back\\slash"])
TREES = st.dictionaries(PATHS, CONTENTS, max_size=3)


@settings(max_examples=15)
@given(old=TREES, new=TREES)
def test_diff_of_git_is_read_as_git_wrote_it(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, str], new: dict[str, str]
) -> None:
    text = diff_of_trees(tmp_path_factory.mktemp("repo"), old, new)
    changes = read_diff(text)
    assert render(changes) == text
    assert {change.path for change in changes} == {path for path in {*old, *new} if old.get(path) != new.get(path)}
    for change in changes:
        before, after = old.get(change.path), new.get(change.path)
        assert (change.old is None, change.new is None) == (before is None, after is None)
        assert sum(len(list(hunk.new())) - len(list(hunk.old())) for hunk in change.hunks) == lines(after) - lines(
            before
        )
        added = list(change.added())
        assert added == [line for line in added if line in (after or "").split("\n")]


def lines(text: str | None) -> int:
    return len((text or "").removesuffix("\n").split("\n")) if text else 0


def git(repo: Path, *args: str, text: str = "") -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    done = subprocess.run(["git", *who, *args], cwd=repo, capture_output=True, check=True, input=text.encode())
    return done.stdout.decode()


def diff_of_trees(repo: Path, *trees: dict[str, str]) -> str:
    """Return what git writes of two trees."""

    git(repo, "init", "--quiet")
    names = []
    for files in trees:
        for path, text in files.items():
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            (repo / path).write_bytes(text.encode())
        git(repo, "add", "--all")
        names.append(git(repo, "write-tree").strip())
        git(repo, "rm", "-r", "--quiet", "--force", "--ignore-unmatch", ".")
    return git(repo, "diff", "--no-renames", "--text", *names)


def test_without_binary_hunks_the_rest_applies(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.png").write_bytes(b"\0old")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "x")
    (tmp_path / "a.txt").write_text("Binary files a/x and b/x differ\ndiff --git a/y b/y\ntwo\n")
    (tmp_path / "b.png").write_bytes(b"\0new")
    (tmp_path / "c.png").write_bytes(b"\0made")
    git(tmp_path, "add", "--all")
    patch = git(tmp_path, "diff", "--cached")
    assert patch.count("Binary files ") == 3
    git(tmp_path, "reset", "--quiet", "--hard")
    git(tmp_path, "apply", "-", text=drop_binary_hunks(patch))
    assert git(tmp_path, "status", "--short") == " M a.txt\n"
    assert (tmp_path / "a.txt").read_text().startswith("Binary files")


def test_patch_with_binary_content_stays_as_it_is() -> None:
    patch = "diff --git a/x b/x\nGIT binary patch\nliteral 0\nHc$@<O00001\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b"
    assert drop_binary_hunks(patch) == patch
    assert drop_binary_hunks("") == ""


OLD = "a\nb\nc\nd\ne\nf\ng\nh\n"


@pytest.mark.parametrize(
    "new",
    [
        "a\nB\nc\nd\ne\nf\ng\nh\n",
        "first\na\nb\nc\nd\ne\nf\ng\nh\nlast\n",
        "a\nc\nd\ne\nf\ng\ni\nh\n",
        "a\nb\nc\nd\ne\nf\ng\nH\n",
        "other\n",
    ],
)
def test_a_file_after_a_change_of_it(new: str) -> None:
    (change,) = read_diff(diff({"a.txt": OLD}, {"a.txt": new}))
    assert apply_change(OLD, change) == new


def test_a_file_that_a_change_adds_or_removes() -> None:
    (added,), (removed,) = read_diff(diff({}, {"a.txt": OLD})), read_diff(diff({"a.txt": OLD}, {}))
    assert apply_change("", added) == OLD
    assert apply_change(OLD, removed) is None


def test_a_change_of_another_text_does_not_fit() -> None:
    (change,) = read_diff(diff({"a.txt": OLD}, {"a.txt": "b\n"}))
    for other in ("A\n", "other\n", ""):
        with pytest.raises(MalformedPatchError, match="does not fit line 1"):
            apply_change(other, change)


def test_paths_after_a_diff_are_those_of_files_that_are_there() -> None:
    both = diff({"gone.txt": "a\n", "kept.txt": "a\n"}, {"kept.txt": "b\n", "new.txt": "c\n"})
    moved = "diff --git a/old.txt b/moved.txt\nsimilarity index 100%\nrename from old.txt\nrename to moved.txt\n"
    assert paths_after(both + moved) == ("kept.txt", "new.txt", "moved.txt")
