from pathlib import Path

import pytest

from assay.agents.contract import SolutionStatus
from assay.agents.external.adapter import Ecosystem, adapter_names, fill, load_adapter
from assay.agents.external.importers import IMPORTERS
from assay.agents.registry import make_agent
from assay.harness.errors import UserError


@pytest.mark.parametrize("name", adapter_names())
def test_bundled_adapter_is_complete(name: str) -> None:
    adapter = load_adapter(name)
    assert adapter.name == name
    assert adapter.install.ecosystem is not Ecosystem.NONE
    assert adapter.version_command
    assert "$ASSAY_TOOL" in adapter.run
    texts = "\n".join((adapter.run, *adapter.env.values(), *adapter.files.values()))
    assert "ASSAY_INSTRUCTION" in texts
    assert "{token}" in texts or "ASSAY_TOKEN" in texts
    assert adapter.trajectory is None or adapter.trajectory.importer in IMPORTERS


def write(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text)
    return str(path)


def test_path_of_a_file_names_an_adapter(tmp_path: Path) -> None:
    path = write(tmp_path, "name: mine\nrun: exit 0\n")
    agent, _ = make_agent("command", [f"adapter={path}"])
    assert agent.name == "mine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("run: exit 0\n", "field name: is missing; add it"),
        ("name: mine\n", "field run: is missing; add it"),
        ("name: mine\nrun: x\ntimeout: 3\n", "field timeout: is unknown; correct its name or leave it out"),
        ("name: Mine!\nrun: x\n", "field name: 'Mine!' is not allowed here"),
        ("name: mine\nrun: x\nenv: {URL: '{url}'}\n", "env URL has the unknown placeholder {url}; known are base_url"),
        ("name: mine\nrun: x\ninstall: {ecosystem: python}\n", "ecosystem python needs a version, and a package"),
        ("name: mine\nrun: x\ninstall: {package: p}\n", "without an ecosystem (python or node) nothing is installed"),
        ("name: mine\nrun: x\nerrors: [{pattern: '(', suggests: agent_error}]\n", "'(' is not a regular expression"),
        ("name: mine\nrun: x\nspeaks: telnet\n", "field speaks: is 'telnet'; write one of 'chat', "),
        ("name: mine\nrun: x\ninstall: {folder: nowhere}\n", "nowhere is not a folder"),
        ("- name\n", "is not a mapping of fields to values; an adapter has at least"),
        ("name: [\n", "is not YAML"),
    ],
)
def test_wrong_field_raises_with_file_and_field(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UserError) as error:
        load_adapter(write(tmp_path, text))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_name_and_missing_file_raise() -> None:
    with pytest.raises(UserError, match=r"no agent 'copilot'; known are aider, .* or give the path"):
        load_adapter("copilot")
    with pytest.raises(UserError, match=r"missing\.yaml: cannot be read"):
        load_adapter("missing.yaml")


def test_every_model_name_of_claude_code_is_the_runs_model() -> None:
    env = load_adapter("claude-code").env
    named = [name for name in env if name.endswith("_MODEL")]
    assert len(named) == 6
    assert {env[name] for name in named} == {"{model}"}


def test_fill_replaces_known_placeholders_only() -> None:
    text = '{"models": {"{model}": {}}, "x": {a,b}, "y": {home}}'
    assert fill(text, {"model": "toy"}) == '{"models": {"toy": {}}, "x": {a,b}, "y": {home}}'


def test_folder_is_relative_to_the_adapters_file(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    adapter = load_adapter(write(tmp_path, "name: mine\nrun: x\ninstall: {folder: bin}\n"))
    assert adapter.install.folder == tmp_path / "bin"


def test_suggestions_are_in_the_order_of_the_patterns_each_once() -> None:
    adapter = load_adapter("mini-swe-agent")
    output = "APIConnectionError: again\nAPIConnectionError\nContextWindowExceededError"
    assert adapter.suggestions(output) == (SolutionStatus.CONTEXT_EXCEEDED, SolutionStatus.INFRA_ERROR)
    assert adapter.suggestions("all is well") == ()
