"""A run of any size, made with the fake engine through the real store.

``python tests/support/many_instances.py 10000 DIR``
"""

import json
import os
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay.harness.domain import Instance, Prediction
from assay.harness.runs.store import RunStore
from assay.instances.dataset.formats import native
from assay.instances.dataset.predictions import prediction_row
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace

REPOSITORIES = ("acme/calc", "acme/web", "globex/parser", "globex/render", "initech/store", "umbrella/net")
WORDS = (
    "when",
    "the parser",
    "reads",
    "a nested",
    "list",
    "it drops",
    "every second",
    "element",
    "and",
    "an empty",
    "result",
)


def patch_of(number: int, sign: str = "+") -> str:
    """A patch of one file with ten lines of context."""
    context = "".join(f"     value_{line} = compute({line})\n" for line in range(10))
    return (
        f"diff --git a/src/module_{number % 50}.py b/src/module_{number % 50}.py\n"
        f"--- a/src/module_{number % 50}.py\n+++ b/src/module_{number % 50}.py\n"
        f"@@ -1,12 +1,12 @@\n def add(a, b):\n{context}-    return a - b\n{sign}    return a + b  # case {number}\n"
    )


def instances(count: int) -> Iterator[Instance]:
    """Instances of six repositories, each with a statement of some 2,000 characters and 60 expected tests."""
    dice = random.Random(0)
    for number in range(count):
        repo = dice.choice(REPOSITORIES)
        yield Instance(
            id=f"{repo.replace('/', '__')}-{number}",
            repo=repo,
            base_commit="0" * 40,
            problem_statement="\n\n".join(" ".join(dice.choices(WORDS, k=60)) for _ in range(6)),
            gold_patch=patch_of(number),
            test_patch=patch_of(number).replace("src/", "tests/"),
            fail_to_pass=tuple(f"tests/test_{number % 50}.py::test_fixed[{case}]" for case in range(3)),
            pass_to_pass=tuple(f"tests/test_{number % 50}.py::TestAll::test_kept_{case}" for case in range(57)),
            created_at=datetime(2024, 1, 1, tzinfo=UTC),
        )


def pairs(count: int) -> Iterator[tuple[Instance, Prediction]]:
    """Half with the gold patch; the others with a wrong, an empty or a broken one."""
    dice = random.Random(1)
    for each in instances(count):
        wrong = each.gold_patch.replace("a + b", "a * b")
        patch = dice.choices((each.gold_patch, wrong, "", "no patch at all"), weights=(50, 40, 5, 5))[0]
        yield each, Prediction(instance_id=each.id, model="acme/model", patch=patch)


def make(count: int, folder: Path, jobs: int = 2) -> RunStore:
    """Evaluate so many instances; the run is a folder below ``folder``."""
    found = list(pairs(count))
    run = EvaluationRun(f"many.{count}", folder, Workplace(engine="fake", jobs=jobs))
    run.evaluate(found, [instance.id for instance, _ in found])
    return run.store


def write(count: int, folder: Path) -> list[str]:
    """Write ``rows.jsonl`` and ``predictions.jsonl``; return the arguments of ``assay evaluate`` that name them."""
    paths = folder / "rows.jsonl", folder / "predictions.jsonl"
    with paths[0].open("w") as rows, paths[1].open("w") as predictions:
        for instance, prediction in pairs(count):
            rows.write(json.dumps(native.from_instance(instance)) + "\n")
            predictions.write(json.dumps(prediction_row(prediction)) + "\n")
    return [str(paths[0]), "-p", str(paths[1])]


if __name__ == "__main__":
    os.fsync = lambda _file: None  # type: ignore[assignment]  # no machine loses power here
    make(int(sys.argv[1]), Path(sys.argv[2]))
