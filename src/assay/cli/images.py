"""``assay images``: the environments that evaluations run in."""

import json as jsonlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import exits, options

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.harness.engines import Engine, ImageInfo
    from assay.harness.runs.runner import Prepare

app = typer.Typer(help="Build, list and remove the images that evaluations run in.", no_args_is_help=True)


@app.command("build")
def build(
    dataset: options.Dataset,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = 1,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    environment: options.Environment = options.EnvironmentChoice.AUTO,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Build every image that a data set's instances need; what is there already is not built again.

    \b
    Example:
      assay images build lite -i pallets__flask-5063 --mirror ~/mirrors
    """
    from assay.cli import console
    from assay.cli.workbench import make_sources, open_workbench
    from assay.instances.dataset.load import load

    loaded = load(
        dataset, ids=ids or (), split=split, published_images=True, skip_bad_rows=skip_bad_rows, sources=make_sources()
    )
    for problem in loaded.problems:
        console.say(f"skipped: {problem}")
    bench = open_workbench(
        engine, loaded.instances, mirrors=mirror, recipes=recipes, environment=environment, note=console.say
    )
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda each: _build_one(bench.settle(each), bench.prepare), loaded.instances))
    if json:
        console.print_json(jsonlib.dumps({name: {"image": image, "error": error} for name, image, error in results}))
    else:
        console.print_rows(("instance", "image", "problem"), results)
    raise typer.Exit(exits.INFRASTRUCTURE if any(error for _, _, error in results) else 0)


def _build_one(instance: "Instance", prepare: "Prepare") -> tuple[str, str, str]:
    """Return (instance id, image name, problem); one of the last two is empty."""
    from assay.harness.errors import EngineError, EnvironmentFailure

    try:
        return instance.id, prepare(instance), ""
    except (EnvironmentFailure, EngineError) as error:
        return instance.id, "", str(error)


@app.command("list")
def list_images(engine: options.EngineName = "docker", json: options.Json = False) -> None:
    """List the images that Assay made."""
    from assay.cli import console
    from assay.harness.engines import open_engine

    images = open_engine(engine).list_images()
    if json:
        rows = [{"name": each.name, "digest": each.digest, "size": each.size, **each.labels} for each in images]
        console.print_json(jsonlib.dumps({"images": rows}))
        return
    console.print_rows(("image", "kind", "size MB"), [(i.name, _kind(i), f"{i.size / 1e6:.0f}") for i in images])
    print("Layers are shared: the sizes do not add up.")


@app.command("prune")
def prune(
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="agent, instance (both by default), environment or toolchain; may be repeated.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Images of every kind.")] = False,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Remove images that Assay made; the next evaluation builds again what it needs.

    \b
    Examples:
      assay images prune
      assay images prune --all
    """
    from assay.cli import console
    from assay.harness.engines import open_engine
    from assay.harness.errors import UserError

    known = ("agent", "instance", "environment", "toolchain")
    wanted = set(known if everything else kinds or known[:2])
    if not wanted <= set(known):
        raise UserError(f"--kind must be one of {', '.join(known)}")
    opened = open_engine(engine)
    removed = _remove(opened, [image for image in opened.list_images() if _kind(image) in wanted])
    if json:
        console.print_json(jsonlib.dumps({"removed": removed}))
    else:
        print(f"removed {len(removed)} images; the builder's own cache goes with: docker builder prune")


def _remove(engine: "Engine", images: "list[ImageInfo]") -> list[str]:
    # An image can only go when none is built on it, so the upper layers go first.
    order = {"agent": 0, "instance": 1, "environment": 2, "toolchain": 3}
    names = [image.name for image in sorted(images, key=lambda image: order.get(_kind(image), 0))]
    for name in names:
        engine.remove_image(name)
    return names


def _kind(image: "ImageInfo") -> str:
    return image.labels.get("assay.kind", "")
