import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from assay.harness.errors import PluginError
from assay.harness.exports import FORMATS, find
from assay.harness.exports.metadata import SubmissionMetadata

ROOT = Path(__file__).parents[3]


def test_every_format_is_documented_with_what_it_needs() -> None:
    page = (ROOT / "docs/submitting.md").read_text()
    rows = dict(re.findall(r"^\| \[?`([\w-]+)`[^|]*\|[^|]*\|([^|]*)\|$", page, re.MULTILINE))
    assert {name: set(FORMATS[name].REQUIRED) - {*re.split(r"[,; ]+", rows[name])} for name in FORMATS} == {
        name: set() for name in FORMATS
    }


def test_needed_fields_are_fields() -> None:
    assert {field for each in FORMATS.values() for field in each.REQUIRED} <= {*SubmissionMetadata.model_fields}


def test_a_format_of_another_distribution_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("theirs")
    theirs.__dict__.update(
        NAME="theirs", LEADERBOARD=False, REQUIRED=(), files=lambda _run: (), check=lambda _folder: ()
    )
    monkeypatch.setitem(sys.modules, "theirs", theirs)
    monkeypatch.setitem(sys.modules, "packed", ModuleType("packed"))
    monkeypatch.setattr(sys.modules["packed"], "FORMAT", theirs, raising=False)
    assert find("packed:FORMAT") is theirs


def test_a_format_that_lacks_a_member_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ModuleType("theirs")
    theirs.__dict__.update(NAME="theirs", REQUIRED=(), files=lambda _run: ())
    monkeypatch.setitem(sys.modules, "theirs", theirs)
    theirs.__dict__["FORMAT"] = theirs
    with pytest.raises(PluginError, match="export theirs lacks LEADERBOARD, check; it needs all members of"):
        find("theirs:FORMAT")


def test_an_unknown_format_names_the_known() -> None:
    with pytest.raises(PluginError, match="unknown export 'swebnch'"):
        find("swebnch")
