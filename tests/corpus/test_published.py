"""Python's cases once more, in a look-alike of a published image: the same has to come of them there.

Some of them by default; all with ``ASSAY_PUBLISHED=all``, which takes several minutes.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Channel, Environment, Recipe, RowScript
from assay.harness.engines.docker import DockerEngine
from assay.instances.environments.plan import make_plan
from corpus.checks import CHECKS
from corpus.model import Case, Row, corpus
from corpus.stage import Place, judge, nothing_left, play, task_of

PYTHON = corpus().projects["python"]
NEEDS_RECIPE = frozenset({"certificate"})
"""Instances whose recipe gives their tests another time, which a row cannot."""
USUAL = frozenset({"01", "05", "11", "13", "14ua", "14uah", "14uw", "14uwh", "22", "31"})
WANTED = frozenset() if os.environ.get("ASSAY_PUBLISHED") == "all" else USUAL
IN_OURS = frozenset({"01", "05", "11"})
"""Cases that a row's script also runs in an image of Assay's own."""
USUAL_COMMAND = "pytest -rA tests/{}.py"
FILES = {"unit": "test_unit", "dos": "test_dos", "config": "test_version", "places": "test_places"}
"""Test module of each instance that has another than ``test_calc``."""
COMMANDS = {
    "unittest": "python -m unittest -v tests/test_cases.py",
    "coroutine": "python -m unittest -v tests/test_coroutines.py",
    "django": "python tests/runtests.py --verbosity 2 sums.tests",
}
"""Test command of each instance that pytest does not run."""


def is_played(case: Case) -> bool:
    ours = case.language == "python" and case.engine == "docker" and case.outcomes and case.row is None
    return bool(ours) and case.instance not in NEEDS_RECIPE and (not WANTED or case.number in WANTED)


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "")
@pytest.mark.parametrize("case", [pytest.param(each, id=each.id) for each in corpus().cases if is_played(each)])
def test_case(case: Case, docker_engine: DockerEngine, published: Callable[[str, Row], Place], tmp_path: Path) -> None:
    usual = USUAL_COMMAND.format(FILES.get(case.instance, "test_calc"))
    row = Row(tests=COMMANDS.get(case.instance, usual))
    where = published(case.instance, row)
    with nothing_left(tmp_path, docker_engine) as run:
        played = play(task_of(case, PYTHON, where), where.image, docker_engine, run)
        assert played.verdict.environment is Environment.PUBLISHED
        judge(case, played)
        if case.check in CHECKS:
            CHECKS[case.check](played)


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.toolchain("python", "")
@pytest.mark.parametrize(
    "case", [pytest.param(each, id=each.id) for each in corpus().cases if is_played(each) and each.number in IN_OURS]
)
def test_case_by_a_rows_script_in_our_own_image(
    case: Case, docker_engine: DockerEngine, place: Callable[[str, str], Place], tmp_path: Path
) -> None:
    ours = place("python", case.instance)
    script = f"conda activate testbed\n: '>>>>> Start Test Output'\n{USUAL_COMMAND.format('test_calc')} | jq .\n"
    instance = ours.instance.model_copy(update={"environment": RowScript(eval_script=script)})
    where = Place(instance, ours.image, make_plan(instance, Recipe()))
    with nothing_left(tmp_path, docker_engine) as run:
        played = play(task_of(case, PYTHON, where), where.image, docker_engine, run)
        judge(case, played)
        assert (played.evidence.report.channel, bool(played.evidence.tripwires)) == (Channel.REPORT, True)
