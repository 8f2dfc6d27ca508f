import pytest

from assay.agents.external.command import Command
from assay.agents.registry import AGENTS, PRESETS, make_agent
from assay.agents.solvers.bash_loop import BashLoop
from assay.agents.solvers.best_of.solver import BestOf
from assay.harness.errors import PluginError, UserError


def test_make_agent_reads_values_as_json_or_text() -> None:
    agent, settings = make_agent("bash_loop", ["steps=7", "form=block", "cost=null"])
    assert isinstance(agent, BashLoop)
    assert settings == BashLoop.Settings(steps=7, form="block", cost=None)


def test_make_agent_nests_settings_at_dots() -> None:
    _, settings = make_agent("best_of", ["inner=bash_loop", "inner_settings.steps=3", "inner_settings.keep=2"])
    assert isinstance(settings, BestOf.Settings)
    assert settings.inner_settings == {"steps": 3, "keep": 2}


def test_make_agent_takes_a_class_by_its_module() -> None:
    agent, _ = make_agent("assay.agents.solvers.controls:Null")
    assert agent.name == "null"


def test_make_agent_finds_an_external_agent_by_its_adapter() -> None:
    agent, _ = make_agent("mini-swe-agent")
    assert isinstance(agent, Command)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_a_solver_with_settings_that_can_be_changed(name: str) -> None:
    solver, own = (make_agent(each)[1].model_dump() for each in (str(PRESETS[name]["solver"]), name))
    changed = own.keys() & PRESETS[name].keys()
    assert {key: own[key] for key in changed} == {key: PRESETS[name][key] for key in changed}
    assert {key: own[key] for key in own.keys() - changed} == {key: solver[key] for key in own.keys() - changed}
    key = sorted(changed)[0]
    assert make_agent(name, [f"{key}={solver[key]}"])[1].model_dump()[key] == solver[key]


def test_wrong_setting_of_a_preset_names_the_preset() -> None:
    with pytest.raises(UserError, match="agent agentless_mini: setting sampels"):
        make_agent("agentless_mini", ["sampels=3"])


@pytest.mark.parametrize("name", sorted(set(AGENTS) - {"replay", "command"}))
def test_every_agent_without_a_required_setting_can_be_made(name: str) -> None:
    agent, _ = make_agent(name)
    assert agent.name == name


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["steps"], "is no setting; write --set key=value"),
        (["=3"], "is no setting"),
        (["steps=0"], "agent bash_loop: setting steps: Input should be greater than 0; it knows form, steps"),
        (["stepz=1"], "setting stepz"),
        (["steps=1", "steps.more=2"], "steps is set already"),
    ],
)
def test_wrong_setting_is_a_user_error_that_names_it(given: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_agent("bash_loop", given)


def test_unknown_agent_is_an_error_that_lists_the_external_ones() -> None:
    with pytest.raises(PluginError, match=r"known are agentless, agentless_mini, aider, .*mini-swe-agent"):
        make_agent("nobody")
