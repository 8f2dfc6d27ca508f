"""Which test files need not run; the sides are acted, since only what the probe sees with gold matters here."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.errors import EngineError
from assay.harness.languages.differences import Span
from assay.harness.patchdiff.contract import Context, Settings
from assay.harness.patchdiff.generators.suites.reach_map import IDLE, ReachMap
from assay.harness.patchdiff.sides import KeptWork, Side, SideJob
from assay.harness.patchdiff.survey import Survey

A, B, C = "tests/test_a.py", "tests/test_b.py", "tests/test_c.py"
RAN = {A: {"pkg/mod.py": [4, 20]}, B: {"pkg/other.py": [4]}, C: {"": [0]}}
FUNCTION = {"pkg/mod.py": ((3, 9),)}


class WatchedSides:
    """Sides on which the probe sees what each file runs."""

    def __init__(self, instance: Instance, folder: Path | None, error: Exception | None = None) -> None:
        self.instance, self.task, self.looked_at = instance, self, list[list[str]]()
        self.plan = TestPlan(command="")
        self._folder, self._error = folder, error
        self.time_for = 9
        """Files that a run has the time for."""

    def find_kept_work(self, *work: object) -> KeptWork:
        return KeptWork(self._folder and self._folder / f"{work}.json")

    def run(self, side: Side, job: SideJob) -> Mapping[str, bytes]:
        assert side is Side.GOLD
        if self._error:
            raise self._error
        input_ = json.loads(job.files[".assay-probe/input.json"])
        self.looked_at.append(input_["files"])
        wanted = {each["path"] for each in input_["targets"]} | {""}
        lines: list[dict[str, Any]] = [{"holds": dict.fromkeys(input_["files"], 1)}]
        for file in input_["files"][: self.time_for]:
            ran = {path: firsts for path, firsts in RAN[file].items() if path in wanted}
            lines.append({"test": f"{file}::test", "ran": ran})
        lines.append({"end": "done" if len(input_["files"]) <= self.time_for else "budget"})
        return {"0.jsonl": "\n".join(map(json.dumps, lines)).encode()}


def context_of(sides: Any, apart: Mapping[str, Sequence[Span]] | None, **settings: Any) -> Context:
    survey = Survey((), (), differing_spans=apart)
    return Context(sides, survey, Settings(("suites",), **settings), lambda _instance, _files: sides.plan)


def worth(reach: ReachMap) -> list[str]:
    return [file for file in (A, B, C) if reach.may_differ(file)]


def test_file_that_runs_no_function_that_differs_need_not_run(instance: Instance) -> None:
    context = context_of(WatchedSides(instance, None), FUNCTION)
    reach = ReachMap(context)
    assert worth(reach) == [A, B, C], "nothing is known"
    reach.learn(context, [A, B])
    assert worth(reach) == [A, C]
    reach.learn(context, [A, C])
    assert worth(reach) == [A, C], "something has run where nobody looks"


def test_what_gold_does_not_pass_need_not_be_seen(instance: Instance, tmp_path: Path) -> None:
    sides = WatchedSides(instance, tmp_path)
    context = context_of(sides, FUNCTION)
    sides.find_kept_work(IDLE).write([f"{C}::another"])
    reach = ReachMap(context)
    reach.learn(context, [A, B, C])
    assert worth(reach) == [A, C]
    sides.find_kept_work(IDLE).write([f"{C}::another", f"{C}::test"])
    reach = ReachMap(context)
    reach.learn(context, [A, B, C])
    assert worth(reach) == [A]


def test_other_generators_look_at_the_files_that_may_show_a_difference(instance: Instance) -> None:
    context = context_of(WatchedSides(instance, None), FUNCTION)
    assert ReachMap(context).promising([C, B, A]) == [C, B, A], "nothing is known"
    ReachMap(context).learn(context, [A, B])
    assert ReachMap(context).promising([C, B, A]) == [C, A]
    assert ReachMap(context).promising([B]) == [B], "there is no other"


def test_function_beside_those_that_run_is_not_reached(instance: Instance) -> None:
    context = context_of(WatchedSides(instance, None), {"pkg/mod.py": ((5, 19), (21, 30))})
    reach = ReachMap(context)
    reach.learn(context, [A])
    assert not reach.may_differ(A)


def test_every_file_runs_where_a_difference_may_be_anywhere_and_none_where_nothing_differs(instance: Instance) -> None:
    for apart, wanted in ((None, [A, B, C]), ({}, [])):
        sides = WatchedSides(instance, None)
        reach = ReachMap(context_of(sides, apart))
        reach.learn(context_of(sides, apart), [A])
        assert worth(reach) == wanted
        assert not sides.looked_at


def test_what_was_seen_serves_later_candidates_and_other_files_are_looked_at_for_them(
    instance: Instance, tmp_path: Path
) -> None:
    first = context_of(WatchedSides(instance, tmp_path), FUNCTION)
    known = ReachMap(first)
    known.learn(first, [A, B, C])
    known.close([A, B])
    again = WatchedSides(instance, tmp_path)
    reach = ReachMap(context_of(again, {"pkg/mod.py": ((15, 22),)}))
    assert worth(reach) == [A, C]
    reach.learn(context_of(again, FUNCTION), [A, B])
    assert not again.looked_at
    elsewhere = context_of(again, {"pkg/other.py": ((1, 9),)})
    reach = ReachMap(elsewhere)
    assert worth(reach) == [A, B, C]
    reach.learn(elsewhere, [A, B])
    assert worth(reach) == [B, C]
    assert worth(ReachMap(context_of(again, FUNCTION))) == [A, C], "what was known is known still"


def test_later_candidates_are_compared_where_the_first_that_differs_was(instance: Instance, tmp_path: Path) -> None:
    sides = WatchedSides(instance, tmp_path)
    alike = ReachMap(context_of(sides, {}))
    alike.close([A, B, C])
    first = ReachMap(context_of(sides, None))
    assert first.scope([A, B, C]) == [A, B, C]
    first.close([A])
    assert ReachMap(context_of(sides, FUNCTION)).scope([C, B, A]) == [A]
    first.close([A, C])
    later = ReachMap(context_of(sides, FUNCTION))
    later.close([B])
    assert ReachMap(context_of(sides, FUNCTION)).scope([C, B, A]) == [C, A]
    assert ReachMap(context_of(sides, FUNCTION)).scope([B]) == [B], "the suite is another one"
    assert ReachMap(context_of(sides, None, budget=1800)).scope([A, B, C]) == [A, B, C], "with another budget"


def test_files_that_the_time_was_not_enough_for_are_looked_at_again(instance: Instance) -> None:
    sides = WatchedSides(instance, None)
    context = context_of(sides, FUNCTION)
    reach = ReachMap(context)
    sides.time_for = 1
    for _ in range(2):
        reach.learn(context, [A, B, C])
    assert sides.looked_at == [[A, B, C], [B, C]]
    assert worth(reach) == [A, C]
    sides.time_for = 0
    for _ in range(2):
        reach.learn(context, [C])
    assert sides.looked_at[2:] == [[C]], "a file that does not end is looked at once"


def test_failed_watch_is_raised_and_not_repeated(instance: Instance) -> None:
    sides = WatchedSides(instance, None, EngineError("gone"))
    context = context_of(sides, FUNCTION)
    reach = ReachMap(context)
    with pytest.raises(EngineError):
        reach.learn(context, [A])
    reach.learn(context, [A])
    assert reach.may_differ(A)
