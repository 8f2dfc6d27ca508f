"""``assay cluster slurm``: a script that submits an evaluation to Slurm."""

from typing import Annotated

import typer

from assay.cli import options
from assay.cli.commands.cluster import planned

SIZE = r"\d+[KMGT]?"
NAME = r"[\w.,:-]+"


def slurm(
    context: typer.Context,
    arguments: planned.Arguments,
    shards: planned.Shards = 4,
    partition: Annotated[
        str, typer.Option(metavar="NAME", help="Partition of the cluster.", show_default="the cluster's")
    ] = "",
    time: planned.Time = "04:00:00",
    cpus: planned.Cpus = 8,
    memory: planned.Memory = "32G",
    serve: planned.Serve = "",
    server_gpus: planned.ServerGpus = 1,
    replicas: planned.Replicas = 1,
    server_partition: Annotated[
        str, typer.Option(metavar="NAME", help="Partition of the model server.", show_default="the shards'")
    ] = "",
    output: options.TextOutput = None,
) -> None:
    """Print a script that submits the shards of an evaluation or of a solver's run to Slurm, and the merge after them.

    The script runs sbatch twice: for an array, one job for each shard, and for a job that depends on it. A shard that
    is killed, preempted or at its time limit is requeued and does only what is missing. Where no DOCKER_HOST is set,
    each job starts podman, without root, on its node. Data set, predictions and runs have to be in a folder that all
    nodes see. With --serve one more job has GPUs and serves the model; the merge ends it. What is not an option here is
    to be edited in the text.

    \b
    Examples:
      assay cluster slurm --shards 16 -o nightly.sh -- lite -p preds.jsonl --run-id nightly
      assay cluster slurm --partition cpu --time 12:00:00 --cpus 16 --memory 64G -- lite --gold --run-id gold
      assay cluster slurm --serve vllm --server-gpus 4 -- solve lite --agent agentless --model MODEL --run-id m
    """
    planned.check_form("--partition", partition or "-", NAME, "the name of a partition, as sinfo shows it")
    planned.read_time(time)
    planned.check_form("--memory", memory, SIZE, "a number with K, M, G or T, such as 32G")
    planned.check_form(
        "--server-partition", server_partition or "-", NAME, "the name of a partition, as sinfo shows it"
    )
    command = planned.read_arguments(context, arguments, cpus)
    text = planned.render(
        "slurm.sh",
        command,
        shards=shards,
        partition=partition,
        time=time,
        cpus=cpus,
        memory=memory,
        server=planned.make_server(serve, command, server_gpus, replicas),
        gpus=server_gpus * replicas,
        server_partition=server_partition or partition,
    )
    planned.give(text, output, "submit it with: bash")
