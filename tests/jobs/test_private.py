"""A private index and a private clone, both with passwords: built, evaluated, and the passwords are nowhere then."""

import json
import re
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.doctor import _own_address
from corpus.model import diff
from front_door import run
from private_host import LOGIN, PASSWORD, PLANTED, USER, find_planted, serve_private
from stand_ins import as_row
from toy import make_instance
from toys import Repository

FILES = {
    "pyproject.toml": "[project]\nname = 'calc'\nversion = '1.0'\ndependencies = ['toy']\n",
    "calc.py": "MADE = 'in public'\n",
    "tests/test_calc.py": "import toy\ndef test_runs(): assert toy.MADE == 'privately'\n",
}
FIX = {"calc.py": "import toy\nMADE = toy.MADE\n"}
MORE = {"tests/test_more.py": "import calc\ndef test_made(): assert calc.MADE == 'privately'\n"}


def write_row(folder: Path) -> None:
    """Write a row of a private repository that no image of an earlier run serves."""
    files = FILES | {"unique.txt": uuid4().hex, "pyproject.toml": f"# {uuid4().hex}\n{FILES['pyproject.toml']}"}
    repository = folder / "served/git/acme/calc.git"
    for path, text in files.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    Repository(repository).git("init", "--quiet")
    labels = {"fail_to_pass": ("tests/test_more.py::test_made",), "pass_to_pass": ("tests/test_calc.py::test_runs",)}
    patches = {"gold_patch": diff(files, files | FIX), "test_patch": diff(files, files | MORE)}
    instance = make_instance(base_commit=Repository(repository).commit(), **labels, **patches)
    (folder / "rows.jsonl").write_text(json.dumps(as_row(instance)) + "\n")


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.slow
@pytest.mark.xdist_group("build")
def test_what_is_private_is_built_and_evaluated_and_no_password_stays(
    docker_engine: DockerEngine, toolchain_image: str, in_folder: Path
) -> None:
    write_row(in_folder)
    marker, logins = in_folder / "marker", in_folder / "netrc"
    logins.write_text(f"machine {_own_address()} login {USER} password {PASSWORD}\n")
    marker.touch()
    with serve_private(in_folder / "served", _own_address()) as url:
        variables = {"ASSAY_CACHE": str(in_folder / "cache"), "NETRC": str(logins), "UV_INDEX": f"{url}/simple"}
        variables |= {"UV_INSECURE_HOST": url.rpartition("/")[2], "no_proxy": _own_address(), "GIT_CONFIG_COUNT": "1"}
        variables |= {"GIT_CONFIG_KEY_0": f"url.{url}/git/.insteadOf".replace("//", f"//{LOGIN}")}
        variables |= {"GIT_CONFIG_VALUE_0": "https://github.com/"}
        done = run(in_folder, "evaluate", "rows.jsonl", "--gold", "--run-id", "mine", **variables)
    made = re.findall(r"\bbuilt (assay/(?:env|instance)-\S+)", done.err)
    try:
        assert "1 of 1 resolved" in done.out, done.out + done.err
        assert [name for name in made if "env-python" in name]
        assert not any(word.decode() in done.out + done.err for word in PLANTED)
        assert find_planted(in_folder / "cache", in_folder / "runs") == []
        assert find_on_engine(marker) == ""
    finally:
        for name in sorted(made, reverse=True):
            docker_engine.remove_image(name)


def find_on_engine(marker: Path) -> str:
    """Name files of the engine, changed since the marker, that hold a secret: layers, build caches, clients' caches."""
    asked = ["docker", "info", "--format", "{{.DockerRootDir}}"]
    root = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    words = "".join(f" -e '{word.decode()}'" for word in PLANTED)
    command = f"find {root} -xdev -type f -newer {marker} -print0 | xargs -0 -r grep -laF {words}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False).stdout
