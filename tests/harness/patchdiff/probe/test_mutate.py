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
    function = mutate.parse_function(TEST)
    may = scope.scope_of(function, TEST, {})
    copies = [copy for seed in range(120) for copy in mutate.mutants(TEST, may, str(seed), 5)]
    lines = TEST.splitlines()
    olds = set()
    for text, edits in copies:
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
    assert {"2", "7", "True", "first", "[1, 2, 3]"[1:-1], '"tea"', "+"} <= olds


def test_statement_is_repeated_before_a_later_assertion() -> None:
    may = scope.scope_of(mutate.parse_function(LATER), LATER, {})
    copies = [copy for seed in range(60) for copy in mutate.mutants(LATER, may, str(seed), 5)]
    repeated = {edit.new: edit.start[0] for _, edits in copies for edit in edits if mutate.is_repetition(edit)}
    assert set(repeated) == {'    first = make("tea time")\n', "    box.reset()\n"}
    twice = next(text for text, edits in copies if [each.start for each in edits] == [(6, 0)]).splitlines()
    assert twice[5] in twice[2:4]
    assert twice[6:] == ["    assert second == 2"]


def test_string_gets_pieces_of_other_strings_of_the_module() -> None:
    donors = mutate.strings_of(ast.parse("A = 'x {% set y = 1 %} z'\nB = 'x'\n"))
    assert donors == ["x {% set y = 1 %} z"], "shorter ones are no donors"
    may = scope.scope_of(mutate.parse_function(LATER), LATER, {}, mutate.Strings(donors, ["host"]))
    news = {edit.new for seed in range(300) for _, edits in mutate.mutants(LATER, may, str(seed), 5) for edit in edits}
    assert any("{% set y = 1 %}" in new and "time" in new for new in news), "the inside of brackets stays together"
    assert "'host'" in news, "what the change is about comes in whole, too"


def test_list_of_another_test_replaces_one() -> None:
    displays = mutate.displays_of(ast.parse("A = ['x', '-s']\nB = [A, 1]\nC = (1, 2)\nD = {'k': []}\nE = []\n"))
    assert displays == ["(1, 2,)", "['x', '-s']", "{'k': []}"]
    text = "def test_it():\n    assert run(['x']) == {'k': 1}\n"
    may = scope.scope_of(mutate.parse_function(text), text, {}, mutate.Strings([], [], displays))
    found = {edit[2:] for seed in range(200) for _, edits in mutate.mutants(text, may, str(seed), 9) for edit in edits}
    assert ("'x'", "'x', '-s'") in found
    assert ("'x'", "1, 2") not in found
