"""``assay cluster kubernetes``: a manifest of Jobs that do an evaluation."""

from typing import Annotated

import typer

from assay.cli import options
from assay.cli.commands.cluster import planned
from assay.harness.errors import UserError

NAME = r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?"
SIZE = r"\d+([KMGT]i?)?"
SHARED = "/work"
PORT = 8000
IMAGES = {"vllm": "vllm/vllm-openai:latest", "sglang": "lmsysorg/sglang:latest"}


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
    serve: planned.Serve = "",
    server_gpus: planned.ServerGpus = 1,
    replicas: planned.Replicas = 1,
    server_image: Annotated[
        str, typer.Option(metavar="IMAGE", help="Image of the model server.", show_default="the server's own")
    ] = "",
    output: options.TextOutput = None,
) -> None:
    """Print a manifest that evaluates or solves the shards of a run in an Indexed Job, and merges them in another.

    Each pod has Assay and, beside it, a Docker engine of its own, which has to be privileged. A pod that is evicted, or
    ends with a failure of the infrastructure, is replaced and does only what is missing. One with wrong arguments is
    not. With --serve a third Job serves the model, a pod for each replica, behind a Service; it ends once the run is
    merged. Data set, predictions and runs are in the volume. What is not an option here is to be edited in the text.

    \b
    Examples:
      assay cluster kubernetes --image example.com/assay:1 --volume work -- lite -p preds.jsonl --run-id nightly
      assay cluster kubernetes --image example.com/assay:1 --volume work --serve vllm --replicas 4 \
        -- solve lite --agent agentless --model MODEL --run-id mine --evaluate
    """
    planned.check_form("--namespace", namespace, NAME, "a name of lower-case letters, digits and dashes")
    planned.check_form("--volume", volume, NAME, "the name of a PersistentVolumeClaim, as kubectl get pvc shows it")
    planned.check_form("--memory", memory, SIZE, "a number with K, M, G or T, such as 32G")
    planned.check_form("--image", image, r"\S+", "the name of an image")
    command = planned.read_arguments(context, arguments, cpus)
    server = planned.make_server(serve, command, server_gpus, 1)
    if server and not (server_image or serve in IMAGES):
        raise UserError("--serve COMMAND: name the image that has the command with --server-image")
    text = planned.render(
        "kubernetes.yaml",
        command,
        server=server.replace("{port}", str(PORT)),
        port=PORT,
        gpus=server_gpus,
        replicas=replicas,
        server_image=server_image or IMAGES.get(serve, ""),
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
