"""What is run on which side, and what comes of it; the sides are played."""

import ast
import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import Instance, PatchDiffFinding, Prediction, ProbeObservation
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff import probe, probing
from assay.harness.patchdiff.contract import Context, Contribution, Settings
from assay.harness.patchdiff.decide import Sighting
from assay.harness.patchdiff.probing import MOST_SUSPECTS, Program, Rounds, find_differences, probe_archive
from assay.harness.patchdiff.sides import ForgedSideError, KeptWork, Side, Sides
from assay.harness.patchdiff.survey import Survey
from benches import PLAN
from saved_images import make_tar
from toolchains import toolchain_image

Shows = Callable[[Side, str, int], str]
"""What a side shows of a probe in its nth round."""
Asked = list[tuple[Side, int, int]]
"""Side, number of rounds, number of probes."""
Play = Callable[..., tuple[Contribution, Asked]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, instance: Instance) -> Play:
    """Compare sides that show what a function says; returns what was found and what was asked of whom."""

    def played(
        keys: Sequence[str],
        shows: Shows,
        unreached: Sequence[str] = (),
        program: str = "acme",
        confirmations: int = 3,
        late: Callable[[Side, int], int] = lambda _side, _rounds: 0,
    ) -> tuple[Contribution, Asked]:
        asked: Asked = []
        rounds_of: dict[Side, int] = {}

        def run(
            _context: Context, program: Program, side: Side, seeds: Iterable[int], only: Sequence[str] = ()
        ) -> Rounds:
            numbers = list(seeds)
            together = bool(program.settings.get("together"))
            assert not (together and len(numbers) > 1), "what is looked at closely has a process of its own"
            asked.append((side, len(numbers), len(only)))
            began = rounds_of.get(side, 0)
            rounds_of[side] = began + len(numbers)
            return Rounds(
                [
                    {
                        key: Sighting(
                            ProbeObservation(kind="value", type="str", text=shows(side, key, began + number)),
                            target="" if key in unreached else key[0],
                            mutated=key != "plain",
                        )
                        for key in only or keys
                    }
                    for number in range(len(numbers))
                ],
                {key: {"literal": {"mutations": [{"old": "1", "new": key}]}} for key in only or keys},
                late(side, len(numbers)) if only else 0,
            )

        monkeypatch.setattr(probing, "run", run)
        sides = Sides(Task(instance, Prediction(instance_id=instance.id, patch="x"), PLAN), "image", FakeEngine({}))
        context = Context(sides, Survey((), ()), Settings(("acme",), confirmations=confirmations), lambda _i, _f: PLAN)
        made = Program(program, {}, 1.0, lambda _context, shown: {probe: probe for probe in shown})
        return find_differences(context, program, made), asked

    return played


def test_agreeing_probes_are_sampled_again_and_give_nothing(play: Play) -> None:
    found, asked = play([f"p{n}" for n in range(500)], lambda _side, _key, _round: "same")
    assert (found.result.probes, found.result.reached, found.result.divergences) == (500, 500, 0)
    again = {each[0]: each[1:] for each in asked if each[2]}
    assert {side: rounds for side, (rounds, _) in again.items()} == dict.fromkeys(Side, 1)


def test_difference_is_repeated_confirmed_and_classified(play: Play) -> None:
    found, asked = play(["a", "b"], lambda side, key, _round: str(side is Side.CANDIDATE and key == "a"))
    (divergence,) = found.divergences
    assert (divergence.probe, divergence.finding, divergence.confirmed) == ("a", PatchDiffFinding.CHANGED_UNRELATED, 3)
    assert (Side.CANDIDATE, 3, 1) in asked


@pytest.mark.parametrize(("rounds", "note"), [(1, ""), (4, "1 differences were not confirmed in 3 rounds")])
def test_difference_that_does_not_hold_is_dropped_and_counted_if_it_held_at_first(
    play: Play, rounds: int, note: str
) -> None:
    found, _ = play(["a"], lambda side, _key, number: str(side is Side.CANDIDATE and number < rounds))
    assert (found.divergences, found.result.note) == ((), note)


def test_rounds_that_the_time_was_enough_for_confirm_a_difference(play: Play) -> None:
    found, _ = play(
        ["a"],
        lambda side, _key, number: str(side is Side.CANDIDATE and number < 6),
        confirmations=6,
        late=lambda side, rounds: 2 if (side, rounds) == (Side.CANDIDATE, 6) else 0,
    )
    assert [each.confirmed for each in found.divergences] == [4]


def test_difference_that_nobody_had_time_to_look_at_again_makes_silence_worthless(play: Play) -> None:
    found, _ = play(
        ["a", *(f"p{n}" for n in range(30))],
        lambda side, key, _round: str(side is Side.CANDIDATE and key == "a"),
        late=lambda side, rounds: int((side, rounds) == (Side.CANDIDATE, 3)),
    )
    assert (found.divergences, found.result.reached) == ((), 0)
    assert found.result.note == "the time was not enough to look at 1 differences again"


@pytest.mark.parametrize(("wavers", "noise"), [(False, 1), (True, 0)])
def test_gold_differing_from_its_copy_is_noise_unless_it_differs_from_itself(
    play: Play, wavers: bool, noise: int
) -> None:
    found, _ = play(["a"], lambda side, _key, number: f"{side} {number * wavers}")
    assert (found.divergences, found.result.null_divergences) == ((), noise)


def test_probe_that_reaches_no_target_is_not_compared(play: Play) -> None:
    found, asked = play(["a"], lambda side, _key, _round: side.name, unreached=["a"])
    assert (found.result.reached, found.divergences) == (0, ())
    assert len(asked) == 2


def telling(which: Callable[[str], bool]) -> Shows:
    """Gold differs from the patch in all probes, and from base in all but the ones that count most."""

    def shows(side: Side, key: str, _round: int) -> str:
        return "theirs" if side is Side.CANDIDATE else "ours" if side is not Side.BASE or which(key) else "old"

    return shows


def test_of_many_differences_the_most_severe_are_confirmed(play: Play) -> None:
    found, _ = play([str(n) for n in range(40)], telling(lambda key: int(key) % 4 == 0))
    findings = [each.finding for each in found.divergences]
    assert len(findings) == MOST_SUSPECTS
    assert findings.count(PatchDiffFinding.CHANGED_UNRELATED) == 10
    assert findings == sorted(findings, key=list(PatchDiffFinding).index)


def test_of_very_many_differences_base_decides_the_most_severe(play: Play) -> None:
    found, asked = play([f"p{n}" for n in range(200)], telling(lambda key: key == "p77"))
    assert (Side.BASE, 1, 200) in asked
    assert (found.divergences[0].probe, found.divergences[0].finding) == ("p77", PatchDiffFinding.CHANGED_UNRELATED)


def test_of_very_many_differences_those_that_gold_s_copy_has_are_left_out(play: Play) -> None:
    honest = telling(lambda _key: True)
    keys = [f"p{n}" for n in range(200)]
    found, _ = play(keys, lambda side, key, number: honest(side, key, number) if key == "p77" else side)
    assert [each.probe for each in found.divergences] == ["p77"]


def test_each_target_s_first_difference_gets_a_file_named_after_the_program(play: Play) -> None:
    found, _ = play(["a1", "a2", "b1"], lambda side, _key, _round: str(side is Side.CANDIDATE), program="other")
    assert len(found.divergences) == 3
    assert {text[0] for text in found.files.values()} == {"a", "b"}
    assert len(found.files) == 2
    assert all(name.startswith("test_other_") for name in found.files)
    assert {each.reproduction for each in found.divergences} == {"", *found.files}


def test_probe_with_two_results_on_a_side_is_forged(instance: Instance) -> None:
    class Forging:
        now = staticmethod(time.monotonic)
        task = Task(instance, Prediction(instance_id=instance.id, patch="x"), PLAN)

        def run(self, _side: Side, _job: object) -> dict[str, bytes]:
            line = '{"key": "k", "kind": "value", "text": "1"}\n'
            return {"0.jsonl": (line + line).encode()}

    sides: Any = Forging()
    context = Context(sides, Survey((), ()), Settings(("acme",)), lambda _i, _f: PLAN)
    with pytest.raises(ForgedSideError, match="the candidate tree cannot be trusted: probe 'k' has 2 results"):
        probing.run(context, Program("acme", {}, 1.0), Side.CANDIDATE, (0,))


def test_no_container_is_started_when_the_time_is_over() -> None:
    sides: Any = SimpleNamespace(now=time.monotonic)
    context = Context(sides, Survey((), ()), Settings(("acme",), budget=0.0), lambda _i, _f: PLAN)
    assert probing.run(context, Program("acme", {}, 1.0), Side.CANDIDATE, (0, 1)).late == 2


@pytest.mark.parametrize(("end", "runs", "all_runs"), [("done", 1, 3), ("late", 2, 5)])
def test_what_gold_shows_alone_is_kept_for_later_candidates(
    instance: Instance, tmp_path: Path, end: str, runs: int, all_runs: int
) -> None:
    ran: list[str] = []
    compared = instance

    class Kept:
        instance = compared
        task = Task(compared, Prediction(instance_id=compared.id, patch="x"), PLAN)

        def run(self, side: Side, _job: object) -> dict[str, bytes]:
            ran.append(side)
            return {"0.jsonl": f'{{"test": "t"}}\n{{"end": "{end}"}}\n'.encode()}

        def find_kept_work(self, *work: object) -> KeptWork:
            return KeptWork(tmp_path / hashlib.sha256(repr(work).encode()).hexdigest())

    sides: Any = Kept()
    context = Context(sides, Survey((), ()), Settings(("acme",)), lambda _i, _f: PLAN)
    for _ in range(2):
        assert probing.run_with_gold(context, Program("acme", {}, 1.0)) == [{"test": "t"}, {"end": end}]
    assert ran == [Side.GOLD] * runs, "what did not come to its end runs again"
    for tests in (["t.py"], ["t.py", "u.py"], ["u.py", "t.py"]):
        probing.run_with_gold(context, Program("acme", {}, 1.0, tests=tests))
    assert len(ran) == all_runs, "other test files run; in another order, they are the same"


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
