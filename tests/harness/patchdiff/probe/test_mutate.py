import ast

from assay.harness.patchdiff.probe import mutate, scope

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


def test_changed_copies_parse_differ_and_keep_expected_values() -> None:
    function = mutate.parse_function(TEST).body[0]
    may = scope.scope_of(function, TEST, {})
    copies = [copy for seed in range(120) for copy in mutate.mutants(TEST, may, str(seed), 5)]
    lines = TEST.splitlines()
    olds = set()
    for copy in copies:
        ast.parse(copy.text)
        assert copy.text != TEST
        assert copy.text.count('"not this"') >= 3
        assert "Not this." in copy.text
        assert " 30" in copy.text
        assert '"word, size"' in copy.text
        assert "def test_words(word, size, *" in copy.text
        assert copy.text == mutate.apply(TEST, copy.edits)
        for edit in copy.edits:
            if edit.start[0] == edit.end[0]:
                assert lines[edit.start[0] - 1][edit.start[1] : edit.end[1]] == edit.old
            olds.add(edit.old)
    assert {"2", "7", "True", "first", "[1, 2, 3]"[1:-1], '"tea"', "+"} <= olds


def test_statement_is_repeated_before_a_later_assertion() -> None:
    may = scope.scope_of(mutate.parse_function(LATER).body[0], LATER, {})
    copies = [copy for seed in range(60) for copy in mutate.mutants(LATER, may, str(seed), 5)]
    repeated = {edit.new: edit.start[0] for copy in copies for edit in copy.edits if mutate.is_repetition(edit)}
    assert set(repeated) == {'    first = make("tea time")\n', "    box.reset()\n"}
    twice = next(copy for copy in copies if [each.start for each in copy.edits] == [(6, 0)])
    assert twice.text.splitlines()[5] in twice.text.splitlines()[2:4]
    assert twice.text.splitlines()[6:] == ["    assert second == 2"]


def test_string_gets_pieces_of_other_strings_of_the_module() -> None:
    donors = mutate.strings_of(ast.parse("A = 'x {% set y = 1 %} z'\nB = 'x'\n"))
    assert donors == ["x {% set y = 1 %} z"], "shorter ones are no donors"
    may = scope.scope_of(mutate.parse_function(LATER).body[0], LATER, {}, mutate.Strings(donors, ["host"]))
    news = {edit.new for seed in range(300) for copy in mutate.mutants(LATER, may, str(seed), 5) for edit in copy.edits}
    assert any("{% set y = 1 %}" in new and "time" in new for new in news), "the inside of brackets stays together"
    assert "'host'" in news, "what the change is about comes in whole, too"


def test_list_of_another_test_replaces_one() -> None:
    displays = mutate.displays_of(ast.parse("A = ['x', '-s']\nB = [A, 1]\nC = (1, 2)\nD = {'k': []}\nE = []\n"))
    assert displays == ["(1, 2,)", "['x', '-s']", "{'k': []}"]
    text = "def test_it():\n    assert run(['x']) == {'k': 1}\n"
    may = scope.scope_of(mutate.parse_function(text).body[0], text, {}, mutate.Strings([], [], displays))
    edits = {edit[2:] for seed in range(200) for copy in mutate.mutants(text, may, str(seed), 9) for edit in copy.edits}
    assert ("'x'", "'x', '-s'") in edits
    assert ("'x'", "1, 2") not in edits
