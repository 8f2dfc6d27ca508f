"""The graph of a small repository, drawn by hand."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.tree_search.graph import MOST_NAMESAKES, CodeGraph, Mention, Neighbour, build, mentions
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import parse

FILES = {
    "town/shop.py": (
        "from town.house import House\n\n\n"
        "class Shop(House):\n    def open(self):\n        self.unlock()\n        ring()\n\n\n"
        "def ring():\n    pass\n"
    ),
    "town/house.py": "class House:\n    def unlock(self):\n        pass\n",
    "run.py": "from town.shop import Shop\n\nShop().open()\n",
    "README.md": "Shop().open()\n",
}


@pytest.fixture(scope="module")
def town() -> CodeGraph:
    return build(FILES, "python")


def test_vertices_are_folders_files_and_definitions(town: CodeGraph) -> None:
    assert {each.id: each.kind for each in town.vertices.values()} == {
        "": "directory",
        "town": "directory",
        "run.py": "file",
        "town/shop.py": "file",
        "town/house.py": "file",
        "town/shop.py::Shop": "class",
        "town/shop.py::Shop.open": "function",
        "town/shop.py::ring": "function",
        "town/house.py::House": "class",
        "town/house.py::House.unlock": "function",
    }
    shop = town.vertices["town/shop.py::Shop"]
    assert (shop.path, shop.name, shop.first, shop.last) == ("town/shop.py", "Shop", 4, 7)


def test_contains_edges_follow_the_nesting(town: CodeGraph) -> None:
    assert set(town.edges("contains")) == {
        ("", "town"),
        ("", "run.py"),
        ("town", "town/shop.py"),
        ("town", "town/house.py"),
        ("town/shop.py", "town/shop.py::Shop"),
        ("town/shop.py::Shop", "town/shop.py::Shop.open"),
        ("town/shop.py", "town/shop.py::ring"),
        ("town/house.py", "town/house.py::House"),
        ("town/house.py::House", "town/house.py::House.unlock"),
    }


def test_calls_and_inherits_edges_follow_names(town: CodeGraph) -> None:
    assert set(town.edges("calls")) == {
        ("town/shop.py::Shop.open", "town/house.py::House.unlock"),
        ("town/shop.py::Shop.open", "town/shop.py::ring"),
        ("run.py", "town/shop.py::Shop"),
        ("run.py", "town/shop.py::Shop.open"),
    }
    assert town.edges("inherits") == [("town/shop.py::Shop", "town/house.py::House")]


def test_neighbours_are_in_both_directions(town: CodeGraph) -> None:
    assert set(town.neighbours("town/house.py::House")) == {
        Neighbour("is in", "town/house.py"),
        Neighbour("contains", "town/house.py::House.unlock"),
        Neighbour("is the base of", "town/shop.py::Shop"),
    }
    assert Neighbour("is called by", "run.py") in town.neighbours("town/shop.py::Shop")
    assert town.neighbours("nowhere") == ()


def test_name_in_the_same_file_comes_first() -> None:
    graph = build({"a.py": "def f(): pass\ndef g(): f()\n", "b.py": "def f(): pass\n"}, "python")
    assert graph.edges("calls") == [("a.py::g", "a.py::f")]


def test_name_that_too_many_share_has_no_edge() -> None:
    def calls(namesakes: int) -> int:
        files = {f"{number}.py": "def f(): pass\n" for number in range(namesakes)}
        return len(build({**files, "main.py": "f()\n"}, "python").edges("calls"))

    assert (calls(MOST_NAMESAKES), calls(MOST_NAMESAKES + 1)) == (MOST_NAMESAKES, 0)


def test_languages_do_not_call_each_other_by_name() -> None:
    assert build({"a.py": "f()\n", "b.rb": "def f\nend\n"}, "python").edges("calls") == []


def test_method_outside_of_its_type_belongs_to_it() -> None:
    graph = build({"a.go": "package a\ntype Shop struct{}\nfunc (s *Shop) Open() {}\n"}, "go")
    assert ("a.go::Shop", "a.go::Shop.Open") in graph.edges("contains")


def test_two_definitions_of_one_name_are_two_vertices() -> None:
    graph = build({"a.py": "def f(): pass\n\ndef f(): pass\n"}, "python")
    assert [each for each in graph.vertices if "::" in each] == ["a.py::f", "a.py::f@3"]


PIECES = [
    "class A:\n",
    "class B(A):\n",
    "    def f(self):\n",
    "        g()\n",
    "def g():\n",
    "    A()\n",
    "x = 1\n",
    "\n",
]


@given(st.dictionaries(st.sampled_from(["a.py", "b/c.py", "b/d/e.py"]), st.lists(st.sampled_from(PIECES), max_size=12)))
def test_containment_is_a_tree_and_edges_join_vertices(files: dict[str, list[str]]) -> None:
    graph = build({path: "".join(lines) for path, lines in files.items()}, "python")
    above = {target: source for source, target in graph.edges("contains")}
    assert len(above) == len(graph.edges("contains")) == len(graph.vertices) - 1
    assert set(above) == set(graph.vertices) - {""}
    for relation in ("contains", "calls", "inherits"):
        for source, target in graph.edges(relation):
            assert {source, target} <= set(graph.vertices)
            assert source != target
    for vertex in graph.vertices:  # everything hangs on the top directory
        steps = 0
        while vertex:
            vertex, steps = above[vertex], steps + 1  # noqa: PLW2901
            assert steps <= len(graph.vertices)


CASES = yaml.safe_load(Path(__file__).with_name("relations.yaml").read_text())


def read(language: str, path: str, text: str) -> tuple[Mention, ...]:
    parsed = parse(language, path, text)
    assert parsed is not None
    return mentions(parsed)


def test_every_language_with_a_query_has_a_case() -> None:
    assert {name for name, language in LANGUAGES.items() if language.SYNTAX.mentions} == set(CASES)


@pytest.mark.parametrize("language", CASES)
def test_mentions_are_calls_and_bases(language: str) -> None:
    case = CASES[language]
    found = read(language, case["path"], case["text"])
    assert [[each.relation, each.name, each.line] for each in found] == case["mentions"]


def test_file_of_another_language_is_read_as_that() -> None:
    assert [each.name for each in read("java", "run.py", "f()")] == ["f"]


@given(st.sampled_from(sorted(CASES)), st.integers(0, 200), st.text(max_size=20))
def test_broken_code_gives_the_mentions_that_parse(language: str, cut: int, noise: str) -> None:
    path, text = CASES[language]["path"], CASES[language]["text"]
    broken = text[:cut] + noise + text[cut:]
    lines = broken.encode(errors="replace").count(b"\n") + 1
    assert all(each.name and 1 <= each.line <= lines for each in read(language, path, broken))
