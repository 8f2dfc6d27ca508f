"""What a cluster is to do: the arguments of ``assay evaluate`` or ``solve``, read by its own parser, and the text."""

import json
import re
import shlex
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options
from assay.harness.errors import UserError
from assay.harness.templates import text_environment

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="ARGS",
        help="Arguments of `assay evaluate` after --, with --run-id; or `solve` and those of `assay solve`.",
    ),
]
Shards = Annotated[int, typer.Option(min=1, metavar="N", help="Shards of the run, each a job of its own.")]
Cpus = Annotated[int, typer.Option(min=1, metavar="N", help="Processors of a shard, and its containers at once.")]
Time = Annotated[
    str,
    typer.Option(metavar="[D-]H:M:S", help="Time limit of a job; a shard that needs longer is requeued and resumes."),
]
Serve = Annotated[
    str,
    typer.Option(
        metavar="vllm|sglang|COMMAND",
        help="Serve the model of `solve` beside the shards, until the run is merged; {port} is filled in.",
        show_default="no server",
    ),
]
ServerGpus = Annotated[
    int, typer.Option(min=0, metavar="N", help="GPUs of each replica of the model, which is spread over them.")
]
Replicas = Annotated[int, typer.Option(min=1, metavar="N", help="Replicas of the model, all behind one address.")]
Memory = Annotated[str, typer.Option(metavar="SIZE", help="Memory of a shard, such as 16G.")]

SETTING = "DEFAULT_MAP"  # the parser's word for values of assay.toml and of variables


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """A checked command line without ``--shard``."""

    verb: str
    """``evaluate`` or ``solve``."""
    arguments: Sequence[str]
    """The words after the verb, with ``--jobs`` and with this machine's settings, which others may lack."""
    run_id: str
    runs_dir: str
    engine: str
    model: str = ""
    gpus: int = 0
    """Cards of a shard: what the command line says by ``--gpus``."""
    gpu_kind: str = options.NVIDIA

    @property
    def done(self) -> str:
        """The file of a finished shard."""
        return "solutions.jsonl" if self.verb == "solve" else "report.json"

    @property
    def job_name(self) -> str:
        """A name of lower-case letters, digits and dashes, of at most 40 characters."""
        words = re.sub(r"[^a-z0-9]+", "-", self.run_id.lower()).strip("-")[:30].strip("-")
        return f"assay-{words}".rstrip("-")


def read_arguments(context: typer.Context, arguments: Sequence[str], cpus: int) -> PlannedCommand:
    """Read the arguments of a command; folders that they name need not be on this machine.

    Args:
        context: of the command that is run.
        arguments: as a person would type them after ``assay evaluate``, or ``solve`` and what follows that.
        cpus: containers at once, if they do not say.

    Raises:
        UserError, TyperException: the command would not take them, or shards of a run cannot have them.
    """
    odd = next((each for each in arguments if not each.isprintable()), None)
    if odd is not None:
        raise UserError(f"{odd!r}: the text can hold no line breaks or control characters; rename what it names")
    root: Any = context.find_root()
    verb, arguments = ("solve", arguments[1:]) if arguments[:1] == ["solve"] else ("evaluate", arguments)
    command = copy(root.command.commands[verb])
    command.params = [copy(each) for each in command.params]
    for each in command.params:
        each.callback = None
    read = command.make_context(verb, list(arguments), parent=root)
    _check(verb, read.params)
    jobs = [] if _source(read, "jobs") else ["--jobs", str(cpus)]
    settings = [word for each in command.params if _source(read, each.name) == SETTING for word in _words(each, read)]
    given = read.params
    return PlannedCommand(
        verb,
        [*arguments, *settings, *jobs],
        given["run_id"],
        str(given["runs_dir"]),
        given["engine"],
        next((each for each in given.get("model") or () if "=" not in each), ""),
        given.get("gpus") or 0,
        given.get("gpu_kind") or options.NVIDIA,
    )


def _source(read: Any, name: str) -> str:
    """Return the source of an option's value: COMMANDLINE, SETTING, or empty for the default."""
    source = read.get_parameter_source(name)
    return "" if source is None or source.name == "DEFAULT" else str(source.name)


def _words(option: Any, read: Any) -> list[str]:
    """Return the words of a command line that set an option to its value."""
    name, value = max(option.opts, key=len), read.params[option.name]
    if option.is_flag:
        return [name if value else f"--no-{name.removeprefix('--')}"]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for each in values for word in (name, str(each))]


def _check(verb: str, given: dict[str, Any]) -> None:
    """Raise UserError for options that shards cannot have."""
    if verb == "solve" and given["serve"]:
        raise UserError("give --serve before the --: one server answers all shards")
    if verb == "evaluate" and sum((given["predictions"] is not None, given["gold"], given["null"])) != 1:
        raise UserError("give exactly one of --predictions FILE, --gold and --null")
    if str(given.get("predictions")) == "-":
        raise UserError("--predictions -: shards cannot share standard input; name a file that all machines see")
    if given["executor"] != "local":
        raise UserError("leave --executor out: each shard works on the machine of its job")
    if not given["run_id"]:
        raise UserError("add --run-id NAME: the shards and the merge need the same name")
    if given["shard"]:
        raise UserError("leave --shard out: each job adds its own")
    if given.get("fail_under") is not None:
        raise UserError(
            "leave --fail-under out: it is about the whole run, so add it to `assay report merge` in the text"
        )


SERVERS = {
    "vllm": "vllm serve {model} --host 0.0.0.0 --port {port} --tensor-parallel-size {gpus}",
    "sglang": "python3 -m sglang.launch_server --model-path {model} --host 0.0.0.0 --port {port} --tp-size {gpus}",
}
"""Command lines as the servers' documents have them."""
DATA_PARALLEL = {"vllm": " --data-parallel-size {}", "sglang": " --dp-size {}"}


def make_server(serve: str, planned: PlannedCommand, gpus: int, replicas: int) -> str:
    """Return the command of a model server with ``{port}`` in it, empty for none; raises UserError.

    Replicas are the server's own, behind its one address.
    """
    if not serve:
        return ""
    if planned.verb != "solve" or not planned.model:
        raise UserError("--serve answers solvers: write `solve` and its arguments after --, with --model NAME")
    if serve not in SERVERS:
        from assay.agents.llm.server import check_command

        check_command(serve)
        if replicas > 1:
            raise UserError("--replicas: write them into the command of --serve, in its own words")
        return serve
    command = SERVERS[serve].replace("{model}", shlex.quote(planned.model)).replace("{gpus}", str(max(gpus, 1)))
    return command + DATA_PARALLEL[serve].format(replicas) * (replicas > 1)


def render(template: str, planned: PlannedCommand, **values: object) -> str:
    """Return a text of this folder with its values filled in.

    ``| quoted`` makes a word of a shell of a value, ``| json`` a value of YAML. ``| undollared`` keeps a shell's text
    as it is in Kubernetes, which replaces ``$(NAME)``.
    """
    environment = text_environment("assay.cli.commands", "cluster")
    environment.filters |= {
        "quoted": lambda value: shlex.quote(str(value)),
        "json": lambda value: json.dumps(value, ensure_ascii=False),
        "undollared": lambda value: value.replace("$", "$$"),
    }
    return environment.get_template(template).render(
        planned=planned, command=shlex.join(["assay", planned.verb, *planned.arguments]), **values
    )


def give(text: str, output: Path | None, how: str) -> None:
    """Print a text, or write it into a file and say how it is used; raises OSError."""
    if output is None:
        print(text, end="")
        return
    output.write_text(text, encoding="utf-8")
    print(f"{how} {shlex.quote(str(output))}")


def read_time(text: str) -> int:
    """Return the seconds of ``[D-]H:M:S``; raises UserError."""
    found = re.fullmatch(r"(?:(\d{1,3})-)?(\d{1,4}):(\d\d):(\d\d)", text)
    seconds = 0
    if found:
        days, hours, minutes, rest = (int(each or 0) for each in found.groups())
        seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    if not seconds:
        raise UserError(f"--time {text!r}: write [days-]hours:minutes:seconds, such as 04:00:00")
    return seconds


def check_form(option: str, text: str, form: str, example: str) -> None:
    """Raise UserError if the text of an option does not have a form."""
    if not re.fullmatch(form, text):
        raise UserError(f"{option} {text!r}: write {example}")
