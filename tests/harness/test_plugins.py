import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Status
from assay.harness import languages, reports, runners
from assay.harness.engines import Engine, open_engine
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import PluginError, UserError
from assay.harness.plugins import Registry, check_part

TOOLS = Registry[Any]("tool", "assay.tools", {"join": "os.path:join", "json": "json", "broken": "os.path:nowhere"})


def test_short_name_stands_for_attribute_or_module() -> None:
    import json
    import os.path

    assert TOOLS.resolve("join") is os.path.join
    assert TOOLS.resolve("json") is json


def test_path_to_an_attribute_needs_no_name() -> None:
    assert TOOLS.resolve("math:floor")(1.5) == 1


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        PluginError, match=r"unknown tool 'nail'; known are broken, join, json \(or give module:attribute\)"
    ):
        TOOLS.resolve("nail")


@pytest.mark.parametrize("name", ["broken", "no.such.module:x"])
def test_name_that_cannot_be_loaded_says_why(name: str) -> None:
    with pytest.raises(PluginError, match=f"tool '{name}' cannot be loaded: "):
        TOOLS.resolve(name)


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that installs a distribution with entry points, given as lines of their file."""

    def install(*lines: str, **modules: str) -> None:
        described = tmp_path / "far_tools-1.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: far-tools\nVersion: 1.0\n")
        (described / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)

    return install


def test_entry_point_of_another_distribution_is_found(register: Callable[..., None]) -> None:
    register("[assay.tools]", "saw = math:sqrt")
    assert TOOLS.resolve("saw")(4) == 2
    with pytest.raises(PluginError, match="known are broken, join, json, saw"):
        TOOLS.resolve("nail")


def test_two_parts_of_one_name_are_refused(register: Callable[..., None]) -> None:
    register("[assay.tools]", "saw = far_saw", "plane = far_plane", far_saw="NAME = 'saw'", far_plane="NAME = 'join'")
    with pytest.raises(PluginError, match=r"two tools are called join: 'os\.path:join' and <module 'far_plane'"):
        Registry[Any]("tool", "assay.tools", TOOLS.parts).load_group()


def test_an_engine_that_lacks_a_member_is_refused() -> None:
    with pytest.raises(PluginError, match="engine builtins:dict lacks abort, build, "):
        open_engine("builtins:dict")


def test_the_check_of_an_engines_members_does_not_ask_the_engine() -> None:
    class Docker(FakeEngine):
        @property
        def unenforced(self) -> frozenset[str]:  # type: ignore[override]
            raise AssertionError("this is a request")

    check_part("engine docker", Engine, Docker({}))


@pytest.mark.parametrize("find", [reports.find, runners.find, languages.find])
def test_a_name_out_of_data_imports_no_module(find: Callable[[str], object], in_folder: Path) -> None:
    Path("planted.py").write_text("raise SystemExit('imported')\n")
    with pytest.raises(UserError, match=r"unknown .* 'planted:x'; known are "):
        find("planted:x")


def test_a_report_format_of_another_distribution_reads_reports(
    register: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "from assay import Status\nNAME = 'far'\ndef parse(text): return {text.strip(): Status.PASSED}\n"
    register("[assay.report_formats]", "far = far_report", "bad = math", far_report=module)
    monkeypatch.setattr(reports.FORMATS, "parts", dict(reports.FORMATS))
    assert reports.find("far").parse("a::b\n") == {"a::b": Status.PASSED}
    with pytest.raises(PluginError, match="report format math lacks NAME, parse; it needs all members of ReportFormat"):
        reports.find("bad")


def test_a_data_set_format_of_another_distribution_reads_rows(register: Callable[..., None], in_folder: Path) -> None:
    module = (
        "from assay.instances.dataset.formats.native import RULES, from_instance\n"
        "NAME = 'far'\n"
        "def matches(row): return 'far' in row\n"
        "def find_id(row): return row['far']\n"
        "def to_instance(row, dataset):\n"
        "    from assay import Instance\n"
        "    return Instance(id=row['far'], repo='a/b', base_commit='0' * 40, problem_statement='p', gold_patch='',\n"
        "                    test_patch='', fail_to_pass=('t',), pass_to_pass=(),\n"
        "                    created_at='2024-01-01T00:00:00Z', dataset=dataset)\n"
    )
    register("[assay.dataset_formats]", "far = far_rows", far_rows=module)
    Path("rows.jsonl").write_text('{"far": "a__b-1"}\n')
    shown = "import assay; print([each.id for each in assay.load('rows.jsonl').instances])"
    env = {**os.environ, "PYTHONPATH": sys.path[0]}
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=False, env=env)
    assert done.stdout == "['a__b-1']\n", done.stderr
