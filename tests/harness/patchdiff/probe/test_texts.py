import functools
import re
from pathlib import Path
from typing import Any

import pytest

from assay.harness.patchdiff.probe import texts


class Loop:
    def __init__(self) -> None:
        self.me = self
        self.name = "x"
        self._hidden = object()


class Shouting:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Slotted:
    __slots__ = ("absent", "size")

    def __init__(self) -> None:
        self.size = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (0.1 + 0.2, "0.3"),
        ({3, 1, 2}, "set{1, 2, 3}"),
        ({"b": 1, "a": [True]}, "{'a': [True], 'b': 1}"),
        (ValueError("secret"), "<exception ValueError>"),
        (iter([1, 2]), "<iterator list_iterator [1, 2]>"),
        (len, "<function builtins.len>"),
    ],
)
def test_values_have_comparable_texts(value: Any, text: str) -> None:
    assert texts.describe(value) == text


def test_object_without_repr_is_described_by_type_and_public_attributes() -> None:
    assert re.fullmatch(r".*Loop\(me=<.*Loop>, name='x'\)", texts.describe(Loop()))
    assert texts.describe(Slotted()).endswith("Slotted(size=3)")
    assert "repr raises RuntimeError" in texts.describe(Shouting())


def test_addresses_and_temporary_paths_are_hidden(tmp_path: Path) -> None:
    assert texts.describe([object(), Loop]) == texts.describe([object(), Loop])
    assert texts.describe(f"<x at {id(texts):#x}> /tmp/tmpab12cd_9/x") == "'<x at 0x~> <tmp>/x'"
    assert texts.describe(str(tmp_path / "x")).startswith("'<tmp>/")


def test_local_function_or_class_shows_its_own_name_only() -> None:
    def make() -> list[Any]:
        def twice() -> int:
            return 2

        class Local:
            pass

        return [twice, Local, Local(), functools.partial(twice), lambda: 0]

    shown = texts.describe(make())
    assert "make" not in shown
    assert "test_texts" not in shown
    assert re.fullmatch(
        r"\[<function <locals>\.twice>, <class <locals>\.Local>, <locals>\.Local\(\),"
        r" <functools\.partial functools\.partial\(<function <locals>\.twice at 0x~>\)>,"
        r" <function <locals>\.<lambda>>\]",
        shown,
    )
    assert texts.type_name(make()[2]) == "<locals>.Local"


def test_long_texts_are_cut_and_stay_different() -> None:
    one, two = texts.describe("a" * 9000), texts.describe("a" * 8999 + "b")
    assert len(one) <= 2000
    assert one != two


class Page:
    def __init__(self, content: Any) -> None:
        self.content = content


class Unread:
    @property
    def content(self) -> str:
        raise ValueError("a stream")


def test_body_of_a_response_or_of_output_is_text_without_what_changes_from_run_to_run() -> None:
    assert texts.content(Page(b"<p>caf\xc3\xa9</p>")) == "<p>café</p>"
    assert texts.content(type("Output", (), {"lines": ["2 passed in 0.12s", "in 1.5 seconds"]})()) == (
        "2 passed in ~ s\nin ~ s"
    )
    assert texts.content(Page(f"token={'aB3' * 12} key=short1")) == "token=<token> key=short1"
    assert texts.content(Unread()) is texts.content(Page(3)) is texts.content(3) is None
    assert len(texts.content(Page("x " * 40000)) or "") < 40000


def test_state_of_an_object_is_its_public_data() -> None:
    page: Any = Page("hello")
    page.status, page.headers, page.links, page._seen, page.render = 200, {"a": [1]}, [[2]], 3, lambda: 4
    assert texts.content(page) == "hello, headers={'a': <list>}, links=[<list>], status=200"
    assert (
        texts.content(re)
        is texts.content(Page)
        is texts.content([1])
        is texts.content(test_texts_of_places_and_patterns)
        is None
    )


def test_texts_of_places_and_patterns() -> None:
    assert texts.describe('x.py:12 File "a/b.py", line 3, in f, 4.py') == repr(
        'x.py:~ File "a/b.py", line ~, in f, 4.py'
    )
    assert texts.describe([re.compile("a|b")]) == "[<pattern>]"


def test_equal_numbers_in_the_state_of_objects_are_alike_and_results_are_not() -> None:
    values = [True, 1.0, 0.5, float("inf"), float("nan"), None, "True"]
    assert texts.describe(values, inside=True) == "[1, 1, 0.5, inf, nan, None, 'True']"
    assert texts.describe(values) == "[True, 1.0, 0.5, inf, nan, None, 'True']"
