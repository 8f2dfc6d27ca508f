"""Flaky tests: acted out where arithmetic and scheduling are what is tested, and truly flaky in real containers."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.harness.domain import Evidence, Instance, Outcome, Status, Verdict
from assay.harness.errors import DataError
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import Seen, failing, mark_flaky, measure, quarantine, read_stability
from judged import E, F, M, P, S, X, make_evidence
from toy import FIXED, KEPT, make_instance

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine


def evidence(add: Status, same: Status, tests: Mapping[str, Status] | None = None, **changes: Any) -> Evidence:
    return make_evidence({FIXED: add, KEPT: same, **(tests or {})}, **changes)


@pytest.mark.parametrize(
    ("statuses", "stable"),
    [
        ((P, P, P), True),
        ((P, F, P), False),
        ((P, M), False),
        ((P, S), False),
        ((F, S), False),
        ((S, S), True),
        ((F, E, M), True),
        ((P, X), True),
        ((), True),
    ],
)
def test_statuses_differ_as_far_as_grading_distinguishes_them(statuses: tuple[Status, ...], stable: bool) -> None:
    assert Seen(gold=statuses).stable is Seen(null=statuses).stable is stable


def test_gold_and_null_are_compared_each_with_themselves() -> None:
    assert Seen(gold=(P, P), null=(F, F)).stable


def test_record_has_each_test_in_each_run(instance: Instance) -> None:
    gold = [evidence(P, P), evidence(P, F, tests={"late": P}), evidence(P, P)]
    null = [evidence(F, P), evidence(F, P), evidence(F, P)]
    found = measure(instance, gold, null, assay_version="1", engine={"engine": "fake"})
    assert found.tests[KEPT] == Seen(gold=(P, F, P), null=(P, P, P))
    assert found.tests["late"].gold == (M, P, M)
    assert found.unstable == ("late", KEPT)
    assert found.quarantined == (KEPT,)
    assert set(found.keep_unstable_tests().tests) == {"late", KEPT}


def test_ungraded_run_makes_no_test_unstable(instance: Instance) -> None:
    gold = [evidence(P, P), evidence(P, P, timed_out=True), None]
    found = measure(instance, gold, [evidence(F, P)] * 3)
    assert found.gold == (Outcome.RESOLVED, Outcome.TIMED_OUT, Outcome.INFRA_ERROR)
    assert found.tests[FIXED].gold == (P,)
    assert found.unstable == ()


def test_quarantined_tests_are_ignored_and_the_verdict_says_so(instance: Instance) -> None:
    reduced = quarantine(instance, {KEPT, "tests/other.py::test"})
    assert (reduced.fail_to_pass, reduced.pass_to_pass, reduced.quarantined) == ((FIXED,), (), (KEPT,))
    verdict = grade(reduced, evidence(P, F))
    assert verdict.outcome is Outcome.RESOLVED
    assert verdict.flags == ("quarantined_tests_left_out",)
    assert verdict.reason == "all expected tests pass; 1 quarantined tests left out"
    assert quarantine(instance, {"tests/other.py::test"}) is instance


def test_instance_without_a_stable_fail_to_pass_test_is_never_resolved(instance: Instance) -> None:
    verdict = grade(quarantine(instance, {FIXED}), evidence(P, P))
    assert verdict.outcome is Outcome.UNRESOLVED
    assert "1 quarantined" in verdict.reason


def strict(unfixed: Sequence[str] = (), broken: Sequence[str] = ()) -> Verdict:
    outcome = Outcome.UNRESOLVED if unfixed or broken else Outcome.RESOLVED
    return Verdict(instance_id="acme__calc-1", outcome=outcome, unfixed=tuple(unfixed), broken=tuple(broken))


def test_pass_on_a_rerun_is_marked_and_changes_no_outcome() -> None:
    marked = mark_flaky(strict([FIXED], [KEPT]), [strict([FIXED]), strict([FIXED], [KEPT])])
    assert (marked.outcome, marked.unfixed, marked.broken) == (Outcome.UNRESOLVED, (FIXED,), (KEPT,))
    assert (marked.flaky, marked.flags) == ((KEPT,), ("flaky",))
    assert mark_flaky(marked, []) == strict([FIXED], [KEPT])


def test_other_flags_stay_beside_the_mark_which_is_set_anew() -> None:
    flags = ("child_out_of_memory", "flaky", "no_tripwires")
    strict = Verdict(instance_id="x", outcome=Outcome.UNRESOLVED, unfixed=("a",), flags=flags)
    assert mark_flaky(strict, [strict]).flags == ("child_out_of_memory", "no_tripwires")
    passed = Verdict(instance_id="x", outcome=Outcome.RESOLVED)
    assert mark_flaky(strict, [passed]).flags == ("child_out_of_memory", "no_tripwires", "flaky")


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.UNRESOLVED])
def test_only_an_unresolved_patch_has_failing_tests(outcome: Outcome) -> None:
    assert failing(Verdict(instance_id="x", outcome=outcome, unfixed=("a",))) == ()


def test_ungraded_rerun_shows_nothing() -> None:
    late = Verdict(instance_id="acme__calc-1", outcome=Outcome.TIMED_OUT)
    assert mark_flaky(strict([FIXED]), [late]).flaky == ()
    assert mark_flaky(late, [strict()]) == late


def test_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "stability.json").write_text('{"instances": [{"gold": []}, {"null": 1}]}')
    with pytest.raises(DataError, match=r"stability.json.*instances\.0\.instance_id"):
        read_stability(tmp_path / "stability.json")
    with pytest.raises(DataError, match="cannot be read"):
        read_stability(tmp_path / "none.json")


FLAKY_TESTS = """\
import os

import calc
import pytest


def test_add():
    assert calc.add(1, 2) == 3


def test_same():
    assert calc.add(0, 0) == 0


@pytest.mark.parametrize("number", range(24))
def test_coin(number):
    assert os.urandom(1)[0] % 2
"""


@pytest.mark.docker
@pytest.mark.network
def test_flaky_tests_are_found_in_real_containers(
    in_folder: Path, docker_engine: "DockerEngine", toolchain_image: str
) -> None:
    """Each of 24 coins agrees with itself over six runs once in sixteen times."""
    coins = [f"tests/test_calc.py::test_coin[{number}]" for number in range(24)]
    added = "".join(f"+{line}\n" for line in FLAKY_TESTS.splitlines())
    patch = (
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/tests/test_calc.py\n@@ -0,0 +1,{len(FLAKY_TESTS.splitlines())} @@\n{added}"
    )
    found = make_instance(
        base_commit=_repository(in_folder / "mirrors/acme/calc"), test_patch=patch, pass_to_pass=(KEPT, *coins)
    )
    row = found.model_dump(mode="json", exclude={"id", "dataset"}, exclude_defaults=True)
    (in_folder / "rows.jsonl").write_text(json.dumps({"instance_id": found.id, **row}))

    options = ("rows.jsonl", "--mirror", str(in_folder / "mirrors"), "--json")
    code, validated = _assay("dataset", "validate", *options)
    (result,) = validated["instances"]
    assert code == 4
    assert (len(result["gold"]), len(result["null"])) == (3, 3)
    assert set(result["null"]) == {"unresolved"}
    assert set(result["quarantined"]) == set(result["unstable"]) <= set(coins)
    assert len(result["quarantined"]) > 6
    assert FIXED in result["fail_to_pass"]
    assert KEPT in result["pass_to_pass"]

    code, report = _assay("evaluate", *options, "--gold", "--rerun-failed", "3")
    assert (code, report["unresolved_ids"], report["flaky_ids"]) == (0, [found.id], [found.id])
    _, report = _assay("evaluate", *options, "--gold", "--run-id", "steady", "--stability", validated["stability"])
    assert "quarantined_tests_left_out" in report["flags"][found.id]
    assert f"{len(result['quarantined'])} quarantined" in report["reasons"][found.id]
    reruns = in_folder / "runs/rows.gold/instances/acme__calc-1/reruns"
    image = json.loads((reruns / "1/evidence.json").read_text())["image"]
    assert image.startswith("assay/instance-")
    docker_engine.remove_image(image)


def _repository(folder: Path) -> str:
    """Make the repository whose ``add`` subtracts, and return its commit."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "calc"\nversion = "1"\n[tool.setuptools]\npy-modules = ["calc"]\n'
    )
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"], ["rev-parse", "HEAD"]):
        line = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *command]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _assay(*args: str) -> tuple[int, Any]:
    command = [sys.executable, "-m", "assay", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)
