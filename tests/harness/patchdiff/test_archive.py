import ast
import io
import json
import zipfile
from pathlib import Path

import pytest

from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.patchdiff import probe
from assay.harness.patchdiff.archive import probe_archive
from saved_images import make_tar
from toolchains import toolchain_image

SOURCES = sorted(Path(probe.__file__).parent.glob("*.py"))

STANDARD = {"pathlib", "typing", "collections", "types"}
TESTS = """\
import unittest

from shop import double


class Shop(unittest.TestCase):
    def test_double(self):
        self.assertEqual(double(4), 8)
"""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_probe_uses_python_3_6_and_the_standard_library_only(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 6))
    assert "from __future__" not in path.read_text()
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    assert not [name for name in names if name and name.partition(".")[0] not in STANDARD]


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.parametrize(
    "version", [pytest.param(each, marks=pytest.mark.toolchain("python", each)) for each in ("3.7", "3.13")]
)
def test_archive_runs_on_other_versions_without_pytest(docker_engine: DockerEngine, version: str) -> None:
    image = toolchain_image(docker_engine, "python", version)
    target = {"path": "shop.py", "name": "double", "first": 1, "last": 2}
    job = {"files": ["test_shop.py"], "targets": [target], "seed": 1, "mutants": 4, "limit": 2, "budget": 3600}
    files = {
        "shop.py": "def double(n):\n    return n * 2\n",
        "test_shop.py": TESTS,
        "job.json": json.dumps({**job, "command": "python3 -m unittest test_shop"}),
    }
    command = "python3 probe.pyz amplify job.json amplify.jsonl && python3 probe.pyz record job.json record.jsonl"
    with docker_engine.open(BoxSpec(image)) as box:
        box.put(
            make_tar({**{path: text.encode() for path, text in files.items()}, "probe.pyz": probe_archive()}), "/opt"
        )
        done = box.exec(["sh", "-c", f"cd /opt && {command}"], seconds=120)
        assert done.exit_code == 0, done.output
        left = box.get("/opt/amplify.jsonl", 1 << 20) | box.get("/opt/record.jsonl", 1 << 20)
    seen, calls = ([json.loads(line) for line in left[name].splitlines()] for name in ("amplify.jsonl", "record.jsonl"))
    assert [row["text"] for row in seen if row.get("key") == "test_shop.py::Shop::test_double|m0|s0#1"] == ["8"]
    assert any(row["mutated"] and row["target"] for row in seen[:-1])
    assert calls[0]["literal"] == "((4,), {},)"
    assert [rows[-1] for rows in (seen, calls)] == [{"end": "done"}] * 2


def test_archive_holds_every_module_and_is_the_same_every_time() -> None:
    with zipfile.ZipFile(io.BytesIO(probe_archive())) as archive:
        names = archive.namelist()
        assert names == ["__main__.py", *(f"assay_probe/{path.name}" for path in SOURCES)]
        assert {each.compress_type for each in archive.infolist()} == {zipfile.ZIP_STORED}
    first = probe_archive()
    probe_archive.cache_clear()
    assert probe_archive() == first
