"""Tasks in Harbor's form whose verifiers download, and a folder that stands for the hosts that they ask."""

import difflib
import gzip
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from uv import find_uv_bin

from toolchains import toolchain_image

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
MADE_UP, REAL = TABLES["made_up"], TABLES["real"]
TASK = """\
[task]
name = "assay/{name}"

[metadata]
instance_id = "{name}"

[environment]
docker_image = "{image}"
workdir = "/app"
"""
END = "if [ $? -eq 0 ]; then\n  echo 1 > /logs/verifier/reward.txt\nelse\n  echo 0 > /logs/verifier/reward.txt\nfi\n"
INSTALL_TOOL = "mkdir -p $HOME/.tool/bin && printf '#!/bin/sh\\nexec python3 \"$@\"\\n' > $HOME/.tool/bin/tool\n"
INSTALL_UV = """\
mkdir -p $HOME/.local/bin && cd $HOME/.local/bin
for name in uv uvx; do curl -LsSf https://uv.example/0.9.9/$name -o $name && chmod +x $name; done
echo 'export PATH="$HOME/.local/bin:$PATH"' > env
"""


def make_tasks(engine: "DockerEngine", folder: Path, names: Iterable[str], dockerfile: str = "") -> Path:
    """Write tasks, and build their images, each with further lines in its Dockerfile."""
    for name in names:
        table = {**MADE_UP, **REAL}[name]
        project = TABLES["projects"][name.partition("-")[0]]
        context, image = folder.parent / "images" / name, f"assay-tests/downloading-{name}:1"
        base = toolchain_image(engine, *project["image"])
        text = f"FROM {base}\nCOPY app /app\nWORKDIR /app\n{dockerfile}"
        _write(context, {"Dockerfile": text, **{f"app/{path}": app for path, app in project["app"].items()}})
        engine.build(image, context, folder.parent / "log", secrets={}, labels={"assay.kind": "test"})
        checks = {f"tests/{path}": check for path, check in table.items() if path != "test"}
        files = {
            "task.toml": TASK.format(name=name, image=image),
            "instruction.md": "`add` subtracts.\n",
            "environment/Dockerfile": f"FROM {base}\nWORKDIR /app\n",
            "tests/test.sh": f"#!/bin/bash\n{table['test']}\n{END}".replace(f"\n\n{END}", f"\n{END}"),
            "solution/solve.sh": '#!/bin/bash\ncd /app && git apply "$(dirname "$0")/gold.patch"\n',
            "solution/gold.patch": make_fix(name),
            **checks,
        }
        _write(folder / name, files)
    return folder


def make_fix(name: str, wrong: str = "a - b", right: str = "a + b") -> str:
    project = TABLES["projects"][name.partition("-")[0]]
    path, before = project["file"], project["app"][project["file"]]
    old, new = (text.splitlines(keepends=True) for text in (before, before.replace(wrong, right)))
    return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))


def write_hosts(folder: Path) -> Path:
    """Write what the hosts of made-up addresses have: a package in the form of each index, installers, a file."""
    wheel = {
        "tiny.py": "FIVE = 5\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    }
    wheel["tiny-1.0.dist-info/WHEEL"] = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    wheel["tiny-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in wheel)
    crate = _tar(
        {
            "tiny-1.0.0/Cargo.toml": '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n',
            "tiny-1.0.0/src/lib.rs": "pub const FIVE: i64 = 5;\n",
        }
    )
    listed = {"name": "tiny", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False}
    listed["cksum"] = hashlib.sha256(crate).hexdigest()
    module = "example.com/tiny@v1.0.0"
    contents: dict[str, str | bytes] = {
        "index.example/simple/tiny/index.html": '<!DOCTYPE html><a href="/tiny-1.0-py3-none-any.whl">tiny</a>',
        "index.example/tiny-1.0-py3-none-any.whl": _zip(wheel),
        "get.example/install.sh": f"{INSTALL_TOOL}chmod +x $HOME/.tool/bin/tool\n",
        "files.example/expected.txt": "5\n",
        "files.example/tiny-1.0.0.tgz": _tar(
            {"package/package.json": '{"name": "tiny", "version": "1.0.0"}', "package/index.js": "exports.FIVE = 5;\n"}
        ),
        "go.example/example.com/tiny/@v/v1.0.0.info": '{"Version": "v1.0.0", "Time": "2024-01-01T00:00:00Z"}',
        "go.example/example.com/tiny/@v/v1.0.0.mod": "module example.com/tiny\n",
        "go.example/example.com/tiny/@v/v1.0.0.zip": _zip(
            {f"{module}/go.mod": "module example.com/tiny\n", f"{module}/tiny.go": "package tiny\n// return a + b\n"}
        ),
        "go.example/example.com/tiny/@v/list": "v1.0.0\n",
        "crates.example/index/config.json": '{"dl": "https://crates.example/dl/{crate}-{version}.crate"}',
        "crates.example/index/ti/ny/tiny": json.dumps(listed),
        "crates.example/dl/tiny-1.0.0.crate": crate,
        "uv.example/0.9.9/install.sh": INSTALL_UV,
    }
    _write(folder, contents)
    for name in ("uv", "uvx"):
        shutil.copy2(Path(find_uv_bin()).with_name(name), folder / "uv.example/0.9.9" / name)
    return folder


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def _zip(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _tar(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(packed.getvalue(), mtime=0)
