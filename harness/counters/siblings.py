"""Copies of tests beside their originals: which there can be, their names in one run, and their results."""

import random
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from assay.harness.benchmarks import find_benchmark
from assay.harness.counters.runs import Note, TestRun, summarise
from assay.harness.counters.twins import AssertedFile
from assay.harness.domain import CounterSet, Outcome, Siblings, Status, TestPlan
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.languages.syntax import definitions
from assay.harness.reports import read_named
from assay.harness.runners import find as find_runner
from assay.harness.runners.base import DoubledFile, DoubledTest, camel_name, snake_name

SEED = "beside"  # of the runs with gold; a patch's has another
_MARK = re.compile(r"@(snake|camel):\d+@")
_WORD = re.compile(r"\w+")


def try_siblings(run: TestRun, counters: CounterSet, edited: Mapping[str, str], note: Note) -> Siblings:
    """Return the counter-tests that can stand beside their originals, with the gold patch.

    Two runs show it. In the first the copies have the text of their originals, and pass; in the second they fail. Gold
    is resolved in both: no copy changes what other tests find. Raises as ``TestRun.run``.

    Args:
        edited: the texts of the files with the counter-tests in the place of their originals.
    """
    kept = {test.label for test in counters.tests}
    for texts, expected in ((counters.files, Status.PASSED), (edited, Status.FAILED)):
        siblings = draw_siblings(_place(run, counters, texts, kept), SEED)
        if not siblings.names:
            return Siblings()
        note(f"running {len(siblings.names)} copies of tests beside their originals")
        found = replace(run, task=replace(run.task, siblings=siblings)).run_gold({})
        instance = run.task.instance
        if find_benchmark(instance.rule).judge(instance, found.evidence).outcome is not Outcome.RESOLVED:
            return Siblings()
        statuses = read_siblings(run.task.plan, found, siblings)
        kept = {label for label, status in statuses.items() if status is expected}
    return _place(run, counters, edited, kept)


def draw_siblings(siblings: Siblings, seed: str) -> Siblings:
    """Give copies of tests the names that a seed draws."""
    dice, drawn = random.Random(seed), dict[str, str]()
    for mark in _MARK.finditer(" ".join(siblings.words)):
        while mark[0] not in drawn:
            name = snake_name(dice) if mark[1] == "snake" else camel_name(dice)
            drawn |= {mark[0]: name} if name not in drawn.values() else {}

    def fill(text: str) -> str:
        return _MARK.sub(lambda mark: drawn.get(mark[0], mark[0]), text)

    return Siblings(
        files={fill(path): fill(text) for path, text in siblings.files.items()},
        names={label: fill(name) for label, name in siblings.names.items()},
        words=tuple(map(fill, siblings.words)),
        argument=fill(siblings.argument),
        targets=tuple(map(fill, siblings.targets)),
    )


def read_siblings(plan: TestPlan, found: Evaluation, siblings: Siblings) -> dict[str, Status]:
    """Return the status of the copy of each label's test; none at all if no copy is in the results."""
    tests = read_named(plan, found.report_files, found.output.decode(errors="replace"), siblings.words)
    if not tests:
        return {}
    return {label: summarise(_choose_results(name, tests)) for label, name in siblings.names.items()}


def _choose_results(name: str, tests: Mapping[str, Status]) -> set[Status]:
    """Return the statuses of a copy: with the parameters that the label has, if results have them."""
    own = {test: status for test, status in tests.items() if _WORD.findall(name)[0] in _WORD.findall(test)}
    return {status for test, status in own.items() if name in test} or {*own.values()}


def _place(run: TestRun, counters: CounterSet, texts: Mapping[str, str], labels: Collection[str]) -> Siblings:
    plan, language = run.task.plan, run.task.instance.language
    if not (plan.runner and labels):
        return Siblings()
    files = {path: AssertedFile.read(language, path, texts[path], random.Random(SEED)) for path in texts}
    read = {path: (file, _list_functions(language, path, file.text)) for path, file in files.items() if file}
    chosen = dict[str, list[DoubledTest]]()
    for test in (each for each in counters.tests if each.label in labels):
        found = [each for path in test.edits if path in read for each in _find_doubled(test.label, path, *read[path])]
        for clue in (_is_in_path, _is_in_file, _is_in_class):
            found = [each for each in found if clue(test.label, *each)] or found
        if len(found) == 1:
            chosen.setdefault(found[0][0], []).append(found[0][1])
    doubled = [DoubledFile(path, counters.files[path], texts[path], tuple(tests)) for path, tests in chosen.items()]
    return find_runner(plan.runner).place_siblings(doubled)


def _list_functions(language: str, path: str, text: str) -> dict[int, str]:
    return {each.first: each.name for each in definitions(language, path, text) if each.kind == "function"}


def _find_doubled(
    label: str, path: str, file: AssertedFile, functions: Mapping[int, str]
) -> Iterator[tuple[str, DoubledTest]]:
    for test in file.find_tests(label):
        yield path, DoubledTest(label, functions.get(test.first, test.name), test.first, test.last)


def _is_in_path(label: str, path: str, _test: DoubledTest) -> bool:
    return path in label


def _is_in_file(label: str, path: str, _test: DoubledTest) -> bool:
    return path.rpartition("/")[2].partition(".")[0] in _WORD.findall(label)


def _is_in_class(label: str, _path: str, test: DoubledTest) -> bool:
    return test.name.rpartition(".")[0].rpartition(".")[2] in _WORD.findall(label)
