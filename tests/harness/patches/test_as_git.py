import pytest

from assay.harness.patches.as_git import GitFile, read_as_git
from assay.harness.patches.diff import MalformedPatchError


def read(*lines: str) -> list[GitFile]:
    return list(read_as_git("".join(f"{line}\n" for line in lines).encode()))


def only(*lines: str) -> GitFile:
    (file,) = read(*lines)
    return file


FILE = ("--- a/x", "+++ b/x")
HUNK = ("@@ -1 +1 @@", "-a", "+b")
NEW = ("@@ -0,0 +1 @@", "+b")
GONE = ("@@ -1 +0,0 @@", "-a")


def test_plain_diff_has_one_name() -> None:
    assert only("--- a/x.py", "+++ b/x.py", *HUNK).names == (b"x.py",)


def test_diff_without_folders_is_read_as_git_guesses() -> None:
    assert [file.names for file in read("--- x", "+++ x", *HUNK, "--- a/y", "+++ a/y", *HUNK)] == [(b"x",), (b"a/y",)]


@pytest.mark.parametrize("word", ["from", "old"])
@pytest.mark.parametrize("target", ["to", "new"])
def test_both_spellings_of_a_rename_are_read(word: str, target: str) -> None:
    file = only("diff --git a/x b/y", f"rename {word} x", f"rename {target} conftest.py")
    assert (file.names, file.is_moved) == ((b"x", b"conftest.py"), True)


@pytest.mark.parametrize("end", ["\r", "\rjunk"])
def test_name_ends_at_a_carriage_return(end: str) -> None:
    assert only("diff --git a/x b/y", "rename from x", f"rename to y{end}").new == b"y"


@pytest.mark.parametrize(
    ("hunks", "is_new", "is_deleted"),
    [
        (HUNK, False, False),
        (NEW, None, False),
        (GONE, False, None),
        ((*NEW, "@@ -0,0 +3 @@", "+c"), False, False),
        ((*GONE, "@@ -3 +0,0 @@", "-c"), False, False),
        ((*NEW, *HUNK), False, False),
    ],
)
def test_hunks_alone_say_whether_a_file_can_be_new_or_deleted(
    hunks: tuple[str, ...], is_new: bool | None, is_deleted: bool | None
) -> None:
    file = only("--- a/x", "+++ b/x", *hunks)
    assert (file.is_new, file.is_deleted) == (is_new, is_deleted)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (("diff --git a/x b/x", "new file mode 100644"), (True, False, False, None, b"x")),
        (("diff --git a/x b/x", "deleted file mode 100644"), (False, True, False, b"x", None)),
        (("diff --git a/x b/y", "rename from x", "rename to y"), (False, False, True, b"x", b"y")),
        (("diff --git a/x b/x", "old mode 100644"), (False, False, False, b"x", b"x")),
        (("--- /dev/null", "+++ b/x", *NEW), (True, False, False, None, b"x")),
        (("--- a/x", "+++ /dev/null", *GONE), (False, True, False, b"x", None)),
        (("--- a/x\t1970-01-01 00:00:00 +0000", "+++ b/x", *NEW), (True, False, False, None, b"x")),
        (("--- a/x", "+++ b/x\t1970-01-01 00:00:00 +0000", *GONE), (False, True, False, b"x", None)),
    ],
)
def test_headers_say_what_becomes_of_a_file(lines: tuple[str, ...], kind: tuple[object, ...]) -> None:
    file = only(*lines)
    assert (file.is_new, file.is_deleted, file.is_moved, file.old, file.new) == kind


def test_lines_behind_the_header_are_content_of_nothing() -> None:
    assert read("--- a/x", "+++ b/x", *HUNK, "rename to ../y", "new file mode 120000")[0].modes == []


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("100644", 0o100644),
        ("0100755", 0o100755),
        (" 120000", 0o120000),
        ("+160000 x", 0o160000),
        ("120000\r", 0o120000),
    ],
)
@pytest.mark.parametrize("word", ["new file mode", "deleted file mode", "old mode", "new mode", "index 1..2"])
def test_modes_are_read_in_every_spelling(word: str, text: str, mode: int) -> None:
    assert only("diff --git a/x b/x", f"{word} {text}").modes == [mode]


@pytest.mark.parametrize("text", ["", " ", "x", "100644x", "-1", "8"])
def test_odd_mode_is_refused(text: str) -> None:
    with pytest.raises(MalformedPatchError, match="odd file mode"):
        read("diff --git a/x b/x", f"new file mode {text}", "120000")


def test_index_line_without_numbers_is_left_alone() -> None:
    assert only("diff --git a/x b/x", "index abc", "--- a/x", "+++ b/x", *HUNK).modes == []


@pytest.mark.parametrize("line", ['--- "a/x', '--- "a/\\9"', '--- "a/x" y', 'rename to "x" y'])
def test_odd_quotes_are_refused(line: str) -> None:
    with pytest.raises(MalformedPatchError, match="quoted path"):
        read("diff --git a/x b/x", line, '"', "+++ b/x", *HUNK)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["@@ -1 +1 @@", "-a", "+b", "x"], "no file header"),
        (["--- a/x", "+++ b/x", "@@ -1,2 +1 @@", "-a"], "cut off"),
        (["--- a/x", "+++ b/x", "@@ -1,2 +1 @@", "-a", "+b"], "cut off"),
        (["--- a/x", "+++ b/x", "@@ -1,2 +1 @@", "-a", "+b", "diff"], "shorter"),
        (["--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "-a", "+b", "diff"], "shorter"),
        (["--- a/x", "+++ b/x", "@@ -1 +1 @@", " a"], "changes nothing"),
        (["--- a/x", "+++ b/x", "@@ -0,0 +1,2 @@", " a", "+b"], "longer"),
        (["--- a/x", "+++ b/x", f"@@ -1,{'9' * 5000} +1 @@", "-a"], "cut off"),
        (["--- a/x", "+++ b/x", "@@ -1 @@"], "^line 3: a broken hunk header"),
        (["diff --git a/x b/x", "", "diff --git a/y b/y", "--- a/y", "+++ b/y", *HUNK], "different files"),
        ([*FILE, "@@ -1 +1 @@", "-a", "\\ 34567890", "+b", "@@ -9 +9 @@", "-a", "+b"], "shorter"),  # a note is longer
        ([*FILE, "@@ -1 +1 @@", "-a", "+b", "\\ 345678901", "@@ -9 +9 @@", "-a", "+b"], "no file header"),
        (["diff --git a/x b/y", "old mode 100644"], "names no file"),
        (['diff --git a/x "b/y"', "old mode 100644"], "names no file"),
        (['diff --git a/xz "b/x"', "old mode 100644"], "names no file"),
        (['diff --git a/x"b/x"', "old mode 100644"], "names no file"),
        (['diff --git a/"x b/"x', "old mode 100644"], "names no file"),
        (["--- x", "+++ x", *HUNK, r'diff --git "\n"', "old mode 100644"], "names no file"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 5", "A000000", ""], "broken binary"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 5", "A000000000", ""], "broken binary"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 5", "A", ""], "broken binary"),
        (['diff --git a/x "y"', "old mode 100644"], "names no file"),
        (['diff --git "a/x" b/y', "old mode 100644"], "names no file"),
        (['diff --git "a/x" "b/y"', "old mode 100644"], "names no file"),
        (['diff --git "x"', "old mode 100644"], "names no file"),
        (["diff --git x", "old mode 100644"], "names no file"),
        (["diff --git a/x b/x", "rename from x", "new file mode 100644"], "contradicts"),
        (["diff --git a/x b/x", "rename from a", "deleted file mode 100644"], "contradicts"),
        (["diff --git a/x b/y", "new file mode 100644", "--- /dev/null", "+++ /y", *NEW], "absolute"),
        (["diff --git a/x b/y", "rename from x"], "lacks a file name"),
        (["diff --git a/x b/y", "rename to x"], "lacks a file name"),
        (["diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ b/x", *GONE], "dev/null"),
        (["--- a/x", "+++ /dev/null", *HUNK], "two sides"),
        (["--- a/", "+++ b/", *HUNK], "no file name"),
        (['--- "a/x" y', "+++ b/x", *HUNK], "followed by something"),
        (["--- a/x", "+++ b/x", "@@ -1,2 +1 @@", "-a", "+b", "+c", "-d"], "longer"),
        (["diff --git a/x b/x", "new file mode 100644", "deleted file mode 100644"], "contradicts"),
        (["diff --git a/x b/x", "new file mode 100644", "--- a/x"], "dev/null"),
        (["--- /dev/null", "+++ b/x", *HUNK], "two sides"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "junk"], "without their size"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 5", "A0"], "broken binary"),
        (["diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 5", "A00000"], "cut off"),
    ],
)
def test_patch_that_git_refuses_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(MalformedPatchError, match=why):
        read(*lines)


def test_binary_data_are_skipped() -> None:
    files = read(
        "diff --git a/x b/x",
        "index 1..2",
        "GIT binary patch",
        "literal 1",
        "IcmZPo000310RR91",
        "",
        "--- a/y",
        "+++ b/y",
        *HUNK,
    )
    assert [(file.names, file.is_binary) for file in files] == [((b"x",), True), ((b"y",), False)]


def test_blank_line_in_a_hunk_is_one_of_both_sides() -> None:
    assert only(*FILE, "@@ -1,3 +1,3 @@", "", "-a", "+b", "").body == [b"@@ -1,3 +1,3 @@", b"", b"-a", b"+b", b""]


def test_number_of_too_many_digits_is_more_than_any_hunk_has() -> None:
    for digits in (18, 19, 20):
        with pytest.raises(MalformedPatchError, match="cut off"):
            read(*FILE, f"@@ -1,{'9' * digits} +0,0 @@", *["-a"] * 300)
    assert only(*FILE, f"@@ -1,{'0' * 30}1 +1 @@", "-a", "+b").names == (b"x",)


@pytest.mark.parametrize("lines", [("-a", "\\ 345678901", "+b"), ("-a", "+b", "\\ 3456789012")])
def test_note_of_a_missing_line_feed_is_no_line_of_its_hunk(lines: tuple[str, ...]) -> None:
    assert len(only(*FILE, "@@ -1 +1 @@", *lines, "@@ -9 +9 @@", "-a", "+b").body) == 7


def test_header_has_at_most_32_lines() -> None:
    head, more = "diff --git a/x b/x", "old mode 100644"
    assert len(only(head, *[more] * 32).modes) == 32
    with pytest.raises(MalformedPatchError, match="more than 32 lines"):
        read(head, *[more] * 33)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1", "..2 120000"),
        ("1" * 64, "..2 120000"),
        ("", "1..2 120000"),
        ("1", "1" * 62 + ".. 120000"),
        ("1", "1" * 60 + "\n..2 120000"),
        ("1", "\n\n..2 120000"),
    ],
)
def test_index_line_goes_on_below_as_long_as_a_name_of_an_object_can_be(first: str, second: str) -> None:
    with pytest.raises(MalformedPatchError, match="two numbers"):
        read("diff --git a/x b/x", f"index {first}", second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("1" * 65, "..2 120000"), ("1", "1" * 66 + "..2 120000"), ("1", "1" * 63 + "\n..2 120000"), ("1.2", "..2 120000")],
)
def test_index_line_does_not_go_on_further_than_that(first: str, second: str) -> None:
    assert only("diff --git a/x b/x", f"index {first}", second).modes == []


@pytest.mark.parametrize(
    "lines",
    [
        ("GIT binary patch", "literal 1", "IcmZPo000310RR91", "", "literal 1", "IcmZPo000310RR91", ""),
        ("Binary files a/x and b/x differ",),
        ("Files a/x and b/x differ",),
    ],
)
def test_binary_data_end_before_the_next_file(lines: tuple[str, ...]) -> None:
    first, second = read("diff --git a/x b/x", "index 1..2", *lines, "diff --git a/y b/y", "old mode 100644")
    assert (first.is_binary, first.body) == (True, [line.encode() for line in lines])
    assert (second.names, second.is_binary) == ((b"y",), False)


@pytest.mark.parametrize("line", ["Both of them differ", "Binary files are somewhere", "Files a/x and b/x are equal"])
def test_words_about_binary_files_are_no_binary_data(line: str) -> None:
    assert only("diff --git a/x b/x", "index 1..2", line).is_binary is False
