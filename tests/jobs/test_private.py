"""A private index and a private clone, both with passwords: built, evaluated, and the passwords are nowhere then."""

import json
import re
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.doctor import _own_address
from front_door import run
from languages.hello import Hello
from private_host import PASSWORD, PLANTED, USER, add_wheel, find_planted, serve_private
from stand_ins import as_row
from toys import NpmRegistry

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.slow, pytest.mark.xdist_group("build")]
PYTHON = Hello(
    language="python",
    files={
        "pyproject.toml": "[project]\nname = 'calc'\nversion = '1.0'\ndependencies = ['toy']  # TOKEN\n",
        "calc.py": "import toy\nMADE = 'in public'\n",
        "tests/test_calc.py": "import toy\ndef test_runs(): assert toy.MADE == 'privately'\n",
    },
    tests={},
    fix={"calc.py": "import toy\nMADE = toy.MADE\n"},
    test_change={"tests/test_more.py": "import calc\ndef test_made(): assert calc.MADE == 'privately'\n"},
    fixed=("tests/test_more.py::test_made",),
    kept=("tests/test_calc.py::test_runs",),
)
PRIVATE = "module.exports = 'privately'"
TAP = "console.log(`1..1\\n${{({body}) ? 'ok' : 'not ok'}} 1 - {name}`)\n"
JAVASCRIPT = Hello(
    language="javascript",
    recipe={
        "test_command": "for file in test/*.js; do node $file; done > /tmp/tap\ncat /tmp/tap; cat /tmp/tap > {report}",
        "report_format": "tap",
        "log_format": "tap",
        "test_id": "node",
    },
    files={
        "package.json": '{"name": "calc", "version": "1.0.0", "dependencies": {"toy": "*"}, "description": "TOKEN"}',
        "calc.js": "module.exports = 'in public'\n",
        "test/runs.js": TAP.format(name="runs", body="require('toy') === 'privately'"),
    },
    tests={},
    fix={"calc.js": "module.exports = require('toy')\n"},
    test_change={"test/more.js": TAP.format(name="made", body="require('../calc') === 'privately'")},
    fixed=("made",),
    kept=("runs",),
)


PROJECTS = [pytest.param(each, id=each.language, marks=each.toolchain) for each in (PYTHON, JAVASCRIPT)]


def write_project(project: Hello, folder: Path) -> None:
    """Write rows and recipe of a project that no image of an earlier run serves, and what its private host serves."""
    files = {path: text.replace("TOKEN", uuid4().hex) for path, text in project.files.items()}
    project = project.model_copy(update={"files": files})
    instance = project.instance("private", project.make_repository(folder / "origin"))
    recipe = folder / "recipes" / project.language / f"{instance.repo.replace('/', '__')}.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(yaml.safe_dump({"repo": instance.repo, "language": project.language, **project.recipe}))
    (folder / "rows.jsonl").write_text(json.dumps(as_row(instance) | {"language": project.language}) + "\n")
    clone = ["git", "clone", "--quiet", "--bare", f"origin/{instance.repo}", f"served/git/{instance.repo}.git"]
    subprocess.run(clone, cwd=folder, check=True)
    add_wheel(folder / "served")
    (folder / "logins").mkdir()
    (folder / "logins/netrc").write_text(f"machine {_own_address()} login {USER} password {PASSWORD}\n")


def name_host(url: str, folder: Path) -> dict[str, str]:
    """Return the variables of somebody with logins for a host."""
    host, login = url.rpartition("/")[2], f"{USER}:{PASSWORD.replace('%', '%25')}@"
    NpmRegistry(folder / "served", f"{url}/npm").add("toy", "1.0.0", {"index.js": PRIVATE}, "2020-01-01T00:00:00Z")
    return {
        "ASSAY_CACHE": str(folder / "cache"),
        "NETRC": str(folder / "logins/netrc"),
        "UV_INDEX": f"{url}/simple",
        "UV_INSECURE_HOST": host,
        "npm_config_registry": f"http://{login}{host}/npm/",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.http://{login}{host}/git/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
        "no_proxy": _own_address(),
    }


@pytest.mark.parametrize("project", PROJECTS)
def test_what_is_private_is_built_and_evaluated_and_no_password_stays(
    project: Hello, docker_engine: DockerEngine, in_folder: Path
) -> None:
    write_project(project, in_folder)
    marker = in_folder / "marker"
    marker.touch()
    with serve_private(in_folder / "served", _own_address()) as url:
        command = ("evaluate", "rows.jsonl", "--gold", "--run-id", "mine", "--recipes", "recipes")
        done = run(in_folder, *command, **name_host(url, in_folder))
    made = re.findall(r"\bbuilt (assay/(?:env|instance)-\S+)", done.err)
    try:
        assert "1 of 1 resolved" in done.out, done.out + done.err
        assert [name for name in made if f"env-{project.language}" in name]
        assert not any(word.decode() in done.out + done.err for word in PLANTED)
        assert find_planted(in_folder / "cache", in_folder / "runs") == []
        for verb in (["inspect"], ["history", "--no-trunc"]):
            shown = [subprocess.run(["docker", *verb, name], capture_output=True, check=True).stdout for name in made]
            assert not any(word in text for word in PLANTED for text in shown)
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
