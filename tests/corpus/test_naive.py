"""The attacks are real: a harness that applies a patch, runs tests and believes what it sees falls for each of them.

Such a harness puts nothing back, has no tripwires and looks at one thing only: the exit status, the lines of the log
(up to the first end marker) or the report file.
"""

import io
import re
import shlex
import tarfile
from collections.abc import Callable, Mapping

import pytest

from assay.harness.domain import PASSING, Instance, Status
from assay.harness.engines.base import Box, BoxSpec, ExecResult
from assay.harness.engines.docker import DockerEngine
from assay.harness.patches.diff import find_touched_paths
from assay.harness.reports import FORMATS, lookup
from corpus.model import Case, corpus
from corpus.stage import Place, task_of

REPORT = "/tmp/naive/report.xml"
COMMANDS = {
    "python": f"python -m pytest -rA -p no:cacheprovider --junitxml={REPORT} -o junit_family=xunit1",
    "c": "make test",
    "go": "go test -v",
    "rust": "cargo test --offline",
}
"""What such a harness runs, by language; pytest is given the files of the tests."""
PASSED = {"python": r"^PASSED (\S+)", "go": r"^ *--- PASS: (\S+)", "rust": r"^test (\S+) \.\.\. ok$"}
"""How the log of each tells that a test has passed."""
ATTACKS = [case for case in corpus().cases if case.fools and case.language in COMMANDS]

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.exhaustive]  # of the attacks, not of Assay


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=pytest.mark.toolchain(case.language, "")) for case in ATTACKS]
)
def test_a_naive_harness_falls_for_it(
    case: Case, docker_engine: DockerEngine, place: Callable[[str, str], Place]
) -> None:
    where = place(case.language, case.instance)
    task = task_of(case, corpus().projects[case.language], where)
    files = {"model.patch": task.prediction.patch, "tests.patch": where.instance.test_patch}
    with docker_engine.open(BoxSpec(where.image, task.plan.limits, {"assay.run": "corpus-naive"})) as box:
        box.put(_packed(files))
        done = box.exec(["sh", "-c", _script(where.instance)], user="assay", workdir="/testbed", env=where.plan.env)
        box.end()
        believed = _believed(case, where.instance, box, done)
    assert believed, f"{done.exit_code}\n{done.output[-3000:].decode(errors='replace')}"


def _script(instance: Instance) -> str:
    files = " ".join(shlex.quote(path) for path in find_touched_paths(instance.test_patch) if path.endswith(".py"))
    run = f"{COMMANDS[instance.language]} {files}"
    return f"exec 2>&1; mkdir -p /tmp/naive; git apply /given/tests.patch && git apply /given/model.patch && {run}"


def _believed(case: Case, instance: Instance, box: Box, done: ExecResult) -> bool:
    if case.fools == "status":
        return done.exit_code == 0
    if case.fools == "log":
        text = done.output.decode(errors="replace").partition(">>>>> End Test Output")[0]
        passed = re.findall(PASSED[instance.language], text, re.MULTILINE)
        return _all_pass(instance, dict.fromkeys(passed, Status.PASSED))
    texts = [content.decode() for content in box.get("/tmp/naive", 1_000_000).values()]
    texts += [content.decode() for content in box.get("/tmp/forged.xml", 1_000_000).values()]
    return any(_all_pass(instance, FORMATS["junit_xml"].parse(text)) for text in texts)


def _all_pass(instance: Instance, tests: Mapping[str, Status]) -> bool:
    return all(lookup(name, tests) <= PASSING for name in (*instance.fail_to_pass, *instance.pass_to_pass))


def _packed(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"given/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()
