"""Adapters: those that come with Assay, a user's own, and what is said of a wrong one."""

from pathlib import Path

import pytest

from assay.agents.contract import SolutionStatus
from assay.agents.external.adapters import Ecosystem, fill, load_adapter, names
from assay.agents.external.command import Command, CommandSettings
from assay.agents.external.importers import IMPORTERS
from assay.agents.registry import make_agent
from assay.harness.errors import UserError

SHIPPED = (
    "aider",
    "claude-code",
    "codex",
    "gemini-cli",
    "mini-swe-agent",
    "opencode",
    "openhands",
    "qwen-code",
    "swe-agent",
)


def test_nine_programs_come_with_assay() -> None:
    assert names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_each_is_whole(name: str) -> None:
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


def test_a_users_own_is_named_by_its_path(tmp_path: Path) -> None:
    path = write(tmp_path, "name: mine\nrun: exit 0\n")
    agent, _ = make_agent("command", [f"adapter={path}"])
    assert agent.name == "mine"


def test_its_content_is_part_of_its_version(tmp_path: Path) -> None:
    first = Command(CommandSettings(adapter=write(tmp_path, "name: mine\nrun: exit 0\n"))).version
    other = tmp_path / "other.yaml"
    other.write_text("name: mine\nrun: exit 1\n")
    assert Command(CommandSettings(adapter=str(other))).version != first


def test_a_run_may_ask_for_another_version() -> None:
    agent = Command(CommandSettings(adapter="mini-swe-agent", version="2.0.0"))
    assert agent.adapter.install.version == "2.0.0"
    assert agent.version.startswith("2.0.0 ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("run: exit 0\n", "field name: Field required"),
        ("name: mine\n", "field run: Field required"),
        ("name: mine\nrun: x\ntimeout: 3\n", "field timeout: Extra inputs are not permitted"),
        ("name: Mine!\nrun: x\n", "field name: String should match pattern"),
        ("name: mine\nrun: x\nenv: {URL: '{url}'}\n", "env URL has the unknown placeholder {url}; known are base_url"),
        ("name: mine\nrun: x\ninstall: {ecosystem: python}\n", "ecosystem python needs a version, and a package"),
        ("name: mine\nrun: x\ninstall: {package: p}\n", "without an ecosystem (python or node) nothing is installed"),
        ("name: mine\nrun: x\nerrors: [{pattern: '(', suggests: agent_error}]\n", "'(' is no regular expression"),
        ("name: mine\nrun: x\nspeaks: telnet\n", "field speaks: Input should be 'chat'"),
        ("name: mine\nrun: x\ninstall: {folder: nowhere}\n", "nowhere is no folder"),
        ("- name\n", "an adapter is a mapping"),
        ("name: [\n", "this is no YAML"),
    ],
)
def test_a_wrong_one_is_told_by_file_and_field(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UserError) as error:
        load_adapter(write(tmp_path, text))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_tells_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"no agent 'copilot'; known are aider, .* or give the path"):
        load_adapter("copilot")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UserError, match=r"gone\.yaml cannot be read"):
        load_adapter("gone.yaml")


def test_every_name_that_a_tool_has_for_a_model_is_the_runs() -> None:
    env = load_adapter("claude-code").env
    named = [name for name in env if name.endswith("_MODEL")]
    assert len(named) == 6
    assert {env[name] for name in named} == {"{model}"}


def test_only_known_placeholders_are_filled() -> None:
    text = '{"models": {"{model}": {}}, "x": {a,b}, "y": {home}}'
    assert fill(text, {"model": "toy"}) == '{"models": {"toy": {}}, "x": {a,b}, "y": {home}}'


def test_a_folder_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    adapter = load_adapter(write(tmp_path, "name: mine\nrun: x\ninstall: {folder: bin}\n"))
    assert adapter.install.folder == tmp_path / "bin"


def test_the_output_suggests_in_the_order_of_the_patterns_each_once() -> None:
    adapter = load_adapter("mini-swe-agent")
    said = "APIConnectionError: again\nAPIConnectionError\nContextWindowExceededError"
    assert adapter.suggestions(said) == (SolutionStatus.CONTEXT_EXCEEDED, SolutionStatus.INFRA_ERROR)
    assert adapter.suggestions("all is well") == ()
