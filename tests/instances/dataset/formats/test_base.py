"""What every data-set format has, and what happens to one that lacks a part of it."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from assay.cli.main import app
from assay.harness.domain import Rule
from assay.harness.errors import PluginError
from assay.harness.plugins import check_part
from assay.instances.dataset.formats import FORMATS, polybench
from assay.instances.dataset.formats.base import DatasetFormat

MEMBERS = ("NAME", "RULES", "matches", "find_id", "to_instance", "from_instance")
ROWS = ({}, {"instance_id": 7}, {"org": None, "repo": [], "number": {}}, {"repo_name": "", "commit_hash": 3})


def without(member: str) -> ModuleType:
    module = ModuleType("my_format")
    vars(module).update({name: getattr(polybench, name) for name in MEMBERS if name != member})
    return module


@pytest.mark.parametrize("member", MEMBERS)
def test_a_format_without_a_member_is_refused_by_name(member: str) -> None:
    with pytest.raises(PluginError, match=rf"my_format lacks {member}; .*DatasetFormat in .*formats\.base") as caught:
        check_part("my_format", DatasetFormat, without(member))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_answers_for_any_row(name: str) -> None:
    for row in ROWS:
        assert FORMATS[name].matches(row) in {True, False}, json.dumps(row)
        assert isinstance(FORMATS[name].find_id(row), str), json.dumps(row)
    for row in ({}, {"instance_id": "x"}, {"question": "1 + 1", "answer": "2"}):
        assert not FORMATS[name].matches(row)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_known_rules(name: str) -> None:
    assert set() < set(FORMATS[name].RULES) <= set(Rule)


def test_every_format_and_rule_is_in_the_docs_and_in_the_help() -> None:
    docs = (Path(__file__).parents[4] / "docs/rules.md").read_text()
    assert [name for name in (*FORMATS, *Rule) if f"\n| `{name}` |" not in docs] == []
    dataset = get_command(app).commands["dataset"]  # type: ignore[attr-defined]
    assert [name for name in FORMATS if name not in dataset.commands["convert"].help] == []
