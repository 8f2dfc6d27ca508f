import pytest

from assay.agents.solvers.agentless import prompts as agentless_prompts
from assay.agents.solvers.ast_search import prompts as ast_search_prompts
from assay.agents.solvers.best_of import prompts as best_of_prompts
from assay.agents.solvers.tree_search.actions import EDIT_MANUAL
from assay.harness.edits.edit_grammars import clean_path, parse_search_replace, parse_tagged
from assay.harness.edits.file_edits import FileEdit
from tables import read_tables

TEXTS = read_tables(__file__)

TWO = TEXTS["two"]


def test_block_belongs_to_the_path_above_it() -> None:
    parsed = parse_search_replace(TWO)
    assert parsed.edits == (
        FileEdit("src/a.py", "    if x:\n        go()", "    if not x:\n        go()"),
        FileEdit("src/a.py", "y = 1", ""),
        FileEdit("b.go", "", "package b"),
    )
    assert parsed.problems == ()


def block(*lines: str, path: str = "### a.py\n") -> str:
    return path + "\n".join(["<<<<<<< SEARCH", *lines, ">>>>>>> REPLACE"])


def test_block_with_two_separators_is_malformed() -> None:
    parsed = parse_search_replace(block("a", "=======", "b", "=======", "c") + "\n" + block("d", "=======", "e"))
    assert parsed.edits == (FileEdit("a.py", "d", "e"),)
    assert len(parsed.problems) == 1
    assert "2 separator lines" in parsed.problems[0]


def test_leading_dots_and_equal_blocks_are_removed() -> None:
    assert parse_search_replace(block("...", "a", "=======", "...", "b")).edits == (FileEdit("a.py", "a", "b"),)
    assert len(parse_search_replace(block("a", "=======", "b") * 2).edits) == 1


def test_malformed_block_is_reported() -> None:
    assert "no path" in parse_search_replace(block("a", "=======", "b", path="")).problems[0]
    cut_off = parse_search_replace("### a.py\n<<<<<<< SEARCH\na\n=======\nb")
    assert cut_off.edits == ()
    assert "no end" in cut_off.problems[0]
    nested = parse_search_replace("### a.py\n<<<<<<< SEARCH\na\n" + block("c", "=======", "d", path=""))
    assert nested.edits == (FileEdit("a.py", "c", "d"),)
    assert len(nested.problems) == 1


def test_heading_inside_a_block_is_code() -> None:
    edit = parse_search_replace(block("### not a path", "=======", "x")).edits
    assert edit == (FileEdit("a.py", "### not a path", "x"),)


def test_tagged_edits_are_read() -> None:
    text = (
        "```\n<file>/testbed/a.py</file>\n<original>\n    x\n</original>\n<patched>\n    y\n\n    z\n</patched>\n```\n"
    )
    assert parse_tagged(text, "/testbed").edits == (FileEdit("a.py", "    x", "    y\n\n    z"),)
    assert parse_tagged(text.replace("<file>/testbed/a.py</file>", "")).problems != ()


def test_clean_path_removes_marks_and_root() -> None:
    for said in ("`a/b.py`", "./a/b.py", "/testbed/a/b.py", " **a/b.py** ", "'a/b.py'"):
        assert clean_path(said, "/testbed") == "a/b.py"
    assert clean_path("/somewhere/a.py", "/somewhere") == "a.py"
    assert clean_path("/etc/a.py") == "/etc/a.py"


@pytest.mark.parametrize(
    "prompt",
    [agentless_prompts.TEXTS["repair"], best_of_prompts.TEXTS["editing"], EDIT_MANUAL],
    ids=["agentless", "best_of", "tree_search"],
)
def test_example_in_a_prompt_is_an_edit(prompt: str) -> None:
    (edit,) = parse_search_replace(prompt).edits
    assert edit.path
    assert edit.search
    assert edit.replace


def test_example_in_the_tagged_prompt_is_an_edit() -> None:
    assert len(parse_tagged(ast_search_prompts.TEXTS["patch"]).edits) == 1
