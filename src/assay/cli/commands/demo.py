"""``assay demo``: the main job, end to end, on bundled instances."""

from typing import TYPE_CHECKING

import typer

from assay.cli import config, exits, options
from assay.cli.loading import load_instances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.harness.domain import Instance, Prediction, Verdict

IDS = ("tokio-rs__slab-0.4.11", "andialbrecht__sqlparse-0.4.4", "masterminds__semver-3.3.1", "pallets__flask-2.3.2")
"""Rust, Python and Go, each from its own package index; those of different toolchains are beside each other."""
PARTIAL = "andialbrecht__sqlparse-0.4.4"
"""The instance whose gold patch is also tried without its last file: plausible, fixes most tests, and wrong."""


def demo(
    jobs: options.Jobs = options.CORES,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Evaluate bundled instances with the gold patch, with none and with a part of it, in real containers.

    The instances are releases of Python packages, of a Go module and of a Rust crate. The first time it bootstraps an
    image for each language, installs dependencies as of each instance's date and builds the instances; after that it
    takes seconds. Exit 4 if a verdict is not what it should be.

    \b
    Example:
      assay demo
    """
    from assay.cli import console
    from assay.harness.grading.meanings import say_reason
    from assay.harness.runs.manifest import RunKind
    from assay.jobs.evaluate import EvaluationRun

    instances = _load_instances()
    place = config.workplace(engine, jobs=jobs)
    rows: list[tuple[str, Verdict]] = []
    for patch, pairs in _patches(instances).items():
        run = EvaluationRun(f"demo.{patch}", runs_dir, place, fresh=True, kind=RunKind.DEMO)
        _, verdicts = run.evaluate(pairs, [each.id for each, _ in pairs], runs_empty=patch == "null")
        rows += [(patch, verdict) for verdict in verdicts]
    as_expected = all(verdict.outcome == ("resolved" if patch == "gold" else "unresolved") for patch, verdict in rows)
    if json:
        found = [{"patch": patch, **verdict.model_dump(mode="json")} for patch, verdict in rows]
        console.print_json({"as_hoped": as_expected, "verdicts": found})
    else:
        console.print_rows(
            ("instance", "patch", "verdict", "reason"),
            [(verdict.instance_id, patch, str(verdict.outcome), say_reason(verdict.reason)) for patch, verdict in rows],
        )
        print("Every verdict is as it should be." if as_expected else "Some verdicts are not as they should be.")
        print(f"The evidence is in {runs_dir}/demo.*; look with: assay report show demo.gold")
    raise typer.Exit(0 if as_expected else exits.INVALID)


def _load_instances() -> "list[Instance]":
    """Load the instances whose releases can be fetched, and name the others; raises EnvironmentFailure if none can."""
    from assay.cli.console import say
    from assay.harness.errors import EnvironmentFailure

    found: list[Instance] = []
    failure: EnvironmentFailure | None = None
    for name in IDS:
        try:
            found += load_instances("releases", [name], None).instances
        except EnvironmentFailure as error:
            say(f"{name}: left out, {error}")
            failure = error
    if failure and not found:
        raise failure
    return found


def _patches(instances: "Sequence[Instance]") -> "dict[str, list[tuple[Instance, Prediction]]]":
    from assay.harness.domain import Prediction

    def pairs(model: str, patches: dict[str, str]) -> "list[tuple[Instance, Prediction]]":
        return [
            (each, Prediction(instance_id=each.id, model=model, patch=patches[each.id]))
            for each in instances
            if each.id in patches
        ]

    return {
        "gold": pairs("gold", {each.id: each.gold_patch for each in instances}),
        "null": pairs("null", {each.id: "" for each in instances}),
        "partial": pairs(
            "partial", {each.id: drop_last_file(each.gold_patch) for each in instances if each.id == PARTIAL}
        ),
    }


def drop_last_file(diff: str) -> str:
    """Leave the last file out of a diff, which then looks like a fix and misses a part."""
    from unidiff.patch import PatchSet

    return "".join(str(file) for file in list(PatchSet(diff))[:-1])
