"""Source text with Pygments' classes."""

import time

import pytest

from assay.viewer.highlight import LONGEST, SECONDS, highlight, highlight_lines


def test_language_is_chosen_by_the_name_of_the_file() -> None:
    assert str(highlight("import a", path="src/a.py")).startswith('<span class="kn">import</span>')
    assert str(highlight("import a", path="src/a")) == "import a"


@pytest.mark.parametrize("path", ["", "..", "a.<b>", "x." + "y" * 500, "Makefile/", "\0"])
def test_any_name_and_text_is_escaped(path: str) -> None:
    assert "&lt;script&gt;" in highlight("<script>", path=path)


def test_long_text_stays_plain() -> None:
    assert "<span" not in highlight("import a\n" * LONGEST, path="a.py")


@pytest.mark.parametrize(("text", "path"), [("\n" * 60_000, "a.c"), ("\n" * 60_000, "a.java"), ("a." * 30_000, "a.ts")])
def test_text_that_is_slow_to_read_stays_plain(text: str, path: str) -> None:
    began = time.thread_time()
    assert "<span" not in highlight(text, path=path)
    assert time.thread_time() - began < 10 * SECONDS


def test_lines_are_as_many_as_were_given() -> None:
    for lines in (["a", "", ""], ["", '"""', "b"], ["x = 1"], [""]):
        assert len(highlight_lines(lines, "a.py")) == len(lines)
