"""What every data-set format has, and what happens to one that lacks a part of it."""

import json
from types import ModuleType

import pytest

from assay.harness.errors import PluginError
from assay.instances.dataset.formats import FORMATS, polybench
from assay.instances.dataset.formats.base import by_name

MEMBERS = ("NAME", "RULES", "matches", "id_of", "to_instance", "from_instance")
ROWS = ({}, {"instance_id": 7}, {"org": None, "repo": [], "number": {}}, {"repo_name": "", "commit_hash": 3})


def without(member: str) -> ModuleType:
    module = ModuleType("my_format")
    vars(module).update({name: getattr(polybench, name) for name in MEMBERS if name != member})
    return module


@pytest.mark.parametrize("member", MEMBERS)
def test_a_format_without_a_member_is_refused_by_name(member: str) -> None:
    with pytest.raises(PluginError, match=rf"my_format lacks {member}; .*DatasetFormat in .*formats\.base") as caught:
        by_name(without(member))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_answers_for_any_row(name: str) -> None:
    for row in ROWS:
        assert FORMATS[name].matches(row) in {True, False}, json.dumps(row)
        assert isinstance(FORMATS[name].id_of(row), str), json.dumps(row)
