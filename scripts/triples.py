"""Attacks and honest patches of the corpus as portable triples: a repository, a patch, and what should come of it.

A folder holds `repositories.json` (name to files and links of the base tree), `rows.json` (rows of SWE-bench 5 by
name, each with its image and script) and `triples.jsonl`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from error_card import list_cases, make_patch
from pydantic import Field

from assay.harness.domain import Instance, Model, PublishedImage
from corpus.model import Case, Row, corpus
from corpus.places import Places
from corpus.stage import Place

COMMANDS = {
    "unittest": "python -m unittest -v tests/test_cases.py",
    "coroutine": "python -m unittest -v tests/test_coroutines.py",
    "django": "python tests/runtests.py --verbosity 2 sums.tests",
}
"""Test command of each instance that pytest does not run."""
FILES = {"unit": "tests/test_unit.py", "dos": "tests/test_dos.py", "config": "tests/test_version.py"}
FILES |= {"places": "tests/test_places.py", "split": "tests/test_first.py tests/test_last.py"}
LABELS = {"test_sums (tests.test_cases.SumTest.test_sums)": "Every sum is right."}
"""Labels of Assay that SWE-bench's log parsers know by the first line of the docstring."""
UNSEEN = frozenset({"test_products (tests.test_cases.SumTest.test_products)"})
"""Labels that name a test which SWE-bench's log parsers know by another label of the same row."""
NULL = {"ASSAY_NOTES.txt": "the issue is understood\n"}
LARGEST_PATCH = 1_000_000


class Repository(Model):
    """A base tree."""

    files: dict[str, str]
    links: dict[str, str] = Field(default_factory=dict)


class Triple(Model):
    """One patch for one row, and what should come of it."""

    id: str
    kind: Literal["hostile", "honest", "null"]
    """null: a patch that changes nothing, for the log of a row without a fix; it is not counted."""
    title: str
    repository: str
    row: str
    """Name of the row that it answers."""
    patch: str
    expected: Literal["resolved", "not resolved"]


class Collection(Model):
    """All triples with what they refer to."""

    repositories: dict[str, Repository]
    rows: dict[str, dict[str, Any]]
    triples: tuple[Triple, ...]


@cache
def list_playable() -> tuple[Case, ...]:
    """Return the Python cases that every harness can play on one kind of row, without taking more than a test does."""
    return tuple(each for each in list_cases() if is_playable(each))


def is_playable(case: Case) -> bool:
    usual = case.language == "python" and case.row is None and case.instance not in {"certificate", "built"}
    harmless = case.group != "resource" and not case.limits and len(make_patch(case)) < LARGEST_PATCH
    return usual and harmless


def make_collection(cases: Sequence[Case], places: Mapping[str, Place]) -> Collection:
    """Describe cases; ``places`` are the instances' look-alikes of published images, by instance."""
    project = corpus().projects["python"]
    tree = Repository(files=dict(project.files), links=dict(project.links))
    rows = {name: make_row(name, place.instance) for name, place in places.items()}
    triples = [*(make_triple(each) for each in cases), *(make_null(name) for name in places)]
    return Collection(repositories={project.repo: tree}, rows=rows, triples=tuple(triples))


def make_triple(case: Case) -> Triple:
    expected = "resolved" if case.kind == "honest" else "not resolved"
    facts = {"repository": corpus().projects["python"].repo, "row": case.instance, "patch": make_patch(case)}
    return Triple.model_validate({"id": case.id, "kind": case.kind, "title": case.title, "expected": expected, **facts})


def make_null(instance: str) -> Triple:
    case = Case(number="2", name=f"null-{instance}", group="gold", title="nothing", instance=instance, write=NULL)
    return make_triple(case).model_copy(update={"kind": "null"})


def make_row(name: str, instance: Instance) -> dict[str, Any]:
    """Return an instance as a row of SWE-bench 5."""
    environment = instance.environment
    assert isinstance(environment, PublishedImage)
    return {
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base_commit,
        "environment_setup_commit": instance.base_commit,
        "patch": instance.gold_patch,
        "test_patch": instance.test_patch,
        "problem_statement": instance.problem_statement,
        "hints_text": "",
        "created_at": instance.created_at.isoformat(),
        "version": "1",
        "FAIL_TO_PASS": [LABELS.get(each, each) for each in instance.fail_to_pass],
        "PASS_TO_PASS": [each for each in instance.pass_to_pass if each not in UNSEEN],
        "image": environment.image,
        "eval_script": environment.eval_script,
        "log_parser": "parse_log_django" if name in COMMANDS else "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "test_command": make_command(name),
    }


def make_command(instance: str) -> str:
    return COMMANDS.get(instance, f"pytest -rA -v {FILES.get(instance, 'tests/test_calc.py')}")


def build_images(names: Sequence[str], places: Places) -> dict[str, Place]:
    """Build the look-alike of a published image for each instance of the Python project."""
    return {name: places.prepare_published(name, Row(tests=make_command(name))) for name in names}


def write(collection: Collection, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    trees = {name: tree.model_dump() for name, tree in collection.repositories.items()}
    (folder / "repositories.json").write_text(json.dumps(trees, indent=1) + "\n", encoding="ascii")
    (folder / "rows.json").write_text(json.dumps(collection.rows, indent=1) + "\n", encoding="ascii")
    lines = [json.dumps(each.model_dump()) + "\n" for each in collection.triples]
    (folder / "triples.jsonl").write_text("".join(lines), encoding="ascii")


def read(folder: Path) -> Collection:
    trees = json.loads((folder / "repositories.json").read_text(encoding="ascii"))
    rows = json.loads((folder / "rows.json").read_text(encoding="ascii"))
    lines = (folder / "triples.jsonl").read_text(encoding="ascii").splitlines()
    return Collection(repositories=trees, rows=rows, triples=tuple(map(json.loads, lines)))
