"""Image builds, by whichever builder the machine has: buildx, a docker CLI's own BuildKit, or the plain builder.

All three read the same Dockerfile, so it uses only what all support: no heredocs, no ``# syntax=`` line, and
``--mount`` only on RUN lines of a stage that is not the last. Secrets, caches and the context (as ``/build``) are
mounts of those lines. The plain builder has no mounts: there they are copied into their stage, which is removed
afterwards.

A line ``# assay: network=none`` in a Dockerfile cuts all its RUN lines off the network. The builder gets a copy of the
Dockerfile in which every RUN line has the limits of ``build_limits``.
"""

import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from assay.harness.engines.build_limits import USUAL, BuildLimits, drop_supervisor, limit_steps, name_limit
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.harness.files import link_or_copy
from assay.harness.masks import mask
from assay.harness.program_output import find_cause

if TYPE_CHECKING:
    from docker import APIClient

BUILDERS = ("buildx", "buildkit", "plain")
NO_NETWORK = "# assay: network=none"
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Build arguments that every builder predefines; they leave no trace in an image's history."""
PATIENCE = 60  # seconds that a builder has to report its version, or to build an empty image
PROBE = "FROM scratch\nLABEL assay.probe=1\n"
STAGE = "assay.stage"
COPIES = {
    "--mount=type=secret": "COPY .assay-secrets/ /run/secrets/",
    r"--mount=type=bind,target=/build\s": "COPY . /build/",
}
"""Pattern of a mount, and the line that replaces it for the plain builder."""
TAIL_LINES = 25
SILENCE = 600  # seconds that the plain builder may say nothing, beyond the limit of a step

_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True, slots=True)
class Builder:
    """A way to build: its kind and, for all but the plain one, the docker program."""

    kind: Literal["buildx", "buildkit", "plain"]
    program: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be built from a context and a Dockerfile with limits, which has a folder of its own."""

    name: str
    context: Path
    dockerfile: Path
    secrets: Mapping[str, Path]
    labels: Mapping[str, str]


def build(
    name: str,
    context: Path,
    log: Path,
    *,
    secrets: Mapping[str, Path],
    labels: Mapping[str, str],
    limits: BuildLimits = USUAL,
) -> None:
    """Build ``context/Dockerfile`` as image ``name``; the builder's output goes to ``log``, without passwords.

    RUN lines that mount ``type=secret,id=ID`` find the file ``secrets[ID]`` as ``/run/secrets/ID``.
    Raises EngineError, or EnvironmentFailure with the log's path and last lines.
    """
    builder = find_builder()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="assay-build-", dir=context.parent) as scratch,
            log.open("wb") as output,
        ):
            dockerfile = Path(scratch) / "Dockerfile"
            steps = limit_steps((context / "Dockerfile").read_text(encoding="utf-8"), limits)
            dockerfile.write_text(steps, encoding="utf-8")
            order = Order(name, context, dockerfile, secrets, labels)
            if builder.kind == "plain":
                problem = _build_plain(order, output, limits.seconds + SILENCE)
            else:
                problem = _build_with_cli(builder, order, output)
    finally:
        text = mask(drop_supervisor(log.read_text(encoding="utf-8", errors="replace")))
        log.write_text(text, encoding="utf-8")
    if problem:
        tail = "\n".join(text.splitlines()[-TAIL_LINES:])
        if reached := name_limit(f"{tail}\n{problem}", limits):
            raise EnvironmentFailure(f"{reached} (--build-limits): {name}", log_path=str(log), tail=tail)
        problem = f"image {name} could not be built: {drop_supervisor(problem)}"
        raise EnvironmentFailure(problem, log_path=str(log), tail=tail, cause=find_cause(tail))


@cache
def find_builder() -> Builder:
    """Find the best builder of this machine, or the one of ``BUILDERS`` that ``ASSAY_BUILDER`` names."""
    forced = os.environ.get("ASSAY_BUILDER", "")
    if forced and forced not in BUILDERS:
        raise EnvironmentFailure(f"ASSAY_BUILDER={forced!r} is no builder; choose one of {', '.join(BUILDERS)}")
    found = (builder for builder in _builders() if forced in ("", builder.kind))
    builder = next(found, None)
    if builder is None:
        raise EnvironmentFailure(f"no docker program on PATH has the builder {forced!r} that ASSAY_BUILDER asks for")
    return builder


def _builders() -> Iterator[Builder]:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    found = (shutil.which("docker", path=folder) for folder in folders if folder)
    programs = list({str(Path(program).resolve()): program for program in found if program})
    for program in programs:
        if _answers([program, "buildx", "version"]):
            yield Builder("buildx", program)
    for program in programs:
        # Newer programs only hand over to buildx, so only a real build shows it.
        if _answers([program, "build", "-"], stdin=PROBE, env={"DOCKER_BUILDKIT": "1"}):
            yield Builder("buildkit", program)
    yield Builder("plain")


def _answers(command: list[str], stdin: str = "", env: Mapping[str, str] | None = None) -> bool:
    environment = {**os.environ, **(env or {})}
    try:
        done = subprocess.run(
            command, input=stdin.encode(), env=environment, capture_output=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(f"{command[0]} did not answer within {PATIENCE} s; is the engine overloaded?") from error
    return done.returncode == 0


def _build_with_cli(builder: Builder, order: Order, output: BinaryIO) -> str:
    verb = ["buildx", "build", "--load"] if builder.kind == "buildx" else ["build"]
    options = ["--progress=plain", f"--network={_network(order) or 'default'}", "--tag", order.name]
    options += ["--file", str(order.dockerfile)]
    for key, path in order.secrets.items():
        options += ["--secret", f"id={key},src={path}"]
    for key, value in order.labels.items():
        options += ["--label", f"{key}={value}"]
    for key in _proxies():
        options += ["--build-arg", key]  # without a value it is taken from the environment, unseen in process lists
    program = subprocess.Popen(
        [builder.program, *verb, *options, str(order.context)],
        env={**os.environ, "DOCKER_BUILDKIT": "1"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    try:
        _running.add(program)
        code = program.wait()
    except BaseException:  # an interrupted caller; the engine would build on
        program.terminate()
        program.wait(PATIENCE)
        raise
    finally:
        _running.discard(program)
    return f"{builder.kind} ended with exit code {code}" if code else ""


def abort() -> None:
    """End the builds that docker programs run for this process; they fail for their callers."""
    for program in tuple(_running):
        program.terminate()


def _network(order: Order) -> str:
    return "none" if NO_NETWORK in order.dockerfile.read_text(encoding="utf-8").splitlines() else ""


def _proxies() -> dict[str, str]:
    return {key: os.environ[key] for key in PROXIES if os.environ.get(key)}


def _build_plain(order: Order, output: BinaryIO, silence: int) -> str:
    import docker
    import docker.errors
    from docker.utils import kwargs_from_env

    mark = uuid.uuid4().hex
    client = docker.APIClient(version="auto", timeout=silence, **kwargs_from_env())
    folder = _make_plain_context(order, mark)
    try:
        answers = client.build(
            path=str(folder),
            tag=order.name,
            rm=True,
            forcerm=True,
            buildargs=_proxies(),
            labels=dict(order.labels),
            network_mode=_network(order) or None,
            decode=True,
        )
        return _follow(answers, output)
    except docker.errors.APIError as error:
        return str(error)
    finally:
        _remove_stages(client, mark)


def _follow(answers: Iterator[Mapping[str, object]], output: BinaryIO) -> str:
    problem = ""
    for answer in answers:
        text = str(answer.get("stream") or answer.get("error") or "")
        output.write(text.encode())
        problem = str(answer.get("error") or problem).strip()
    return problem


def _make_plain_context(order: Order, mark: str) -> Path:
    """Copy the context beside the Dockerfile, with the secrets in it and that Dockerfile without mounts."""
    folder = order.dockerfile.parent / "context"
    shutil.copytree(order.context, folder, symlinks=True, copy_function=link_or_copy)
    (folder / ".assay-secrets").mkdir()
    for key, path in order.secrets.items():
        shutil.copyfile(path, folder / ".assay-secrets" / key)
    (folder / "Dockerfile").unlink()  # it may be a hard link to the original
    text = strip_mounts(order.dockerfile.read_text(encoding="utf-8"), mark)
    (folder / "Dockerfile").write_text(text, encoding="utf-8")
    return folder


def strip_mounts(dockerfile: str, mark: str) -> str:
    """Rewrite a Dockerfile for the plain builder: copy into each stage what its RUN lines mount.

    ``mark`` becomes a label of those stages, by which they are found and removed. Raises EnvironmentFailure if the
    last stage mounts anything but a cache, since the copy would stay in the image.
    """
    lines = dockerfile.splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("FROM "))
    written: list[str] = []
    copied: set[str] = set()
    for number, line in enumerate(lines):
        if line.startswith("FROM "):
            copied = set()
        needed = [copy for kind, copy in COPIES.items() if re.search(kind, line) and copy not in copied]
        if needed and number > last:
            raise EnvironmentFailure("a Dockerfile must not mount secrets or its context in its last stage")
        if needed and not copied:  # first, so that every layer with a secret carries it
            written.append(f"LABEL {STAGE}={mark}")
        copied |= set(needed)
        written += [*needed, re.sub(r"--mount=\S+\s+", "", line)]
    return "\n".join(written) + "\n"


def _remove_stages(client: "APIClient", mark: str) -> None:
    import docker.errors

    filters = {"label": f"{STAGE}={mark}"}
    # Newest first. Removing an image removes its untagged parents, so some are not found when their turn comes.
    for image in client.images(all=True, quiet=True, filters=filters):
        try:
            client.remove_image(image, force=True)
        except docker.errors.APIError as error:
            if error.status_code not in (404, 409):
                raise
