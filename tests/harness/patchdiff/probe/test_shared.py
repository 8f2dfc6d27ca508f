"""What the programs share: texts of values, plain data, changed copies of a test, and the grammar of Python 3.6."""

import ast
import functools
import io
import json
import random
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Limits, Recipe
from assay.harness.engines.docker import DockerEngine
from assay.harness.patchdiff.archive import probe_archive
from assay.harness.patchdiff.probe import mutate, scope, texts, values, wire
from assay.instances.toolchains.images import bootstrap, find_toolchain

PROGRAMS = sorted(Path(texts.__file__).parent.glob("*.py"))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


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


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_the_programs_are_written_for_python_3_6_and_its_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 6))
    assert "from __future__" not in path.read_text()
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    assert not [name for name in names if name and name.partition(".")[0] not in STANDARD]


STANDARD = {"pathlib", "typing", "collections", "types"}


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
def test_texts(value: Any, text: str) -> None:
    assert texts.describe(value) == text


def test_objects_without_a_text_of_their_own_are_told_by_type_and_public_attributes() -> None:
    assert re.fullmatch(r".*Loop\(me=<.*Loop>, name='x'\)", texts.describe(Loop()))
    assert texts.describe(Slotted()).endswith("Slotted(size=3)")
    assert "repr raises RuntimeError" in texts.describe(Shouting())


def test_addresses_and_temporary_paths_do_not_show(tmp_path: Path) -> None:
    assert texts.describe([object(), Loop]) == texts.describe([object(), Loop])
    assert texts.describe(f"<x at {id(texts):#x}> /tmp/tmpab12cd_9/x") == "'<x at 0x~> <tmp>/x'"
    assert texts.describe(str(tmp_path / "x")).startswith("'<tmp>/")


def test_where_a_local_function_or_class_is_made_does_not_show_and_its_own_name_does() -> None:
    def make() -> list[Any]:
        def twice() -> int:
            return 2

        class Local:
            pass

        return [twice, Local, Local(), functools.partial(twice), lambda: 0]

    shown = texts.describe(make())
    assert "make" not in shown
    assert "test_shared" not in shown
    assert re.fullmatch(
        r"\[<function <locals>\.twice>, <class <locals>\.Local>, <locals>\.Local\(\),"
        r" <functools\.partial functools\.partial\(<function <locals>\.twice at 0x~>\)>,"
        r" <function <locals>\.<lambda>>\]",
        shown,
    )
    assert texts.type_name(make()[2]) == "<locals>.Local"


def test_long_texts_are_cut_and_still_told_apart() -> None:
    one, two = texts.describe("a" * 9000), texts.describe("a" * 8999 + "b")
    assert len(one) <= 2000
    assert one != two


@given(PLAIN)
def test_a_literal_of_plain_data_gives_it_back(value: Any) -> None:
    text = values.literal(value)
    assert texts.describe(values.read_literal(text)) == texts.describe(value)


@given(PLAIN, st.integers())
def test_what_stands_in_for_a_value_is_never_that_value(value: Any, seed: int) -> None:
    for other in values.others(value, random.Random(seed)):
        assert repr(other) != repr(value)
        assert values.is_plain(other) or not values.literal(other)


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


def test_copies_parse_differ_and_leave_alone_what_is_expected() -> None:
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


def test_seconds_are_those_of_the_processor_but_waiting_ends_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, told = [100.0], tmp_path / "usage"
    monkeypatch.setattr(wire.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(wire, "CLOCKS", ((str(tmp_path / "none"), float), (str(told), lambda text: int(text) / 1e9)))
    told.write_text("5000000000")
    deadline = wire.WorkBudget(8.0)
    now[0], _ = 110.0, told.write_text("7000000000")
    assert deadline.left() == 6.0, "two seconds of work in ten by the clock"
    now[0] = 100.0 + 8 * wire.PATIENCE
    assert deadline.over(), "nobody waits for ever"


LATER = '''\
def test_state():
    """Not this."""
    first = make("tea time")
    box.reset()
    assert first == 1
    assert second == 2
'''


def test_a_statement_is_made_once_more_before_a_later_assertion_and_what_follows_depends_on_it() -> None:
    may = scope.scope_of(mutate.parse_function(LATER).body[0], LATER, {})
    copies = [copy for seed in range(60) for copy in mutate.mutants(LATER, may, str(seed), 5)]
    repeated = {edit.new: edit.start[0] for copy in copies for edit in copy.edits if mutate.is_repetition(edit)}
    assert set(repeated) == {'    first = make("tea time")\n', "    box.reset()\n"}
    twice = next(copy for copy in copies if [each.start for each in copy.edits] == [(6, 0)])
    assert twice.text.splitlines()[5] in twice.text.splitlines()[2:4]
    assert twice.text.splitlines()[6:] == ["    assert second == 2"]


def test_pieces_of_other_strings_of_the_module_are_put_into_a_string() -> None:
    donors = mutate.strings_of(ast.parse("A = 'x {% set y = 1 %} z'\nB = 'x'\n"))
    assert donors == ["x {% set y = 1 %} z"], "shorter ones are no donors"
    may = scope.scope_of(mutate.parse_function(LATER).body[0], LATER, {}, mutate.Strings(donors, ["host"]))
    news = {edit.new for seed in range(300) for copy in mutate.mutants(LATER, may, str(seed), 5) for edit in copy.edits}
    assert any("{% set y = 1 %}" in new and "time" in new for new in news), "the inside of brackets stays together"
    assert "'host'" in news, "what the change is about comes in whole, too"


@pytest.mark.parametrize(
    ("value", "words", "wanted"),
    [
        ('a = """\nfoo"""', ['"""', "\n"], 'a = """\n\nfoo"""'),
        ("a = '''\nfoo'''", ["\n", "\r\n"], "a = '''\r\nfoo'''"),
        ("path = 'temp'", [r"'(\\.)*'"], r"path = '\temp'"),
    ],
    ids=["another beside one", "another in place of one", "a mark of a word"],
)
def test_what_the_change_is_about_comes_beside_what_of_it_is_there(value: str, words: list[str], wanted: str) -> None:
    assert any(wanted in values.spliced(value, [], words, random.Random(seed)) for seed in range(200))


def test_lines_end_otherwise_and_quotes_are_others() -> None:
    news = values.texts('a "b"\nc\n', random.Random(1))
    assert 'a "b"\r\nc\r\n' in news
    assert "a 'b'\nc\n" in news


def test_a_key_of_a_dictionary_becomes_another_and_its_value_stays() -> None:
    news = [new for seed in range(50) for new in values.others({"a b": 1, 2: 3}, random.Random(seed))]
    renamed = [new for new in news if len(new) == 2 and "a b" not in new]
    assert {tuple(new.values()) for new in renamed} == {(1, 3)}
    assert any("\t" in key for new in renamed for key in new if isinstance(key, str))


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_the_programs_run_on_other_versions_without_pytest(
    docker_engine: DockerEngine, version: str, tmp_path: Path
) -> None:
    wanted = find_toolchain(Recipe(toolchain=version), {}, docker_engine)
    if docker_engine.find_image(wanted.name) is None:
        bootstrap(wanted, docker_engine, tmp_path, tmp_path / "log")
    target = {"path": "shop.py", "name": "double", "first": 1, "last": 2}
    job = {"files": ["test_shop.py"], "targets": [target], "seed": 1, "mutants": 4, "limit": 2, "budget": 60}
    files = {
        "shop.py": "def double(n):\n    return n * 2\n",
        "test_shop.py": "from shop import double\n\n\ndef test_double():\n    assert double(4) == 8\n",
        "job.json": json.dumps({**job, "runner": "pytest"}),
    }
    command = "python3 probe.pyz amplify job.json amplify.jsonl && python3 probe.pyz record job.json record.jsonl"
    with docker_engine.open(wanted.name, Limits(), {}) as box:
        box.put(
            _archive({**{path: text.encode() for path, text in files.items()}, "probe.pyz": probe_archive()}), "/opt"
        )
        done = box.exec(["sh", "-c", f"cd /opt && {command}"], seconds=120)
        assert done.exit_code == 0, done.output
        left = box.get("/opt/amplify.jsonl", 1 << 20) | box.get("/opt/record.jsonl", 1 << 20)
    seen, calls = ([json.loads(line) for line in left[name].splitlines()] for name in ("amplify.jsonl", "record.jsonl"))
    assert [row["text"] for row in seen if row.get("key") == "test_shop.py::test_double|m0|s0#1"] == ["8"]
    assert any(row["mutated"] and row["reached"] for row in seen[:-1])
    assert calls[0]["literal"] == "((4,), {},)"
    assert [rows[-1] for rows in (seen, calls)] == [{"end": "done"}] * 2


def _archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize(
    ("value", "old", "new", "wanted"),
    [
        (3, 3, -1, [-1]),
        (True, 1, 2, []),
        ([1], [1], [], [[]]),
        ("http://a", "http://a", "x", ["x"]),
        ('b = """\nc"""', 'a = """\nb"""', 'a = """\n\nb"""', ['b = """\n\nc"""']),
        ("ftp://x/y", "http://a", "http:://a", ["ftp:://x/y"]),
        ("no such thing", "http://a", "http:://a", []),
        ("a, b, c, d, e", "1, 2", "1; 2", []),
        ("", "", "x", ["x"]),
        ("abc", "", "x", []),
    ],
)
def test_an_exchange_is_made_where_what_it_is_about_stands(value: Any, old: Any, new: Any, wanted: list[Any]) -> None:
    assert values.exchanged(value, [(old, new)]) == wanted


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_inner_part_of_an_exchange_makes_it_again(old: str, new: str) -> None:
    if old != new:
        for left, right in values._inner(old, new):
            assert left in old
            assert right in new
            at = old.index(left)
            assert left != right
            assert new in {old[:n] + right + old[n + len(left) :] for n in range(at, len(old))}
        assert new in values.exchanged(old, [(old, new)])


def test_where_exchanges_are_told_a_test_is_changed_by_them_alone() -> None:
    text = 'def test_it():\n    one = make("tea time", 3)\n    assert one == "time"\n'
    strings = mutate.Strings([], [], [], [("at time", "at  time"), (3, -3)])
    may = scope.scope_of(mutate.parse_function(text).body[0], text, {}, strings)
    edits = {edit[2:] for seed in range(60) for copy in mutate.mutants(text, may, str(seed), 9) for edit in copy.edits}
    assert edits == {('"tea time"', "'tea  time'"), ("3", "(-3)")}


def test_a_text_of_lines_loses_doubles_swaps_and_indents_one() -> None:
    found = {new for seed in range(20) for new in values.texts("a\nb\n", random.Random(seed))}
    assert {"b\n", "a\n", "a\na\nb\n", "b\na\n", "  a\nb\n"} <= found


def test_what_a_change_counts_to_is_a_border_of_numbers_and_of_how_often_a_piece_stands_in_a_text() -> None:
    assert values.borders(5, ["40", "x", "123456789"]) == [40, 41, 39]
    assert values.borders(True, ["40"]) == values.borders("5", ["40"]) == []
    news = {new for seed in range(40) for new in values.spliced("a&b", [], ["40"], random.Random(seed))}
    assert {"a" + "&" * 40 + "b", "a" + "&" * 41 + "b"} <= news


def test_marks_of_a_change_are_put_anywhere_into_a_text_or_bytes() -> None:
    news = {new for seed in range(40) for new in values.spliced(b"ab", [], ["[$#]"], random.Random(seed))}
    assert {b"a#b", b"ab$", b"[ab"} <= news


def test_a_list_of_another_test_stands_in_for_one() -> None:
    displays = mutate.displays_of(ast.parse("A = ['x', '-s']\nB = [A, 1]\nC = (1, 2)\nD = {'k': []}\nE = []\n"))
    assert displays == ["(1, 2,)", "['x', '-s']", "{'k': []}"]
    text = "def test_it():\n    assert run(['x']) == {'k': 1}\n"
    may = scope.scope_of(mutate.parse_function(text).body[0], text, {}, mutate.Strings([], [], displays))
    edits = {edit[2:] for seed in range(200) for copy in mutate.mutants(text, may, str(seed), 9) for edit in copy.edits}
    assert ("'x'", "'x', '-s'") in edits
    assert ("'x'", "1, 2") not in edits
