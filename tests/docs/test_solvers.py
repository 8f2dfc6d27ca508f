"""The page of the native solvers names every setting with its usual value."""

import json
from pathlib import Path

import pytest

from assay.agents.registry import AGENTS, PRESETS, make_agent
from assay.agents.roles import ROLES

PAGE = (Path(__file__).parents[2] / "docs/solvers.md").read_text(encoding="utf-8")
OTHERS = {"gold", "null", "replay", "command"}


@pytest.mark.parametrize("name", sorted(set(AGENTS) - OTHERS))
def test_the_page_names_every_setting_with_its_usual_value(name: str) -> None:
    section = PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    said = {
        setting.strip(" `"): usual.strip(" `") for names, usuals in cells for setting, usual in _pair(names, usuals)
    }
    _, settings = make_agent(name)
    fields = type(settings).model_fields
    assert said.keys() == fields.keys()
    for setting, field in fields.items():
        usual = field.get_default(call_default_factory=True)
        if isinstance(usual, bool | int | float | str) and usual != "":
            assert said[setting] == (str(usual).lower() if isinstance(usual, bool) else str(usual)), setting


def test_every_step_of_a_paper_is_there_or_differs_and_few_are_left_out() -> None:
    here = {}
    for name in {*AGENTS, *PRESETS} - OTHERS:
        section = PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        table = section.partition("| step of the paper | here |\n| --- | --- |\n")[2].partition("\n\n")[0]
        here[name] = [line.split(" | ")[1] for line in table.splitlines()]
        assert len(here[name]) >= 3, name
    said = [cell for cells in here.values() for cell in cells]
    assert all(cell.startswith(("as there", "differs: ", "left out: ")) for cell in said)
    assert sum(cell.startswith("left out") for cell in said) <= 6


@pytest.mark.parametrize("name", PRESETS)
def test_the_page_names_every_setting_of_a_preset(name: str) -> None:
    section = PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    settings = {setting: value for setting, value in PRESETS[name].items() if setting != "solver"}
    assert settings
    for setting, value in settings.items():
        assert f"`{setting}={json.dumps(value)}`" in section


def _pair(names: str, usuals: str) -> list[tuple[str, str]]:
    """Pair settings of one line with their values; one value stands for all."""
    settings, values = names.split(","), usuals.split(",")
    return list(zip(settings, values * len(settings) if len(values) == 1 else values, strict=False))


def test_the_page_has_the_table_of_roles() -> None:
    section = PAGE.partition("\n## Roles\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    said = [(solver.strip("`"), role.strip("`"), does) for solver, role, does in rows]
    assert said == [(solver, role, does) for solver, roles in ROLES.items() for role, does in roles.items()]
