import ast
from typing import Any

import pytest

from assay.harness.patchdiff.probe import mutate, scope

pytestmark = pytest.mark.slow

TEST = '''\
@pytest.mark.parametrize("word, size", [("tea", 3), ("é", 1)])
def test_words(word, size, *, extra=(1, 2)):
    """Not this."""
    first = make(word, 2, [1, 2, 3], flag=True)
    second = make(word, -7, {"a": 1})
    assert len(first) == 30, "not this"
    assert f"{first}" != "not this"
    with raises(ValueError, match="not this"):
        first.cut(second, 5 + 4)
'''


LATER = '''\
def test_state():
    """Not this."""
    first = make("tea time")
    box.reset()
    assert first == 1
    assert second == 2
'''


def make_copies(text: str, seeds: int, count: int = 9, material: mutate.Material = mutate.NOTHING) -> list[Any]:
    may = scope.make_scope(mutate.parse_function(text), text, material)
    return [copy for seed in range(seeds) for copy in mutate.make_copies(text, may, str(seed), count)]


def make_edits(text: str, seeds: int, count: int = 9, material: mutate.Material = mutate.NOTHING) -> set[Any]:
    """Old and new texts of all changes."""
    return {edit[2:] for _, edits, _ in make_copies(text, seeds, count, material) for edit in edits}


def test_changed_copies_parse_differ_and_keep_expected_values() -> None:
    copies = make_copies(TEST, 120, 5)
    lines = TEST.splitlines()
    olds = set()
    for text, edits, _ in copies:
        ast.parse(text)
        assert text != TEST
        assert text.count('"not this"') >= 3
        assert "Not this." in text
        assert " 30" in text
        assert '"word, size"' in text
        assert "def test_words(word, size, *" in text
        assert text == mutate.apply(TEST, edits)
        for edit in edits:
            if edit.start[0] == edit.end[0]:
                assert lines[edit.start[0] - 1][edit.start[1] : edit.end[1]] == edit.old
            olds.add(edit.old)
    assert {"2", "7", "True", "[1, 2, 3]"[1:-1], '"tea"', "+"} <= olds


def test_statement_is_repeated_before_a_later_assertion() -> None:
    copies = make_copies(LATER, 60, 5)
    repeated = {edit.new: edit.start[0] for _, edits, _ in copies for edit in edits if mutate.is_repetition(edit)}
    assert {'    first = make("tea time")\n', "    box.reset()\n"} < set(repeated)
    assert any(new.startswith("    first = make(") and "tea time" not in new for new in repeated), (
        "or with another text"
    )
    twice = next(text for text, edits, _ in copies if [each.start for each in edits] == [(6, 0)]).splitlines()
    assert twice[5].startswith(("    first = make(", "    box.reset()"))
    assert twice[6:] == ["    assert second == 2"]


def test_statement_that_binds_no_name_is_left_out() -> None:
    copies = [text for text, edits, _ in make_copies(LATER, 60, 5) if len(edits) == 1]
    left_out = LATER.replace("    box.reset()\n", "")
    assert left_out in copies
    assert all("    first = make(" in text and "assert first" in text for text in copies)


def test_string_gets_pieces_of_other_strings_of_the_module() -> None:
    donors = scope.collect_strings(ast.parse("A = 'x {% set y = 1 %} z'\nB = 'x'\n"))
    assert donors == ["x {% set y = 1 %} z"], "shorter ones are no donors"
    news = {new for _, new in make_edits(LATER, 300, 5, mutate.Material(donors, ["host"], {}))}
    assert any("{% set y = 1 %}" in new and "time" in new for new in news), "the inside of brackets stays together"
    assert "'host'" in news, "what the change is about comes in whole, too"


def edits_of(text: str, module: str, material: mutate.Material | None = None) -> set[tuple[str, str]]:
    """The old and new texts of all changes of a function that takes from its module all that it can, or arguments."""
    whole, lines = ast.parse(module + text), (module + text).splitlines(keepends=True)
    given = mutate.NOTHING._replace(arguments=scope.collect_arguments(whole, lines))
    return make_edits(text, 150, 9, scope.collect_material(whole, lines, material) if material else given)


def test_call_takes_the_arguments_of_other_calls_of_the_function() -> None:
    module = "def test_else(other):\n    x.run('b', fast=True, size=[1], way=A.b)\n    go(key=other)\n    stop(6)\n"
    found = edits_of("def test_it():\n    y = run('a', fast=False)\n    assert go().end == 7\n", module)
    assert {("'a'", "'b'"), ("fast=False", "fast=True"), ("", ", size=[1]"), ("", ", way=A.b")} <= found
    assert not {old for old, new in found if "6" in new or "key" in new}, (
        "of other functions, and with names that are not here"
    )


def test_copies_compile_however_many_arguments_a_call_takes() -> None:
    given = [mutate.Argument(*each, frozenset()) for each in (("debug", "True"), ("size", "3"), ("size", "4"))]
    strings = mutate.NOTHING._replace(arguments={"make": given})
    text = "def test_it():\n    app = make(x)\n"
    copies = {copy for copy, _, _ in make_copies(text, 200, 9, strings)}
    assert any("size=3" in copy for copy in copies)
    for copy in copies:
        compile(copy, "copy", "exec")


def test_call_without_arguments_takes_named_ones() -> None:
    found = edits_of("def test_it():\n    app = make()\n    assert app\n", "app = make(1, debug=True)\n")
    assert {new for old, new in found if not old and "=" in new and "\n" not in new} == {"debug=True"}


def test_row_takes_items_of_the_rows_beside_it() -> None:
    table = "@pytest.mark.parametrize(('a', 'b'), [(1, 'x'), (22, 'y'), (3,)])\n"
    found = edits_of(table + "def test_it(a, b):\n    assert run(a, b)\n", "")
    assert {("1", "22"), ("22", "1"), ("'x'", "'y'"), ("'y'", "'x'")} <= found
    assert ("1", "3") not in found, "of a row of another length"


def test_list_becomes_another_kind_of_iterable() -> None:
    text = "def test_it():\n    assert run([1, 2], {'a': 1}) == 3\n"
    news = {new for _, new in make_edits(text, 200)}
    assert {"iter([1, 2])", "tuple([1, 2])", "[[1, 2]]", "[{'a': 1}]"} <= news


def test_literals_that_a_check_expects_stay() -> None:
    text = "def test_it():\n    page = get('/')\n    it.assertContains(page, 'kept')\n    out.fnmatch_lines(['kept'])\n"
    copies = [copy for copy, _, _ in make_copies(text, 100)]
    assert copies
    assert all(copy.count("'kept'") >= 2 for copy in copies)


SWITCH = """\
LIMIT = 3


def test_switch(value):
    switch.set(value)


async def test_later():
    switch.later = await switch.get()


def test_unlike():
    other.run()


"""
USE = "def test_use(client):\n    box = Box(client)\n    switch.use(box)\n    assert box.size == 2\n"


def test_statements_of_other_tests_come_in_where_names_are_shared() -> None:
    news = {new for old, new in edits_of(USE, SWITCH, mutate.NOTHING) if not old}
    assert {"    switch.set(True)\n", "    switch.set(client)\n"} <= news, (
        "with something for the name that is not here"
    )
    assert not {new for new in news if "other.run" in new}
    assert not {new for new in news if "await" in new}, "what does not compile would cost all copies of the file"


def test_variables_stand_in_for_one_another_where_they_are_read() -> None:
    found = edits_of(USE, SWITCH, mutate.NOTHING)
    assert {("client", "LIMIT"), ("box", "client")} <= found
    text = "def test_it(first, second):\n    assert run(first, second)\n"
    assert all(copy.startswith("def test_it(first, second):") for copy, _, _ in make_copies(text, 99))


def test_subclass_stands_in_for_a_class_that_the_change_is_about() -> None:
    text = "def test_it():\n    assert shop.Box(1).size == Box(2).size\n"
    news = {new for _, new in edits_of(text, "", mutate.NOTHING._replace(classes=("Box",)))}
    assert {'type("Sub", (shop.Box,), {})', 'type("Sub", (Box,), {})'} <= news


def test_tuple_becomes_a_named_one_and_a_list_one_of_a_subclass() -> None:
    (named,) = (new for old, new in edits_of("def test_it():\n    run((1, 2))\n", "") if "namedtuple" in new)
    assert eval(named) == (1, 2)
    assert type(eval(named)).__name__ == "T"
    (special,) = (new for old, new in edits_of("def test_it():\n    run([1, 2])\n", "") if "Sub" in new)
    assert eval(special) == [1, 2]
    assert type(eval(special)) is not list
