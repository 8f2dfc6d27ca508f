"""Specs of CDI: which devices they name, and what a container gets with each."""

import json
from pathlib import Path

import pytest

from assay.harness.engines import cdi
from assay.harness.engines.cdi import read_devices
from assay.harness.errors import DataError, UserError

KIND = "acme.test/gpu"
SPEC = {
    "cdiVersion": "0.6.0",
    "kind": KIND,
    "containerEdits": {"env": ["ACME=1"], "deviceNodes": [{"path": "/dev/acmectl"}]},
    "devices": [
        {
            "name": "0",
            "containerEdits": {
                "env": ["ACME_CARD=0"],
                "deviceNodes": [{"path": "/dev/acme0", "hostPath": "/tmp/card0", "permissions": "rw"}],
                "mounts": [{"hostPath": "/lib/acme.so", "containerPath": "/lib/acme.so", "options": ["ro", "bind"]}],
            },
        },
        {"name": "1", "containerEdits": {"hooks": [{"hookName": "createContainer", "path": "/usr/bin/acme"}]}},
        {"name": "all", "containerEdits": {}},
    ],
}


@pytest.fixture(autouse=True)
def _no_specs_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdi, "USUAL", ())


def write(folder: Path, spec: object, name: str = "acme.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(spec))
    return folder


def test_a_device_has_its_own_edits_and_those_of_its_spec(tmp_path: Path) -> None:
    first, second = read_devices(KIND, [write(tmp_path, SPEC)])
    assert first.full_name == "acme.test/gpu=0"
    assert first.nodes == ("/tmp/card0",)
    assert first.edits.env == ("ACME=1", "ACME_CARD=0")
    assert [(node.host, node.path, node.permissions) for node in first.edits.nodes] == [
        ("/dev/acmectl", "/dev/acmectl", "rwm"),
        ("/tmp/card0", "/dev/acme0", "rw"),
    ]
    assert first.is_plain
    assert not second.is_plain, "a hook is a program that only an engine runs"


def test_the_later_folder_counts_and_other_kinds_and_files_do_not(tmp_path: Path) -> None:
    first, later = write(tmp_path / "a", SPEC), write(tmp_path / "b", {**SPEC, "devices": [{"name": "0"}]})
    write(later, {**SPEC, "kind": "other.test/gpu"}, "other.json")
    (later / "notes.txt").write_text("{")
    found = read_devices(KIND, [first, later])
    assert [(each.name, each.folder) for each in found] == [("0", later), ("1", first)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**SPEC, "devices": [{"containerEdits": {}}]}, "acme.json: field devices.0.name: is missing; add it"),
        ({"kind": KIND}, "acme.json: field devices: is missing; add it"),
        ([1], "acme.json: is not a mapping"),
    ],
)
def test_a_wrong_spec_is_named_with_its_field(tmp_path: Path, spec: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_devices(KIND, [write(tmp_path, spec)])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--cdi"):
        read_devices(KIND, [tmp_path / "none"])
