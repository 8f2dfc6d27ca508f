from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.shared.code_search import CALLS, SHOWN, CodeSearch, SearchResult, manual, perform, usage
from assay.agents.solvers.shared.codebase import Codebase
from tables import read_tables

TABLES = read_tables(__file__)

SHOP = """\
import os


@decorated(lambda x: x)
class Shop(Base):
    opened = True

    @property
    def price(self) -> int:
        '''What it costs.'''
        return half(3)

    def open(self, door,
             key=None):
        return os.open(door)


def half(x):
    return x / 2
"""
TEST = "from shop import half\n\ndef test_half():\n    assert half(2) == 1\n"
PYTHON = {"src/shop.py": SHOP, "tests/test_shop.py": TEST, "README.md": "half of the shop is open\n"}

ONE_CLASS = yaml.safe_load(Path(__file__).with_name("one_class.yaml").read_text())


def python(call: str) -> SearchResult:
    return perform(CodeSearch(Codebase(PYTHON, "python")), call)


def codes(found: SearchResult) -> list[str]:
    return [each.code for each in found.snippets]


def test_search_class_shows_signatures_only() -> None:
    found = python("search_class('Shop')")
    assert codes(found) == [
        "@decorated(lambda x: x)\nclass Shop(Base):\n"
        "    @property\n    def price(self) -> int:\n"
        "    def open(self, door,\n             key=None):"
    ]
    assert found.text.startswith("src/shop.py, lines 4 to 15, Shop:\n```\n@decorated")


def test_search_class_in_file_and_full_snippet_show_the_whole_class() -> None:
    whole = "\n".join(SHOP.split("\n")[3:15])
    assert codes(python("search_class_in_file('Shop', 'shop.py')")) == [whole]
    assert codes(python("get_class_full_snippet('Shop')")) == [whole]


@pytest.mark.parametrize(
    "call",
    [
        "search_method('open')",
        "search_method('Shop.open()')",
        "search_method_in_file('open', 'src/shop.py')",
        "search_method_in_class('open', 'Shop')",
        "search_method_in_class(method_name='open', class_name='Shop')",
        "search_method(open)",
        ' search_method( "open" )\n',
    ],
)
def test_method_is_found_by_every_form_of_a_call(call: str) -> None:
    (snippet,) = python(call).snippets
    assert (snippet.path, snippet.first, snippet.last, snippet.owner) == ("src/shop.py", 13, 15, "Shop.open")
    assert snippet.code.endswith("        return os.open(door)")


def test_search_code_shows_three_lines_of_context_and_the_owner() -> None:
    (snippet,) = python("search_code('half(3)')").snippets
    assert (snippet.path, snippet.first, snippet.last, snippet.owner) == ("src/shop.py", 8, 14, "Shop.price")
    (snippet,) = python("search_code_in_file('assert half', 'tests/test_shop.py')").snippets
    assert (snippet.first, snippet.last, snippet.owner) == (1, 4, "test_half")


def test_results_are_sources_then_tests_then_other_texts() -> None:
    paths = [each.path for each in python("search_code('half')").snippets]
    assert paths == ["src/shop.py", "src/shop.py", "tests/test_shop.py", "README.md"]


def test_code_around_a_line_ends_with_the_file() -> None:
    (snippet,) = python("get_code_around_line('shop.py', 18, 1)").snippets
    assert snippet.code == "\ndef half(x):\n    return x / 2"
    assert (snippet.first, snippet.last, snippet.owner) == (17, 19, "half")
    (snippet,) = python("get_code_around_line('shop.py', '1', 2)").snippets
    assert snippet.code == "import os\n\n"


def test_file_is_found_by_the_end_of_its_path() -> None:
    for name in ("src/shop.py", "shop.py", "./src/shop.py", "/testbed/src/shop.py"):
        (snippet,) = python(f"get_file_content('{name}')").snippets
        assert (snippet.path, snippet.last, snippet.code) == ("src/shop.py", 19, SHOP.rstrip("\n"))


def test_further_results_are_counted_by_file() -> None:
    texts = {f"{name}.py": "def run():\n    pass\n" * count for name, count in {"a": 2, "b": 3, "c": 1}.items()}
    found = perform(CodeSearch(Codebase(texts, "python")), "search_method('run')")
    assert len(found.snippets) == 6
    assert found.text.startswith("6 found.")
    assert found.text.count("```") == 2 * SHOWN
    assert found.text.endswith("3 more in b.py (2), c.py (1).")


def test_long_snippet_is_cut_with_a_note() -> None:
    found = perform(CodeSearch(Codebase({"a.py": "x = 1\n" * 500}, "python")), "get_file_content('a.py')")
    assert found.text.endswith("[100 more lines; get_code_around_line shows them]")
    assert found.text.count("x = 1") == 400


@pytest.mark.parametrize(("call", "reply"), TABLES["call_without_a_result_says_why"])
def test_call_without_a_result_says_why(call: str, reply: str) -> None:
    found = python(call)
    assert reply in found.text
    assert not found.snippets


@pytest.mark.parametrize("language", ONE_CLASS)
def test_classes_and_methods_are_found_in_every_language(language: str) -> None:
    case = ONE_CLASS[language]
    search = CodeSearch(Codebase({case["path"]: case["text"]}, language))
    signatures = "\n".join(codes(perform(search, "search_class('Shop')")))
    assert case["head"] in signatures
    assert "return 1" not in signatures
    (method,) = perform(search, "search_method_in_class('price', 'Shop')").snippets
    assert method.owner == "Shop.price"
    assert "return 1" in method.code


def test_c_has_functions_and_structs() -> None:
    texts = {"shop.c": "struct shop { int price; };\nstatic int half(int x)\n{\n  return x / 2;\n}\n"}
    search = CodeSearch(Codebase(texts, "c"))
    assert codes(perform(search, "search_class('shop')")) == ["struct shop { int price; };"]
    assert codes(perform(search, "search_method('half')")) == ["static int half(int x)\n{\n  return x / 2;\n}"]


def test_qualified_name_is_read_in_any_language_s_spelling() -> None:
    search = CodeSearch(Codebase({"a.cpp": "namespace shop {\nint Till::count() { return 1; }\n}\n"}, "cpp"))
    for name in ("Till::count", "shop::Till::count", "Till.count", "count()"):
        assert len(perform(search, f"search_method('{name}')").snippets) == 1
    assert not perform(search, "search_method('ill::count')").snippets


def test_the_manual_names_every_call_with_its_arguments() -> None:
    assert len(CALLS) == 10
    assert usage("get_code_around_line") == "get_code_around_line(file_name, line_number, window_size=10)"
    assert [line.partition(":")[0] for line in manual().splitlines()] == [usage(name) for name in CALLS]


@given(st.text(max_size=30) | st.builds("{}({})".format, st.sampled_from(sorted(CALLS)), st.text(max_size=20)))
def test_every_call_has_an_answer(call: str) -> None:
    assert python(call).text
