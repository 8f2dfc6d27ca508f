"""Plug-ins by name."""

from pathlib import Path

import pytest

from assay.harness.errors import PluginError
from assay.harness.plugins import resolve

KNOWN = {"join": "os.path:join", "json": "json", "broken": "os.path:nowhere"}


def test_short_name_stands_for_attribute_or_module() -> None:
    import json
    import os.path

    assert resolve("tool", "join", KNOWN) is os.path.join
    assert resolve("tool", "json", KNOWN) is json


def test_path_to_an_attribute_needs_no_name() -> None:
    assert resolve("tool", "math:floor", KNOWN)(1.5) == 1


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        PluginError, match="unknown tool 'nail'; known are broken, join, json, or give module:attribute"
    ):
        resolve("tool", "nail", KNOWN)


@pytest.mark.parametrize("name", ["broken", "no.such.module:x"])
def test_name_that_cannot_be_loaded_says_why(name: str) -> None:
    with pytest.raises(PluginError, match=f"tool '{name}' cannot be loaded: "):
        resolve("tool", name, KNOWN)


def test_entry_point_of_another_distribution_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "far_tools-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: far-tools\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[assay.tools]\nsaw = math:sqrt\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert resolve("tool", "saw", KNOWN)(4) == 2
    with pytest.raises(PluginError, match="known are broken, join, json, saw"):
        resolve("tool", "nail", KNOWN)
