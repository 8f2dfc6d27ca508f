"""``assay report verify``: a bundle, checked by signature, evidence and new evaluations; or runs, by a log."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.choices import EnvironmentChoice
from assay.cli import completing, config, exits, options
from assay.cli.loading import load_to_evaluate
from assay.harness.errors import UserError


def verify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Bundle, or log of commitments (.jsonl)."),
    ],
    commitments: Annotated[
        Path | None,
        typer.Option(metavar="LOG", help="Hold the bundle's run against this log of assay report commit."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Hold this run against a log; may be repeated.", show_default="all"),
    ] = None,
    head: Annotated[str, typer.Option(metavar="HASH", help="Hash that a line of a log must have: one published.")] = "",
    runs_dir: options.RunsDir = options.RUNS_DIR,
    signers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Trusted signers: a public key (.pub), several, or ssh's allowed signers."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "-d",
            "--dataset",
            help="Compare the instances with this data set's: alias, hub id, file or folder.",
            autocompletion=completing.datasets,
        ),
    ] = None,
    split: options.Split = None,
    replay: Annotated[int, typer.Option(min=0, metavar="N", help="Evaluate N random instances anew.")] = 0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Choose the same instances as before.", show_default="random")
    ] = None,
    jobs: options.Jobs = options.CORES,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Check a bundle or a log of commitments.

    Of a bundle: who signed it, every byte, every verdict and figure from the evidence, and new evaluations. Of a log:
    whether a line was changed, whether each run of --runs-dir keeps what was committed, and how many were committed and
    are not there.

    Without --signers any key will do, and the answer says that nobody vouches for it. Without --dataset the patches are
    graded by the tests that the bundle names. Without --replay nothing is run. A replay runs code of the bundle, in
    containers, so trust it as far as you would trust a data set.

    Each error is named with its file, and the exit status is then 4; 3 if the infrastructure kept an instance from
    being evaluated anew.

    \b
    Examples:
      assay report verify gold.bundle
      assay report verify gold.bundle --signers alice.pub --dataset releases --replay 5 --mirror ~/mirrors
      assay report verify commitments.jsonl
    """
    import secrets

    from assay.cli import console
    from assay.cli.commands.report.bundle_view import print_verification, show_steps
    from assay.harness.bundles.commitments import read_log
    from assay.harness.bundles.signing import read_signers
    from assay.jobs.bundle import Replay, verify_bundle

    if file.suffix == ".jsonl":
        _verify_log(file, run or (), runs_dir, head, json=json)
        return
    trusted = read_signers(signers.expanduser()) if signers else None
    if seed is not None and not replay:
        raise UserError("--seed chooses the instances of --replay N; add that")
    place = config.workplace(engine, mirror, recipes, EnvironmentChoice.PUBLISHED, jobs=jobs)  # each instance's own
    wanted = Replay(replay, secrets.randbits(32) if seed is None else seed, place)
    rows = load_to_evaluate(dataset, None, split, skip_bad_rows=True) if dataset else None
    log = read_log(commitments, head) if commitments else None
    found = verify_bundle(file, trusted, show_steps, rows, wanted if replay else None, log)
    if json:
        console.print_json({"holds": found.holds, **found.model_dump(mode="json")})
    else:
        print_verification(found, file)
    if not found.holds:
        raise typer.Exit(exits.INVALID)
    raise typer.Exit(exits.INFRASTRUCTURE if found.is_interrupted else 0)


def _verify_log(log: Path, names: Sequence[str], runs_dir: Path, head: str, *, json: bool) -> None:
    from assay.cli import console
    from assay.cli.commands.report.bundle_view import print_log
    from assay.cli.loading import find_any_run, list_runs
    from assay.jobs.commit import check_log

    stores = [find_any_run(name, runs_dir) for name in names] or [*list_runs(runs_dir)]
    found = check_log(log, stores, [each.root.name for each in stores] if names else (), head)
    if json:
        console.print_json({"holds": found.holds, **found.model_dump(mode="json")})
    else:
        print_log(found, log)
    raise typer.Exit(0 if found.holds else exits.INVALID)
