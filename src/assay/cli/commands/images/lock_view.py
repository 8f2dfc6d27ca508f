"""Builds from a lock, and output of ``assay images check``."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assay.cli import console, exits
from assay.harness.names import count
from assay.instances.environments.drift import LayerState, LayerStatus
from assay.instances.environments.images_lock import read_lock
from assay.jobs.lock import check_images, is_as_locked, rebuild, select
from assay.jobs.workplace import Workplace

SHOWN = 20  # differences of one image that are printed; ``--json`` has all
WORDS = {
    LayerStatus.SAME: "the same",
    LayerStatus.REBUILT: "built anew with the same content",
    LayerStatus.DIFFERS: "different",
    LayerStatus.MISSING: "missing",
}


def print_states(states: Sequence[LayerState]) -> None:
    """Print a line for each difference, and one that sums up."""
    for state in states:
        if state.status is LayerStatus.MISSING:
            print(f"{state.image}: is missing")
        for difference in state.differences[:SHOWN]:
            print(f"{state.image}: {difference}")
        if len(state.differences) > SHOWN:
            print(f"{state.image}: {len(state.differences) - SHOWN} more; --json shows them")
    found = Counter(state.status for state in states)
    parts = [f"{found[status]} {words}" for status, words in WORDS.items() if found[status]]
    print(f"{count(len(states), 'image')}: {', '.join(parts)}")


def build_locked(path: Path, ids: Sequence[str], place: Workplace, *, json: bool) -> int:
    """Build the images of a lock, compare them with it, print the result, and return the exit status."""
    lock = select(read_lock(path), ids)
    problems = rebuild(lock, place, console.show_count)
    built = [name for name, problem in problems.items() if not problem]
    states = check_images(select(lock, built), place.bench.engine, place.jobs, console.show_count) if built else ()
    if json:
        found = {name: {"image": lock.instances[name].image, "error": problem} for name, problem in problems.items()}
        console.print_json({"instances": found, "images": list(states)})
    else:
        rows = [(name, lock.instances[name].image, problem) for name, problem in problems.items()]
        console.print_rows(("instance", "image", "problem"), rows)
        print_states(states)
    if any(problems.values()):
        return exits.INFRASTRUCTURE
    return 0 if is_as_locked(states) else exits.INVALID
