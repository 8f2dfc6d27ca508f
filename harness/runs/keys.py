"""The content a saved result depends on: its inputs, and Assay's own code by its hash.

A release that changes neither leaves every saved evaluation valid; one that changes only the grading has them graded
again from their evidence. The engine's code is part of the plan, since whoever plans knows the engine.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from assay.harness.benchmarks import find_benchmark, find_folder
from assay.harness.engines.base import Engine
from assay.harness.errors import DataError
from assay.harness.evaluation.evaluate import Task
from assay.harness.files import code_edition, hash_code

HARNESS = Path(__file__).parent.parent
CHECKED_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:(?: .*)?\n)+", re.MULTILINE)  # imports for a type checker alone
IMPORT = re.compile(r"^ *(?:from ([\w.]+) import (\([^)]*\)|.+)|import ([\w.]+))", re.MULTILINE)
EVALUATION = ("evaluation", "languages", "patches", "reports", "runners")
"""Rooms of the harness, beside the nouns, that decide what runs in a container, or how its results are read."""
ENGINES = ("base.py", "cancelling.py", "tars.py", "warm.py")
"""Modules of ``engines`` that have a part in every container; the others belong to one engine."""
JUDGING = ("rulings", "statistics.py")
"""Rooms, beside the nouns, that every benchmark's rule may use."""
BENCHMARKS = ("base.py", "evaluate.py", "fail_fast.py")
"""Modules of ``benchmarks`` that have a part in every evaluation; a folder counts for its own instances."""
RULES = ("rule.py", "measures.py")  # modules of a benchmark that only grade; its others decide what runs


@cache
def evaluation_edition(root: Path = HARNESS) -> str:
    """Return the hash of the code that decides what runs in a container of any engine, or how its results are read."""
    shared = [*(root / "engines" / name for name in ENGINES), *(root / "benchmarks" / name for name in BENCHMARKS)]
    return hash_code(*_list_nouns(root), *(root / room for room in EVALUATION), *shared)


@cache
def benchmark_edition(folder: str, root: Path = HARNESS) -> str:
    """Return the hash of the code that decides what runs for the instances of one folder of ``benchmarks``."""
    return hash_code(*(file for file in sorted((root / "benchmarks" / folder).rglob("*.py")) if file.name not in RULES))


@cache
def judging_edition(folder: str, root: Path = HARNESS) -> str:
    """Return the hash of the code that judges the instances of one folder of ``benchmarks``."""
    return hash_code(*_list_judging(root / "benchmarks" / folder, root))


@cache
def grading_edition(root: Path = HARNESS) -> str:
    """Return the hash of the code that grades, which is saved with each verdict."""
    return hash_code(*_list_nouns(root), root / "grading", *_list_judging(root / "benchmarks", root))


def engine_edition(engine: Engine, root: Path = HARNESS) -> str:
    """Return the hash of an engine's module and of the modules of ``engines`` that it imports; no other's counts."""
    while (wrapped := getattr(engine, "wrapped", None)) is not None:
        engine = wrapped
    module = sys.modules[type(engine).__module__]
    return module_edition(Path(module.__file__), root) if module.__file__ else ""


@cache
def module_edition(module: Path, root: Path = HARNESS) -> str:
    """Return the hash of a module and of the modules of ``engines`` that it imports."""
    return hash_code(*_collect_imports([module], root, "engines"))


def rooms_edition(*rooms: str) -> str:
    """Return the hash of all code in some rooms of the harness."""
    return code_edition(*(HARNESS / room for room in rooms))


def content_key(task: Task) -> str:
    """Return the hash of all that an evaluation depends on; a saved one with another key is stale.

    Raises DataError for an instance that no file can hold.
    """
    folder = find_folder(task.instance.rule)
    try:
        instance = task.instance.model_dump_json()
    except ValueError:
        raise DataError("has text that UTF-8 cannot hold; correct it", instance=task.instance.id) from None
    parts = [
        instance,
        task.plan.model_dump_json(),
        json.dumps([task.prediction.patch, task.runs_empty, task.fail_fast]),
        evaluation_edition(),
        benchmark_edition(folder),
    ]
    # These judge, to decide what else they run.
    if task.fail_fast or task.counters or find_benchmark(task.instance.rule).evaluate:
        parts.append(judging_edition(folder))
    if task.counter or task.counters:
        parts.append(rooms_edition("counters"))
    if task.counters:
        parts.append(task.counters.digest)
    if task.counter == "sealed":
        parts.append(task.counter)
    return sha256("\0".join(parts).encode()).hexdigest()


def counters_key(task: Task) -> str:
    """Return the hash of all that the counter-tests of a task's instance depend on; its prediction does not count."""
    gold = task.prediction.model_copy(update={"patch": task.instance.gold_patch})
    plan = task.plan.model_copy(update={"strict": False})  # which results count is not asked
    task = replace(task, prediction=gold, plan=plan, counters=None)
    return content_key(replace(task, runs_empty=False, fail_fast=False, counter="pair"))


def drop_fail_fast(task: Task) -> Task | None:
    """Return the task whose saved evaluation answers this one, too: all tests are run; None if they are anyway."""
    return replace(task, fail_fast=False) if task.fail_fast else None


def _list_nouns(root: Path) -> list[Path]:
    return [file for file in sorted((root / "domain").glob("*.py")) if file.name != "rule_names.py"]


def _list_judging(folder: Path, root: Path) -> list[Path]:
    rules = [file for file in folder.rglob("*.py") if file.name in RULES]
    return [*(root / room for room in JUDGING), *_collect_imports(rules, root, "benchmarks")]


def _collect_imports(modules: Iterable[Path], root: Path, room: str) -> list[Path]:
    """Return modules, with all of a room that they import, directly or by way of each other."""
    found: set[Path] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _find_imports(module, root, f"assay.harness.{room}.")
    return sorted(found)


def _find_imports(module: Path, root: Path, prefix: str) -> Iterator[Path]:
    # By pattern, since ast.parse is not safe in several threads before Python 3.12, and keys are made in any thread.
    source = CHECKED_ONLY.sub("", module.read_text(encoding="utf-8"))
    for package, names, whole in IMPORT.findall(source):
        for name in (whole or package, *(f"{package}.{each}" for each in re.findall(r"\w+", names))):
            if name.startswith(prefix):
                path = root.joinpath(*name.split(".")[2:])
                yield from (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file())
