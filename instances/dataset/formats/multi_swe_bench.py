"""Multi-SWE-bench rows: a pull request, and the results of all tests at three stages (``grading.stages``).

A row's image has a name by a rule, and holds the script that tests a patch in it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.harness.benchmarks.multi_swe_bench import rule
from assay.harness.benchmarks.multi_swe_bench.rule import LABELS, PARTS, RESULTS
from assay.harness.domain import DatasetRef, Instance, PublishedImage, Rule, Stages, Status
from assay.harness.errors import brief
from assay.harness.exports.multi_swe_bench import get_number
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.languages import assay_name, guess_language

NAME = "multi-swe-bench"
RULES: tuple[Rule, ...] = (Rule.MULTI_SWE_BENCH,)

IMAGE = "mswebench/{org}_m_{repo}:pr-{number}"
SCRIPT = "/home/fix-run.sh"  # file of the image

TEST_IDS = {"go": "subtest"}
"""How labels name tests, by language; the benchmark cuts Go's names at their last slash."""
_FILE_AND_TITLE = re.compile(r"\S+\.[cm]?[jt]sx?:.*\S", re.DOTALL)
COLUMNS = {"id": "instance_id", "repo": "repo", "gold_patch": "fix_patch", "base_commit": "base.sha"}

HELD = {*("instance_id", "fix_patch", "test_patch", "hints", "created_at", "lang"), *RESULTS.values(), *LABELS}
"""Columns that an instance holds completely; it holds parts of ``repo``, ``base`` and ``resolved_issues``."""

NESTED = frozenset({"base", "resolved_issues", *RESULTS.values(), *LABELS})

_PULL_REQUEST = re.compile(r"([^/]+)/([^/:]+):pr-(\d+)")

matches = columns.make_matcher("fix_patch", "fix_patch_result")


def find_id(row: Row) -> str:
    """Return ``owner__name-number``, in whatever way the row writes it."""
    if given := row_id(row):
        return _PULL_REQUEST.sub(r"\1__\2-\3", given)
    parts = [row.get(name) for name in ("org", "repo", "number")]
    return "{}__{}-{}".format(*parts) if all(parts) else ""


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its labels must follow from its three results."""
    # CSV holds the nested columns as JSON text
    decoded = {name: _value(value) if name in NESTED else value for name, value in row.items()}
    row = {**decoded, "instance_id": find_id(row)}
    number = row.get("number")
    if isinstance(number, bool) or not re.fullmatch(r"\d+", str(number)):
        raise row_error(row, "number", f"is {brief(number)}; write the pull request's number")
    stages = Stages(**{stage: _results(row, field) for stage, field in RESULTS.items()})
    _check_labels(row, stages)
    sets = rule.classify(stages)
    patches, base = (columns.text(row, "fix_patch"), columns.text(row, "test_patch")), row.get("base")
    if not isinstance(base, Mapping):
        raise row_error(row, "base", f"is {brief(base)}; write an object with a sha")
    repo = f"{columns.text(row, 'org')}/{columns.text(row, 'repo')}"
    language = assay_name(columns.text(row, "lang", required=False)) or guess_language(repo, *patches)
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=repo,
        base_commit=columns.commit(row, "base.sha", base.get("sha") or ""),
        language=language,
        problem_statement=_statement(row),
        gold_patch=patches[0],
        test_patch=patches[1],
        fail_to_pass=(*sets["f2p"], *sets["s2p"], *sets["n2p"]),
        pass_to_pass=sets["p2p"],
        created_at=columns.moment(row, "created_at", required=False),
        hints=columns.text(row, "hints", required=False),
        environment=PublishedImage(image=IMAGE.format_map(row).lower(), eval_script="", script_file=SCRIPT),
        test_id=_test_id(language, (*sets["f2p"], *sets["p2p"])),
        rule=RULES[0],
        stages=stages,
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def _test_id(language: str, labels: Iterable[str]) -> str:
    """Return how labels name tests; those of some repositories with jest begin with the file."""
    return "file_title" if any(map(_FILE_AND_TITLE.fullmatch, labels)) else TEST_IDS.get(language, "")


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row, with the pull request of the row that it came from."""
    kept = columns.read_origin(instance, NAME)
    org, _, repo = instance.repo.partition("/")
    stages = instance.stages or Stages()
    row = {"org": org, "repo": repo, "number": get_number(instance), "state": "closed", "title": "", "body": None}
    row |= {"lang": instance.language} | kept | {"org": org, "repo": repo, "instance_id": instance.id}
    row["base"] = {"label": "", "ref": "", **kept.get("base", {}), "sha": instance.base_commit}
    if not kept or _statement(row) != instance.problem_statement:
        row["resolved_issues"] = [{"number": row["number"], "title": "", "body": instance.problem_statement}]
    row |= {"fix_patch": instance.gold_patch, "test_patch": instance.test_patch, **columns.iso(instance)}
    row |= rule.labels(stages) | {field: rule.results(getattr(stages, stage)) for stage, field in RESULTS.items()}
    return row | ({"hints": instance.hints} if instance.hints else {})


def _value(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _statement(row: Row) -> str:
    """Return titles and bodies of the issues that the pull request resolves; both may be null."""
    issues = row.get("resolved_issues")
    if not isinstance(issues, list) or not issues or not all(isinstance(issue, Mapping) for issue in issues):
        raise row_error(row, "resolved_issues", f"is {brief(issues)}; write a list of issues with title and body")
    texts = [part for issue in issues for part in (issue.get("title"), issue.get("body")) if part]
    return "\n\n".join(map(str, texts))


def _results(row: Row, field: str) -> dict[str, Status]:
    """Return one stage; its counts must match its lists, and no test may be in two of them."""
    value = row.get(field)
    if not isinstance(value, Mapping):
        raise row_error(row, field, f"is {brief(value)}; write counts and lists of passed, failed and skipped tests")
    stage: dict[str, Status] = {}
    for part, status in PARTS.items():
        for test in _part(row, field, value, part):
            if stage.setdefault(test, status) is not status:
                raise row_error(row, field, f"{test[:60]!r} is in two of its lists; keep one")
    return stage


def _part(row: Row, field: str, value: Mapping[str, Any], part: str) -> list[str]:
    tests, count = value.get(f"{part}_tests"), value.get(f"{part}_count")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise row_error(row, f"{field}.{part}_tests", f"is {brief(tests)}; write a list of test names")
    if count != len(tests):
        problem = f"is {count}, but {part}_tests has {len(tests)}; correct the one that is wrong"
        raise row_error(row, f"{field}.{part}_count", problem)
    return tests


def _check_labels(row: Row, stages: Stages) -> None:
    """Compare the row's label sets with the sets that follow from its three results, test by test."""
    wanted = rule.labels(stages)
    for field, tests in wanted.items():
        given = row.get(field)
        if not isinstance(given, Mapping):
            raise row_error(row, field, f"is {brief(given)}; write an object of tests with run, test and fix")
        problem = next(_differences(given, tests), "")
        if problem:
            raise row_error(row, field, f"{problem}; correct it or the results")
    problem = rule.explain_invalid(stages)
    if problem:
        raise row_error(row, RESULTS["fix"], f"makes no valid instance: {problem}")


def _differences(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for test in sorted(wanted.keys() - given.keys()):
        yield f"lacks {test[:60]!r}, which belongs there by the three results"
    for test, stages in given.items():
        if test not in wanted:
            yield f"has {test[:60]!r}, which does not belong there by the three results"
        elif dict(stages) != wanted[test] if isinstance(stages, Mapping) else True:
            yield f"has other results for {test[:60]!r} than the three results"
