"""Functions and classes of source files, as a reader of the file would list them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.errors import UserError
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import definitions, find_language, innermost, parse
from language_tables import TABLES

FILES = [
    (language, each["file"], each["source"], each["found"])
    for language, table in TABLES.items()
    for each in table["definitions"]
]
SOURCES = {language: source for language, _, source, _ in reversed(FILES)}


@pytest.mark.parametrize(("language", "file", "source", "expected"), FILES, ids=[file for _, file, _, _ in FILES])
def test_definitions(language: str, file: str, source: str, expected: list[str]) -> None:
    found = definitions(language, file, source)
    assert [f"{each.kind} {each.name} {each.first}-{each.last}" for each in found] == expected


def test_definition_has_the_node_type_of_the_grammar() -> None:
    nodes = {each.name: each.node for each in definitions("javascript", "a.js", SOURCES["javascript"])}
    assert nodes["first"] == "pair"
    assert nodes["sum"] == "variable_declarator"
    assert nodes["Shop.price"] == "method_definition"


@pytest.mark.parametrize(
    ("line", "name"),
    [(1, None), (4, "Shop"), (6, "Shop"), (8, "Shop.price"), (11, "Shop.price.half"), (13, "Shop.price"), (14, None)],
)
def test_innermost_definition_of_a_line(line: int, name: str | None) -> None:
    found = innermost(definitions("python", "shop.py", SOURCES["python"]), line)
    assert (found.name if found else None) == name


def test_last_line_of_a_file_belongs_to_its_definition() -> None:
    for text in ("def f():\n    return 1", "def f():\n    return 1\n"):
        found = innermost(definitions("python", "a.py", text), 2)
        assert found is not None
        assert found.name == "f"


def test_inner_definition_on_the_same_line_is_the_innermost() -> None:
    found = innermost(definitions("java", "A.java", "class A { int f() { return 1; } }\n"), 1)
    assert found is not None
    assert found.name == "A.f"


def test_text_with_errors_gives_the_readable_definitions() -> None:
    broken = "def sound():\n    return 1\n\ndef torn(:\n    return (\n"
    assert "sound" in {each.name for each in definitions("python", "a.py", broken)}


def test_code_hidden_by_macros_has_no_nonsense_names() -> None:
    text = "BEGIN_NAMESPACE\n\nEXPORT template <typename T> class shop {\n  int open() { return 1; }\n};\n"
    assert [each.name for each in definitions("cpp", "a.h", text)] == ["open"]
    assert not definitions("cpp", "a.cc", "EXPORT namespace town {\nint x;\n}\n")


def test_file_of_another_language_is_read_as_that_language() -> None:
    text = "const f = () => 1;\n"
    assert definitions("python", "web/a.js", text) == definitions("javascript", "web/a.js", text)
    assert definitions("python", "README.md", "def f(): pass\n") == ()
    shared = [find_language("a.h", name) for name in ("c", "cpp")]
    assert [each.NAME for each in shared if each] == ["c", "cpp"]


def test_parsed_file_has_its_language() -> None:
    parsed = parse("python", "web/a.js", "const f = () => 1;\n")
    assert parsed is not None
    assert (parsed.language.NAME, parsed.root.type, parsed.root.has_error) == ("javascript", "program", False)
    assert parse("python", "README.md", "def f(): pass\n") is None


def test_several_threads_can_read_files_at_once() -> None:
    texts = [f"class A{count}:\n" + "    def f(self): pass\n" * count for count in range(1, 60)]

    def read(text: str) -> list[str]:
        return [each.name for each in definitions("python", "a.py", text)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, texts))
    assert found == [read(text) for text in texts]


def test_unknown_language_is_a_user_error() -> None:
    with pytest.raises(UserError, match="klingon"):
        definitions("klingon", "a.kl", "")


def test_deep_nesting_is_read() -> None:
    assert definitions("c", "a.c", "{" * 5000) == ()
    deep = "\n".join(" " * depth + f"def f{depth}():" for depth in range(60)) + " pass\n"
    assert len(definitions("python", "a.py", deep)) == 60


@pytest.mark.parametrize("language", LANGUAGES)
@settings(deadline=None)
@given(data=st.data())
def test_definitions_of_any_text_nest(language: str, data: st.DataObject) -> None:
    sample = SOURCES[language]
    cut = data.draw(st.integers(0, len(sample)))
    text = sample[:cut] + data.draw(st.text()) + sample[cut:]
    path = f"a{sorted(LANGUAGES[language].SUFFIXES)[0]}"
    found = definitions(language, path, text)
    assert all(1 <= each.first <= each.last <= text.count("\n") + 1 for each in found)
    assert [each.first for each in found] == sorted(each.first for each in found)
    assert all(each.name and each.kind in {"function", "class"} for each in found)
