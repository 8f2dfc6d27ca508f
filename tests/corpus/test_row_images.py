"""Look-alikes of the images that other data sets' rows name, each with its layout, through the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance, Rule, Stages, Status
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.patches.diff import read_diff
from assay.instances.dataset.formats import FORMATS
from assay.instances.dataset.formats.reverse import reverse
from corpus.places import Places
from lookalikes import build_lookalike, dress_lookalike

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.toolchain("python", "")]
ON_PATH = "ln -s /opt/venv/bin/* /usr/local/bin/"


@dataclass(frozen=True)
class Look:
    """A row, and what its image has beside a look-alike of SWE-bench's."""

    row: dict[str, Any]
    image: str
    files: dict[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    folder: str = "/testbed"
    hidden: tuple[str, ...] = ()
    """What only the image has and no container may."""


def classic(instance: Instance) -> dict[str, Any]:
    return FORMATS["swebench"].from_instance(instance)


def multi_swe_bench(instance: Instance) -> Look:
    kept, fixed = instance.pass_to_pass, instance.fail_to_pass
    passed, failed = dict.fromkeys(kept, Status.PASSED), dict.fromkeys(fixed, Status.FAILED)
    stages = Stages(run=passed, test=passed | failed, fix=dict.fromkeys((*kept, *fixed), Status.PASSED))
    row = FORMATS["multi-swe-bench"].from_instance(instance.model_copy(update={"stages": stages}))
    script = "\n".join(
        (
            *("#!/bin/bash", "set -e", "cd /home/calc-go"),
            *("git apply --whitespace=nowarn /home/test.patch /home/fix.patch", "go test -v -count=1 ./..."),
        )
    )
    files = {
        "/home/fix-run.sh": script,
        "/home/fix.patch": instance.gold_patch,
        "/home/test.patch": instance.test_patch,
    }
    moved = "mv /testbed /home/calc-go"
    return Look(row, "mswebench/acme_m_calc-go:pr-1", files, (moved,), "/home/calc-go", tuple(files))


def polybench(instance: Instance) -> Look:
    labels = {"F2P": repr([*instance.fail_to_pass]), "P2P": repr([*instance.pass_to_pass])}
    dockerfile = "FROM python:3.11\nWORKDIR /work/here\nRUN pip install -e .\n"
    command = {"Dockerfile": dockerfile, "test_command": "pytest -rA tests/test_calc.py", "language": "Python"}
    moved = f"mkdir /work && mv /testbed /work/here && ln -s /work/here /testbed && {ON_PATH}"
    image = "ghcr.io/timesler/swe-polybench.eval.x86_64.acme__python-calc:v1.1"
    return Look({**classic(instance), **labels, **command}, image, commands=(moved,))


def swebench_live(instance: Instance) -> Look:
    more = {"rebuild_cmds": ["touch built"], "test_cmds": ["pytest -rA tests/test_calc.py"], "print_cmds": []}
    image = "starryzhang/sweb.eval.x86_64.acme_1776_python-calc"
    return Look({**classic(instance), **more, "log_parser": "pytest"}, image, commands=(ON_PATH,))


def swe_rebench(instance: Instance) -> Look:
    install = {"test_cmd": ["pytest -rA tests/test_calc.py"], "log_parser": "parse_log_pytest", "install": []}
    image = "assay-test/rebench/acme-calc:1-aaaaaaa"
    row = {
        **classic(instance),
        "install_config": install,
        "image_name": image,
        "pr_description": "",
        "language": "Python",
    }
    return Look(row, image, commands=(f"mv /testbed /calc-python && ln -s /calc-python /testbed && {ON_PATH}",))


def swe_smith(instance: Instance) -> Look:
    image = "assay-test/swesmith.x86_64.acme_1776_calc-python.aaaaaaaa"
    row = {**classic(instance), "patch": reverse(instance.gold_patch), "image_name": image}
    files = {"/patch": instance.gold_patch + instance.test_patch}
    fixed = "cd /testbed && git status > /dev/null && git apply --index /patch && rm /patch && git commit -qm fixed"
    return Look({name: row[name] for name in row if name != "test_patch"}, image, files, (fixed,))


def r2e(instance: Instance) -> Look:
    files = [describe_file(each) for each in read_diff(instance.gold_patch + instance.test_patch)]
    parsed = {"file_diffs": files, "old_commit_hash": instance.base_commit, "commit_date": "2023-06-01T00:00:00"}
    names = (name.rpartition("::")[2] for name in (*instance.fail_to_pass, *instance.pass_to_pass))
    row = {
        "docker_image": "assay-test/calc_final:1",
        "repo_name": "calc",
        "commit_hash": "c" * 40,
        "parsed_commit_content": json.dumps(parsed),
        "expected_output_json": json.dumps(dict.fromkeys(names, "PASSED")),
        "problem_statement": "[ISSUE]\nsums\n[/ISSUE]",
    }
    hidden = {
        "/testbed/parsed_commit.json": json.dumps(parsed),
        "/testbed/run_tests.sh": "",
        "/r2e_tests/test_1.py": "",
    }
    own = "cp -a /opt/venv /testbed/.venv && rm -r /opt/venv"
    return Look(row, row["docker_image"], hidden, (own,), hidden=tuple(hidden))


def describe_file(change: Any) -> dict[str, Any]:
    kinds = {" ": "context", "+": "added", "-": "deleted"}
    hunks = [
        {
            "descriptor": {
                "old_range": {"start": each.start, "length": sum(line.mark != "+" for line in each.lines)},
                "new_range": {"start": each.new_start, "length": sum(line.mark != "-" for line in each.lines)},
            },
            "line_group": {"all_lines": [{"type": kinds[line.mark], "content": line.text} for line in each.lines]},
        }
        for each in change.hunks
    ]
    return {
        "header": {"file": {"path": change.new}, "misc_line": None if change.old else "new file mode 100644"},
        "minus_file": {"path": f"a/{change.old}" if change.old else "/dev/null"},
        "plus_file": {"path": f"b/{change.new}"},
        "hunks": hunks,
    }


PYTHON = (polybench, swebench_live, swe_rebench, swe_smith, r2e)


@pytest.fixture
def look(
    request: pytest.FixtureRequest, places: Places, docker_engine: DockerEngine, tmp_path: Path
) -> Iterator[tuple[Path, Look]]:
    """A file with a row, and its image on the engine."""
    language = "python" if request.param in PYTHON else "go"
    own = places.prepare(language, "calc")
    instance = own.instance.model_copy(update={"environment": None, "rule": Rule.SWE_BENCH})
    if language == "go":
        instance = instance.model_copy(update={"id": "acme__calc-go-1"})
    made: Look = request.param(instance)
    below = f"assay-test/lookalike:{own.image.rpartition(':')[2]}"
    build_lookalike(docker_engine, below, own.image, places.root / instance.repo, places.commits[language])
    dress_lookalike(docker_engine, made.image, below, made.files, *made.commands)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(made.row) + "\n")
    yield rows, made
    docker_engine.remove_image(made.image)


@pytest.fixture
def assay(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Call ``assay``; return the JSON that it prints."""

    def call(*arguments: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "assay", *arguments, "--json"]
        env = {**os.environ, "ASSAY_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        return dict(json.loads(done.stdout))

    return call


LOOKS = [
    pytest.param(multi_swe_bench, marks=pytest.mark.toolchain("go", ""), id="multi_swe_bench"),
    *(pytest.param(each, id=each.__name__) for each in (swe_rebench, swe_smith, r2e)),
    *(pytest.param(each, id=each.__name__, marks=pytest.mark.exhaustive) for each in (polybench, swebench_live)),
]


@pytest.mark.parametrize("look", LOOKS, indirect=True)
def test_gold_is_resolved_and_null_is_not_in_the_image_that_a_row_names(
    look: tuple[Path, Look], assay: Callable[..., dict[str, Any]], docker_engine: DockerEngine
) -> None:
    rows, made = look
    for patch, environment, outcome in (("--gold", "auto", "resolved"), ("--null", "published", "unresolved")):
        report = assay("evaluate", str(rows), patch, "--environment", environment)
        assert [*report["outcomes"].values()] == [outcome], report
    (kept,) = rows.parent.glob("runs/rows.gold/instances/*")
    verdict, evidence = (json.loads((kept / f"{name}.json").read_text()) for name in ("verdict", "evidence"))
    assert verdict["verdict"]["environment"] == "published"
    assert not {"read_from_log", "no_tripwires", "tests_ran_as_root"} & {*verdict["verdict"]["flags"]}
    look_around = f"ls {' '.join(made.hidden) or '/none'} 2> /dev/null; git log --all --format=%s"
    with docker_engine.open(BoxSpec(evidence["image"])) as box:
        found = box.exec(["bash", "-c", look_around], user="assay", workdir=made.folder)
    assert found.output.decode().split() == ["base"], found
