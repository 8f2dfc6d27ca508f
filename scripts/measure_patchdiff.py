"""Measure PatchDiff with default settings on resolved patches of real rows, one by one, for the docs.

Each prediction of the files that has no result yet is compared with gold and gets a line in the file of results:

    python scripts/measure_patchdiff.py ROWS.jsonl PREDICTIONS.jsonl... --mirror DIR

`--table` prints the table of those lines. Results for base, gold and null are kept for later predictions of an
instance, as in a run; so the second one of an instance shows the saving.
"""

import argparse
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.harness.domain import Instance, Prediction
from assay.harness.patchdiff.assess import assess
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.generators import USUAL
from assay.harness.patchdiff.sides import Sides
from assay.instances.dataset.load import load
from assay.instances.dataset.predictions import read_predictions
from assay.jobs.workbench import make_sources
from assay.jobs.workplace import Workplace

RESULTS = Path(__file__).parent.parent / "docs/data/patchdiff_results.jsonl"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one comparison."""

    instance: str
    model: str
    candidate: int
    """The number of the patch among the compared ones of its instance, from 1."""
    finding: str
    seconds: float
    load: float
    """The machine's mean load, at every step that was noted."""
    probes: dict[str, int]
    """Probes that count, by generator."""
    test_files: str
    """The number that ``suites`` compared, and the number of all."""
    null_divergences: int
    """Differences between gold and its copy."""
    notes: dict[str, str]
    measured: str
    code: str
    """The measured commit."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", help="data set of the instances")
    parser.add_argument("predictions", nargs="*", type=Path)
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--kept", type=Path, default=Path("build/patchdiff"), help="what gold, null and base show")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, and nothing else")
    given = parser.parse_args()
    results = read_results(given.results)
    if given.table:
        print(write_table(results), end="")
        return
    given.kept.mkdir(parents=True, exist_ok=True)
    sources = make_sources(given.mirror)
    wanted = [each for path in given.predictions for each in read_predictions(path)]
    instances = load(given.rows, ids=sorted({each.instance_id for each in wanted}), sources=sources).instances
    by_id = {each.id: each for each in instances}
    place = Workplace(mirrors=given.mirror)
    for prediction in find_missing(wanted, results):
        number = 1 + sum(each.instance == prediction.instance_id for each in results)
        result = measure(place, by_id[prediction.instance_id], prediction, number, given.kept)
        results.append(result)
        with given.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        print(write_row(result, USUAL), flush=True)


def read_results(path: Path) -> list[Result]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Result(**json.loads(line)) for line in lines]


def find_missing(wanted: Sequence[Prediction], results: Sequence[Result]) -> Iterator[Prediction]:
    known = {(each.instance, each.model) for each in results}
    return (each for each in wanted if (each.instance_id, each.model) not in known)


def measure(place: Workplace, instance: Instance, prediction: Prediction, number: int, kept: Path) -> Result:
    """Compare one patch with gold, by default settings; the image is there before the clock starts."""
    instance = place.bench.settle(instance)
    task, loads = place.task(instance, prediction), [os.getloadavg()[0]]
    with place.bench.image(instance, instance.gold_patch) as image:
        sides = Sides(replace(task, assets=place.bench.assets(instance)), image, place.bench.engine, kept=kept)
        note = lambda _step: loads.append(os.getloadavg()[0])  # noqa: E731
        found = assess(sides, Settings(USUAL), place.bench.plan_files, note=note).comparison
    suites = next(each for each in found.generators if each.name == "suites")
    return Result(
        instance=instance.id,
        model=prediction.model,
        candidate=number,
        finding=str(found.finding),
        seconds=round(found.seconds, 1),
        load=round(sum(loads) / len(loads), 1),
        probes={each.name: each.reached for each in found.generators},
        test_files=f"{suites.test_files} of {suites.of_test_files}",
        null_divergences=found.null_divergences,
        notes={each.name: each.note for each in found.generators if each.note},
        measured=time.strftime("%Y-%m-%d", time.gmtime()),
        code=find_commit(),
    )


def find_commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write_table(results: Sequence[Result]) -> str:
    ran = [name for name in USUAL if any(name in each.probes for each in results)]
    heads = ("patch", "candidate", "finding", *ran, "test files", "s", "load", "gold against its copy", "code")
    return (
        "\n".join([write_line(heads), write_line("---" for _ in heads), *(write_row(each, ran) for each in results)])
        + "\n"
    )


def write_row(result: Result, generators: Sequence[str]) -> str:
    counts = [f"{result.probes.get(name, 0):,}" for name in generators]
    shown = (f"{result.instance}, {result.model}", str(result.candidate), f"`{result.finding}`", *counts)
    cost = f"{result.seconds:.0f}", f"{result.load:.0f}"
    return write_line((*shown, result.test_files, *cost, str(result.null_divergences), result.code))


def write_line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
