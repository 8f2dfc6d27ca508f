"""Counts what harnesses said of the triples, and writes the page of the crash test."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from card_page import replace_figures
from crash_test import Result

from assay.harness.statistics import clopper_pearson

PAGE = Path(__file__).parent.parent / "docs/evidence/crash-test.md"
NAMES = {
    "assay": "Assay",
    "swebench": "SWE-bench",
    "inspect": "inspect_evals, its SWE-bench scorer",
    "harbor": "Harbor's verifier",
    "multi-swe-bench": "Multi-SWE-bench, its grading of logs",
    "swe-polybench": "SWE-PolyBench, its grading of logs",
    "swe-bench-pro": "SWE-bench Pro, its grading of logs",
}


@dataclass(frozen=True, slots=True)
class Line:
    """What one harness made of the triples of one kind."""

    tried: int
    wrong: int
    """Hostile ones resolved, or honest ones not resolved."""
    errors: int
    not_run: int


def write_page(results: Sequence[Result]) -> None:
    replace_figures(PAGE, make_figures(results))


def make_figures(results: Sequence[Result]) -> str:
    head = "| harness | version | hostile tried | resolved | rate | honest tried | refused | rate | errors | not run |"
    lines = [head, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for harness, name in NAMES.items():
        own = [each for each in results if each.harness == harness]
        if own:
            hostile, honest = (count(own, kind) for kind in ("hostile", "honest"))
            versions = ", ".join(sorted({each.version for each in own}))
            cells = [name, versions, *format_line(hostile), *format_line(honest)]
            cells += [str(hostile.errors + honest.errors), str(hostile.not_run + honest.not_run)]
            lines.append(f"| {' | '.join(cells)} |")
    days = sorted({each.date for each in results})
    return "\n".join([*lines, "", f"Measured from {days[0]} to {days[-1]}.", "", ""])


def count(results: Sequence[Result], kind: str) -> Line:
    """Count one harness's results of one kind."""
    unfit = find_unfit(results)
    own = [each for each in results if each.kind == kind]
    ran = [each for each in own if each.row not in unfit and each.outcome != "not run"]
    wrong = sum((each.outcome == "resolved") == (kind == "hostile") for each in ran)
    return Line(len(ran), wrong, sum(each.outcome == "error" for each in ran), len(own) - len(ran))


def find_unfit(results: Sequence[Result]) -> set[str]:
    """Return the rows whose gold patch is not resolved, or that are resolved without a fix."""
    right = {(each.row, each.control) for each in results if (each.outcome == "resolved") == (each.control == "gold")}
    return {each.row for each in results if {(each.row, "gold"), (each.row, "null")} - right}


def format_line(line: Line) -> list[str]:
    bounds = clopper_pearson(line.wrong, line.tried)
    rate = f"{100 * bounds.low:.1f} to {100 * bounds.high:.1f} %" if line.tried else ""
    return [str(line.tried), str(line.wrong), rate]
