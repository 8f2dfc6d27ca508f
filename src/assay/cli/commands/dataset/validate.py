"""``assay dataset validate``: the controls of every instance, several times."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import config, exits, options
from assay.cli.loading import load_instances


def validate(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = options.CORES,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    build_limits: options.BuildLimits = "",
    gpus: options.Gpus = None,
    gpu_kind: options.GpuKind = options.NVIDIA,
    cdi: options.Cdi = None,
    setup: options.Setup = False,
    skip_bad_rows: options.SkipBadRows = False,
    times: Annotated[int, typer.Option("-k", "--times", min=1, help="Runs of each control.")] = 3,
    counter_tests: Annotated[
        bool,
        typer.Option("--counter-tests", help="Show how many tests to be fixed have a counter-test, which must fail."),
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Measure the labels, whatever the rows' own are, and write the instances into this folder in the "
            "native format; the data set itself gets its labels in place.",
        ),
    ] = None,
    stages: Annotated[
        bool,
        typer.Option(
            "--stages",
            help="With --write: also run the base commit without the test patch, and write instances of "
            "Multi-SWE-bench's rule, which counts all tests of the three stages.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Run every instance with its gold patch and without any, several times, and compare what its tests do.

    An instance is valid when its gold patch resolves it in every run and no patch in none. Expected tests on which the
    runs do not agree are quarantined: `assay evaluate --stability FILE` leaves them out.

    With --write, rows may lack labels or have wrong ones. A test that passes in every run with the gold patch becomes
    fail to pass if it passes in no run without, and pass to pass if it passes in all of them. Instances whose controls
    confirm the measured labels are written, ready for `assay evaluate DIR`.

    With --stages too, the instances become rows of Multi-SWE-bench: `assay dataset convert DIR --to multi-swe-bench`.

    With --counter-tests, valid instances get these (`assay dataset counter`): a test to be fixed without one may pass
    whatever it expects.

    Exit 4 if any instance is not valid, or not written. Running the same command again, or with a larger -k, does only
    what is missing.

    \b
    Examples:
      assay dataset validate releases
      assay dataset validate rows.jsonl -i pallets__flask-5063 -k 10 --mirror ~/mirrors
      assay dataset validate releases -i pallets__flask-2.3.2 --counter-tests
      assay dataset validate rows.jsonl --write out
      assay dataset validate ./mine --write ./mine
      assay dataset validate ./mine --write staged --stages
    """
    from assay.cli.commands.dataset.validate_view import MeasuredFolder, print_json, show
    from assay.harness.grading.stability import StabilityFile
    from assay.harness.runs.manifest import RunKind
    from assay.jobs.counter import make_counter_tests
    from assay.jobs.evaluate import EvaluationRun, run_name
    from assay.jobs.stages import measure_stages
    from assay.jobs.validate import measure_labels, open_for_labels, run_controls, write_measured

    _check_stages(stages, dataset, write)
    reading = {"skip_bad_rows": skip_bad_rows, "may_lack_labels": write is not None, "may_be_empty": False}
    loaded = load_instances(dataset, ids, split, mirrors=mirror, **reading)
    run = EvaluationRun(
        run_name(dataset, "measure" if write else "validate"),
        runs_dir,
        config.workplace(
            engine,
            mirror,
            recipes,
            jobs=jobs,
            setup=setup,
            build_limits=build_limits,
            gpus=gpus,
            gpu_kind=gpu_kind,
            cdi=tuple(cdi or ()),
        ),
        alone=True,
        kind=RunKind.VALIDATE,
    )
    if write:
        in_place = open_for_labels(write, dataset, loaded.ref.name)
        measured = (measure_stages if stages else measure_labels)(run, loaded.instances, times)
        write_measured(write, measured, in_place=in_place)
        instances = [each.instance for each in measured]
        results, records = [each.result for each in measured], tuple(each.stability for each in measured)
        written = MeasuredFolder(write, {each.instance.id: each.problem for each in measured if each.problem})
    else:
        instances, written = [*loaded.instances], None
        results, records = run_controls(run, instances, times)
    valid = {each.instance_id for each in results if each.valid}
    made = make_counter_tests(run.place, [each for each in instances if each.id in valid]) if counter_tests else None
    path = run.store.save_stability(StabilityFile(dataset=loaded.ref.name, instances=records))
    (print_json if json else show)(results, path, written, made)
    is_whole = len(valid) == len(results) and not (written and written.problems)
    raise typer.Exit(0 if is_whole else exits.INVALID)


def _check_stages(stages: bool, dataset: str, write: Path | None) -> None:
    from assay.harness.errors import UserError

    if stages and write is None:
        raise UserError("--stages writes instances; add --write DIR")
    if stages and write and write.resolve() == Path(dataset).expanduser().resolve():
        raise UserError(f"--write {write}: --stages changes the rule too, not labels alone; name a new folder")
