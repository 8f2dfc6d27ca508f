"""What every language owes the harness, whoever wrote its module."""

import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness import languages
from assay.harness.domain import Instance, Recipe
from assay.harness.errors import PluginError
from assay.harness.evaluation.protection import put_back
from assay.harness.languages import LANGUAGES, Language, find, load_grammar
from assay.harness.reports import FORMATS, IDS
from assay.harness.runners import RUNNERS
from assay.harness.runners.base import PLACEHOLDER
from assay.instances.environments.plan import make_plan
from assay.instances.toolchains.versions import load_versions
from tables import read_tables

TEXTS = read_tables(__file__)

PROGRAMS = {
    "python": "answer = 42\n",
    "java": "class A { int answer() { return 42; } }\n",
    "kotlin": "class A {\n    fun answer(): Int = 42\n}\n",
    "typescript": "const answer: number = 42;\n",
    "javascript": "const answer = 42;\n",
    "go": "package a\n\nfunc answer() int { return 42 }\n",
    "rust": "fn answer() -> i32 { 42 }\n",
    "c": "int answer(void)\n{ return 42; }\n",
    "cpp": "auto answer() -> int\n{ return [] { return 42; }(); }\n",
    "php": "<?php function answer() { return 42; }\n",
    "ruby": "def answer = 42\n",
}
MEMBERS = {*Language.__annotations__, *(name for name in vars(Language) if name[0].islower())}


each_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=LANGUAGES)


def test_every_module_of_the_folder_is_listed_under_its_name() -> None:
    modules = {each.name for each in pkgutil.iter_modules(languages.__path__)} - {
        "base",
        "copying",
        "differences",
        "grammars",
        "manifests",
        "recorders",
        "inner_tests",
        "syntax",
    }
    assert modules == set(LANGUAGES)
    assert all(name == language.NAME for name, language in LANGUAGES.items())


@each_language
def test_language_has_every_member(language: Language) -> None:
    assert {"NAME", "GRAMMAR", "is_test_file", "normalise"} < MEMBERS
    assert not [name for name in MEMBERS if not hasattr(language, name)]
    assert all(isinstance(suffix, str) and suffix.startswith(".") for suffix in language.SUFFIXES)
    assert language.SUFFIXES
    assert 0 in language.FINISHED
    assert all(0 <= status < 128 for status in language.FINISHED), "a signal ends no work"
    for patterns in (language.MANIFESTS, language.BUILD_PRODUCTS):
        assert isinstance(patterns, tuple)
        assert all(isinstance(pattern, str) for pattern in patterns)


def test_suffix_belongs_to_one_language() -> None:
    for one, other in combinations(LANGUAGES.values(), 2):
        assert ({".h"} if {one.NAME, other.NAME} == {"c", "cpp"} else set()) == one.SUFFIXES & other.SUFFIXES


@each_language
def test_default_formats_and_toolchain_are_known(language: Language) -> None:
    assert load_versions(language.NAME).default in load_versions(language.NAME).versions
    assert language.DEFAULT_REPORT in FORMATS
    assert language.DEFAULT_LOG in FORMATS
    assert language.DEFAULT_ID in IDS
    assert language.DEFAULT_RUNNER in {"", *RUNNERS}
    assert bool(language.DEFAULT_RUNNER) or PLACEHOLDER not in language.TEST_COMMAND


@each_language
def test_patterns_of_lines_match_a_program(language: Language) -> None:
    lines = language.LINES
    assert lines.comments
    program = PROGRAMS[language.NAME]
    found = {match[1] for pattern in lines.definitions for match in re.finditer(pattern, program, re.MULTILINE)}
    assert {"answer", "A"} & found, "a definition of the program is found"
    assert not lines.condition or re.compile(lines.condition).groups == 3
    assert "{}" in lines.negation
    assert re.compile(lines.kept_results)
    assert re.search(language.TEST_SIGN, "nothing") is None
    assert not language.TEST_NAME or re.compile(language.TEST_NAME).groups
    assert not language.SURE_NAME or re.compile(language.SURE_NAME).groups == 1
    others = [each for each in LANGUAGES.values() if each is not language]
    assert not any(each in other.ALIASES | {other.NAME} for each in language.ALIASES for other in others)


@each_language
def test_syntax_names_nodes_of_the_grammar(language: Language) -> None:
    import tree_sitter

    syntax = language.SYNTAX
    kin = (each for each in LANGUAGES.values() if each.DOCKERFILES == language.DOCKERFILES)  # C's words are C++'s
    grammars = [load_grammar(language), *map(load_grammar, kin)]
    sets = [getattr(syntax, each.name) for each in fields(syntax) if isinstance(getattr(syntax, each.name), frozenset)]
    for kind in frozenset().union(*sets):
        assert any(grammar.id_for_node_kind(kind, True) for grammar in grammars), kind
    assert syntax.blocks
    assert syntax.sequences
    if syntax.mentions:
        query = tree_sitter.Query(grammars[0], syntax.mentions)
        assert {query.capture_name(number) for number in range(query.capture_count)} <= {"calls", "inherits"}


@each_language
def test_program_is_parsed_and_has_no_mistake(language: Language) -> None:
    import tree_sitter

    tree = tree_sitter.Parser(load_grammar(language)).parse(PROGRAMS[language.NAME].encode())
    assert not tree.root_node.has_error
    assert tree.root_node.child_count > 0
    assert language.mistake(f"answer{min(language.SUFFIXES)}", PROGRAMS[language.NAME]) == ""


def test_registry_imports_no_grammar() -> None:
    program = (
        "import sys; import assay.harness.languages; print([name for name in sys.modules if 'tree_sitter' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@each_language
def test_steering_names_and_manifests_that_test_runs_read_are_runner_configuration(language: Language) -> None:
    for name in language.STEERING_NAMES:
        assert language.runner_config(name) or language.runner_config(f"{name}/x"), name

    for pattern in language.MANIFESTS if language.NAME != "python" else ():  # its packages are installed before
        assert language.runner_config(pattern.replace("*", "x")), pattern


@each_language
def test_source_file_is_neither_test_nor_configuration(language: Language) -> None:
    for suffix in language.SUFFIXES:
        for path in (f"core{suffix}", f"src/core{suffix}", f"lib/deep/down/core{suffix}", f"src/build/target{suffix}"):
            assert not language.is_test_file(path), path
            assert not language.runner_config(path), path
            assert not any(fnmatchcase(path, pattern) for pattern in language.BUILD_PRODUCTS), path


PART = st.sampled_from(
    ["src", "test", "tests", "testdata", "lib", "a b", "é", "..", "x.test.js", "ATest.java", "a_test.go"]
)
PATHS = st.lists(PART, min_size=1, max_size=4).map("/".join)


@each_language
@given(paths=st.lists(PATHS, max_size=5))
def test_any_path_is_classified(language: Language, paths: list[str]) -> None:
    for path in paths:
        assert language.is_test_file(path) in {True, False}
        assert language.runner_config(path) in {True, False}
    targets = language.test_targets(paths)
    assert len(set(targets)) == len(targets)
    assert language.test_targets([*paths, *paths]) == targets
    assert not language.test_targets(path for path in paths if not language.is_test_file(path))


@each_language
@given(test_id=st.text())
def test_normalise_is_idempotent(language: Language, test_id: str) -> None:
    once = language.normalise(test_id)
    assert language.normalise(once) == once


TINY = TEXTS["tiny"]


@pytest.fixture
def eleventh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language that another distribution brings along: a module, and an entry point that names it."""
    (tmp_path / "far_away_tiny.py").write_text(TINY)
    described = tmp_path / "far_away-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: far-away\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[assay.languages]\ntiny = far_away_tiny\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "tiny"
    LANGUAGES.parts.pop("tiny", None)
    sys.modules.pop("far_away_tiny", None)


def test_language_of_another_distribution_works(eleventh: str) -> None:
    instance = Instance(
        id="acme__tiny-1",
        repo="acme/tiny",
        base_commit="0" * 40,
        language=eleventh,
        problem_statement="It is too small.",
        gold_patch="",
        test_patch="",
        fail_to_pass=("checks/a::b",),
        pass_to_pass=(),
        created_at="2026-01-01T00:00:00Z",  # type: ignore[arg-type]
    )
    plan = make_plan(instance, Recipe(repo="acme/tiny", language=eleventh))
    assert plan.command == "exec tiny --junit /assay/report\n"
    assert plan.report_format == "junit_xml"
    changed = ["core.tiny", "tiny.lock", "out/core.o", "checks/a.tiny"]
    assert sorted(put_back(instance, plan, changed).paths) == ["checks/a.tiny", "out/core.o", "tiny.lock"]
    assert find(eleventh) is sys.modules["far_away_tiny"]
    assert not [name for name in MEMBERS if not hasattr(find(eleventh), name)]


def test_language_that_is_not_there_says_so(eleventh: str, tmp_path: Path) -> None:
    (tmp_path / "far_away_tiny.py").unlink()
    with pytest.raises(PluginError, match=r"language 'tiny' cannot be loaded: .*far_away_tiny"):
        find(eleventh)
    with pytest.raises(PluginError, match=r"unknown language 'cobol'; known are .*python.*tiny"):
        find("cobol")
