"""``assay cluster kubernetes``: a manifest of Jobs that do an evaluation."""

from typing import Annotated

import typer

from assay.cli import options
from assay.cli.commands.cluster import planned

NAME = r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?"
SIZE = r"\d+([KMGT]i?)?"
SHARED = "/work"


def kubernetes(
    context: typer.Context,
    arguments: planned.Arguments,
    image: Annotated[str, typer.Option(metavar="IMAGE", help="Container image that has Assay.")],
    volume: Annotated[
        str,
        typer.Option(
            metavar="CLAIM", help="PersistentVolumeClaim that all pods can write to; it is their working folder."
        ),
    ],
    shards: planned.Shards = 4,
    namespace: Annotated[str, typer.Option(metavar="NAME", help="Namespace of the jobs.")] = "default",
    time: planned.Time = "04:00:00",
    cpus: planned.Cpus = 8,
    memory: planned.Memory = "32G",
    output: options.TextOutput = None,
) -> None:
    """Print a manifest that evaluates the shards of a run in an Indexed Job, and merges them in another.

    Each pod has Assay and, beside it, a Docker engine of its own, which has to be privileged. A pod that is evicted, or
    ends with a failure of the infrastructure, is replaced and does only what is missing. One with wrong arguments is
    not. Data set, predictions and runs are in the volume. What is not an option here is to be edited in the text.

    \b
    Examples:
      assay cluster kubernetes --image example.com/assay:1 --volume work -- lite -p preds.jsonl --run-id nightly
    """
    planned.check_form("--namespace", namespace, NAME, "a name of lower-case letters, digits and dashes")
    planned.check_form("--volume", volume, NAME, "the name of a PersistentVolumeClaim, as kubectl get pvc shows it")
    planned.check_form("--memory", memory, SIZE, "a number with K, M, G or T, such as 32G")
    planned.check_form("--image", image, r"\S+", "the name of an image")
    evaluation = planned.read_arguments(context, arguments, cpus)
    text = planned.render(
        "kubernetes.yaml",
        evaluation,
        shards=shards,
        namespace=namespace,
        seconds=planned.read_time(time),
        cpus=cpus,
        memory=memory.replace("K", "k").replace("ki", "Ki"),
        image=image,
        volume=volume,
        shared=SHARED,
    )
    planned.give(text, output, "start it with: kubectl apply -f")
