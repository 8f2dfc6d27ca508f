import pytest

from assay.harness.patches.names import below, date_length, is_epoch, is_no_file, strip_folder, twice, unquote


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        (b'"a\\"b" c', b'a"b', b" c"),
        (b'"\\303\\244""', b"\xc3\xa4", b'"'),
        (b'"\\a\\b\\f\\n\\r\\t\\v\\\\"', b"\a\b\f\n\r\t\v\\", b""),
        (b'""x', b"", b"x"),
    ],
)
def test_escapes_are_resolved_up_to_the_closing_quote(text: bytes, name: bytes, rest: bytes) -> None:
    read = unquote(text)
    assert read is not None
    assert (read[0], text[read[1] :]) == (name, rest)


@pytest.mark.parametrize("text", [b'"a', b'"\\400"', b'"\\x"', b'"\\1"', b'"'])
def test_quotes_that_git_does_not_accept_have_no_name(text: bytes) -> None:
    assert unquote(text) is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (b"x\t2020-01-01 10:00:00", 20),
        (b"x   2020-01-01 10:00:00.5 +0100", 30),
        (b"x 20-01-01", 9),
        (b"x 2020-01-01 10:00:00.5", 22),
        (b"x20-01-01", 0),
        (b"2020-01-01", 0),
        (b"x 10:00:00", 0),
        (b"x\t2020-01-01 10:00:00 +01:00", 27),
        (b"x \t2020-01-01", 11),
        (b"x\t\t2020-01-01", 11),
        (b"x\t 2020-01-01", 11),
        (b"x 2020-01-01 10:00:00 +0100 ", 0),
        (b"x 2020-01-01 +0100", 17),
        (b" 2020-01-01", 11),
        (b"", 0),
    ],
)
def test_time_behind_a_name_is_measured_with_its_blanks(text: bytes, length: int) -> None:
    assert date_length(text) == length


@pytest.mark.parametrize(
    ("text", "epoch"),
    [
        (b"x\t1970-01-01 00:00:00.000000000 +0000", True),
        (b"x\t1969-12-31 23:00:00 -0100", True),
        (b"x\t1970-01-01 01:00:00 +01:00", True),
        (b"x\t1970-01-01 00:00:01 +0000", False),
        (b"x 1970-01-01 00:00:00 +0000", False),
        (b"x\t1970-01-01 01:00:00 +0000", False),
        (b"x\t1970-01-01 05:30:00 +05:30", True),
        (b"x\t1970-01-01 05:30:00 +0529", False),
        (b"x\t1969-12-31 18:30:00 -0530", True),
        (b"x\t1969-12-31 23:00:00 +0100", False),
        (b"x\t1970-01-01 23:00:00 -0100", False),
        (b"x\t1970-01-01 00:01:00 +0000", False),
        (b"x\t1970-01-01 00:00:00 +0000 ", False),
        (b"a\t1970-01-01 00:00:00 +0000\tb", False),
    ],
)
def test_epoch_means_no_file(text: bytes, epoch: bool) -> None:
    assert is_epoch(text) is epoch


def test_no_file_ends_with_its_word() -> None:
    assert is_no_file(b"/dev/null")
    assert is_no_file(b"/dev/null\tthen")
    assert not is_no_file(b"/dev/nullx")


def test_folder_is_taken_off_and_slashes_become_one() -> None:
    assert strip_folder(b"a/b//c", 1) == b"b/c"
    assert strip_folder(b"a", 1) is None
    assert strip_folder(b"a//b", 0) == b"a/b"
    assert below(b"/a", 1) is None
    assert below(b"a/b", 1) == b"b"
    assert below(b"/a", 0) is None
    assert below(b"a", 1) is None
    assert below(b"a/b/c", 1) == b"b/c"
    assert below(b"a", 0) == b"a"
    assert below(b"a/b", 0) == b"a/b"
    assert strip_folder(b"/a", 1) == b"a"


@pytest.mark.parametrize(
    ("text", "strip", "name"),
    [
        (b"x b/x", 1, b"x"),
        (b"x\tb/x", 1, b"x"),
        (b"a b b/a b", 1, b"a b"),
        (b"a/b/c longer/a/b/c", 1, b"a/b/c"),
        (b"x b/y", 1, None),
        (b"x b/xy", 1, None),
        (b"x b", 1, None),
        (b"x /x", 1, None),
        (b"x b//x", 1, None),
        (b"x x", 0, b"x"),
        (b"x y", 0, None),
        (b"a b a b", 0, b"a b"),
        (b"xx", 0, None),
        (b" b/", 1, b""),
        (b"b/ b/", 1, None),
        (b"a /b c/a /b", 1, b"a /b"),
    ],
)
def test_name_counts_if_it_is_there_twice(text: bytes, strip: int, name: bytes | None) -> None:
    assert twice(text, strip) == name
