"""What a person sees of a solver's run."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.agents.contract import Solution
from assay.agents.sampling.run import SolveProgress
from assay.cli import console

if TYPE_CHECKING:
    from assay.harness.runs.report import RunReport


def progress(total: int, line: console.Line | None) -> SolveProgress:
    """Return who tells of finished samples, on a live line or in one line each."""
    lock = threading.Lock()
    done = 0

    def finished(solution: Solution, reused: bool) -> None:
        nonlocal done
        with lock:
            done += 1
            note = "known already" if reused else _took(solution)
            told = f"{solution.instance_id}{_sample(solution)}: {solution.status} ({note})"
            if line is not None:
                line(told, 1)
            else:
                console.say(f"[{done}/{total}] {told}")

    return SolveProgress(finished=finished)


def _took(solution: Solution) -> str:
    usage = solution.usage
    return f"{usage.seconds:.1f} s, {usage.calls} calls, {_dollars(usage.cost)}"


def _sample(solution: Solution) -> str:
    return f" #{solution.sample}" if solution.sample else ""


def _dollars(cost: float | None) -> str:
    return "price unknown" if cost is None else f"${cost:.4f}"


def row(solution: Solution, reports: "Sequence[RunReport]") -> dict[str, str]:
    """Return the cells of a sample by their columns; a column without any cell is left out."""
    usage = solution.usage
    asked = bool(usage.calls)
    return {
        "instance": solution.instance_id,
        "sample": str(solution.sample or ""),
        "status": solution.status,
        "patch": f"{len(solution.patch.encode())} B" if solution.patch else "-",
        "steps": str(solution.steps or ""),
        "calls": str(usage.calls or ""),
        "tokens": str(usage.prompt_tokens + usage.completion_tokens) if asked else "",
        "USD": ("?" if usage.cost is None else f"{usage.cost:.4f}") if asked else "",
        "s": f"{usage.seconds:.1f}",
        "evaluated": _verdict(solution, reports),
    }


def _verdict(solution: Solution, reports: "Sequence[RunReport]") -> str:
    if solution.sample >= len(reports):
        return ""
    return "resolved" if solution.instance_id in reports[solution.sample].resolved_ids else "not resolved"


def tell_doubts(solution: Solution) -> None:
    """Print what went wrong with a sample, and what a person should look at."""
    name = f"  {solution.instance_id}{_sample(solution)}"
    if solution.error:
        print(f"{name}: {solution.error.strip().splitlines()[0][:300]}")
    for sign in solution.suspect_access:
        print(f"{name}: suspicious: {sign}")
    if solution.junk:
        print(f"{name}: by-products in the patch: {', '.join(solution.junk[:5])}")


def sum_line(solutions: Sequence[Solution]) -> str:
    """Return a run's figures in one line."""
    with_patch = sum(bool(each.patch.strip()) for each in solutions)
    costs = [each.usage.cost for each in solutions]
    paid = sum(each.usage.paid or 0.0 for each in solutions)
    known = sum(cost or 0.0 for cost in costs)
    more = " and calls of unknown price" if None in costs else ""
    return f"{with_patch} of {len(solutions)} with a patch, ${known:.4f}{more} (${paid:.4f} of it paid now)"
