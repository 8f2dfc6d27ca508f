"""Tries a recipe: builds its images and runs the whole suite of a tree, without any patch."""

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from assay.harness import languages
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import FAILING, PASSING, Evidence, Instance, Prediction, Recipe, Status
from assay.harness.domain.evidence import ApplyStatus
from assay.harness.engines.base import Engine
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.patches.gate import MAX_FILES
from assay.harness.runs.attempt import ATTEMPTS, PAUSE, attempts
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.plan import make_plan
from assay.instances.setup.project import Project

READ = 2_000_000  # characters at the end of a log in which causes are looked for
UNCOLLECTED = re.compile(r"^_*\s*ERROR collecting (\S+)", re.MULTILINE)
"""How pytest names a test module that it cannot import."""
UNLOADED = re.compile(r"[\w./@-]+\.[cm]?[jt]sx?")
"""How a file that jest or vitest cannot load is named among the tests: by its path alone."""
FILES = re.compile(r"Test Suites:.*?(\d+) total|Test Files .*\((\d+)\)")
"""How jest and vitest count the files of a run, colours between the words or not."""
REACTOR = re.compile(r"^\[INFO\] (?!BUILD )\S.* \.* ?(SUCCESS|FAILURE|SKIPPED) ?(?:\[.*)?$", re.MULTILINE)
"""How Maven sums up each module of a build."""
PLAIN = re.compile(r"[\w./+@-]+", re.ASCII)
"""A path that git writes without quotes."""
STALLED = "the tests did not end in time"
UNAPPLIED = "the sources cannot be taken away"
NO_TESTS = "the runner found no test of the project"


@dataclass(frozen=True, slots=True)
class TriedRecipe:
    """The result of building with a recipe and running the suite once."""

    problem: str = ""
    """Why there are no results, in a line; empty if there are."""
    output: str = ""
    """What the failed step, or the tests, printed."""
    tests: Mapping[str, Status] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def passed(self) -> frozenset[str]:
        return frozenset(name for name, status in self.tests.items() if status in PASSING)

    @property
    def counted(self) -> frozenset[str]:
        """The tests that passed or failed; skipped ones count neither way."""
        return self.passed | {name for name, status in self.tests.items() if status in FAILING}

    @property
    def share(self) -> float:
        """Share of the collected tests that passed, from 0 to 1.

        Never more than the share of test modules that could be collected or loaded, or of Maven's modules that were
        built: the others hide any number of tests.
        """
        if not self.counted:
            return 0.0
        lost = set(UNCOLLECTED.findall(self.output))
        modules = {name.partition("::")[0] for name in self.counted} | lost
        built = REACTOR.findall(self.output) or ["SUCCESS"]
        of_maven = built.count("SUCCESS") / len(built)
        unloaded = sum(bool(UNLOADED.fullmatch(name)) for name in self.counted - self.passed)
        files = sum(int(one or other) for one, other in FILES.findall(self.output)) or len(self.counted)
        of_files = 1 - unloaded / max(files, unloaded, 1)
        return min(len(self.passed) / len(self.counted), 1 - len(lost) / len(modules), of_maven, of_files)

    def measure_share(self, least: int) -> float:
        """Return the share of the tests that passed, of ``least`` if fewer were collected."""
        return min(self.share, len(self.passed) / least) if least else self.share


class Trial(Protocol):
    """Tries recipes of one tree."""

    def run(self, recipe: Recipe, seconds: float, patch: str = "") -> TriedRecipe:
        """Build with a recipe, unless it is built, and run the suite for at most ``seconds``; raises EngineError.

        ``patch`` is applied before the suite runs.
        """
        ...


@dataclass(frozen=True, slots=True)
class BuiltTrial:
    """Tries recipes on an engine."""

    instance: Instance
    """The tree: without patches and labels."""
    builder: ImageBuilder
    engine: Engine

    def run(self, recipe: Recipe, seconds: float, patch: str = "") -> TriedRecipe:
        """Build and run, up to three times if the engine fails; see the Protocol."""
        for number in attempts(threading.Event(), PAUSE):
            try:
                return self._run(recipe, seconds, patch)
            except RunStopped:
                raise
            except EngineError:
                if number == ATTEMPTS:
                    raise
        raise AssertionError  # the last attempt returns or raises

    def _run(self, recipe: Recipe, seconds: float, patch: str) -> TriedRecipe:
        began = time.monotonic()
        instance = self.instance.model_copy(update={"environment": recipe})
        try:
            plan = make_plan(instance, recipe)
            limits = plan.limits.model_copy(update={"seconds": max(1.0, seconds)})
            plan = plan.model_copy(update={"limits": limits, "test_id": "node"})  # one name for each test
            prediction = Prediction(instance_id=instance.id, patch=patch)
            label_test = find_benchmark(instance.rule).label_test
            task = Task(instance, prediction, plan, runs_empty=True, label_test=label_test)
            with self.builder.lone().image(instance) as image:
                done = evaluate(task, image, self.engine, {"assay.instance": instance.id})
        except EnvironmentFailure as error:
            return TriedRecipe(error.problem, _whole(error), seconds=time.monotonic() - began)
        output, tests = done.output.decode(errors="replace")[-READ:], done.evidence.report.tests
        return TriedRecipe(_problem(done), output, tests, seconds=time.monotonic() - began)


def write_removal(project: Project) -> str:
    """Return a patch that moves a project's sources out of the way, and none of its tests."""
    language = languages.find(project.language)
    sources = [path for path in project.paths if PurePosixPath(path).suffix in language.SUFFIXES]
    own = [path for path in sources if not (language.is_test_file(path) or language.runner_config(path))]
    return "".join(
        f"diff --git a/{path} b/{path}.moved\nsimilarity index 100%\nrename from {path}\nrename to {path}.moved\n"
        for path in filter(PLAIN.fullmatch, own[:MAX_FILES])
    )


def _problem(done: Evaluation) -> str:
    evidence = done.evidence
    if evidence.apply.status in {ApplyStatus.REJECTED, ApplyStatus.CONFLICT}:
        return UNAPPLIED
    if evidence.timed_out:
        return STALLED
    if evidence.oom_killed:
        return "the tests ran out of memory"
    if not evidence.report.tests and any(each.reported is not Status.MISSING for each in evidence.tripwires.values()):
        return NO_TESTS
    if not evidence.report.tests:
        return f"no test result was found (exit status {evidence.exit_code})"
    return _find_early_end(evidence)


def _find_early_end(evidence: Evidence) -> str:
    """Return a problem where a runner failed and its tests did not; tripwires fail by design."""
    if not evidence.exit_code or evidence.tripwires or FAILING & {*evidence.report.tests.values()}:
        return ""
    return f"no test has failed, and the tests ended with exit status {evidence.exit_code}"


def _whole(error: EnvironmentFailure) -> str:
    """Return the log of a failed build as far as it is there, or what the error carries of it."""
    log = Path(error.log_path) if error.log_path else None
    text = log.read_text(encoding="utf-8", errors="replace") if log and log.is_file() else ""
    return f"{error.problem}\n{text or error.tail}"[-READ:]
