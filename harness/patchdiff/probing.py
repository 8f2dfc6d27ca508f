"""Run one program on every side of a comparison, and find where the sides differ: screen, confirm, classify."""

import hashlib
import io
import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any

from assay.harness.domain import MISSING, Divergence, GeneratorResult, OperatorResult, ProbeObservation
from assay.harness.evaluation.delivery import ADAPTER
from assay.harness.patchdiff.contract import ENOUGH, Context, Contribution
from assay.harness.patchdiff.decide import ORDER, Round, Sighting, classify, find_stable, make_divergence, screen, split
from assay.harness.patchdiff.probe.running import select_files
from assay.harness.patchdiff.sides import OUT, ForgedSideError, Side, SideJob
from assay.harness.runners.base import PLACEHOLDER

FOLDER = ".assay-probe"  # folder of the tree that holds the probe and its input
PYTHON = "/opt/venv/bin/python"
NEEDED = frozenset({"django", "unittest"})
"""Runners that set up what a project's tests need. Where pytest does, the probe starts it by itself."""
FIRST = (0,)  # hash seed of the first round
SCREENS = {Side.GOLD: (1,), Side.NULL: (2,), Side.CANDIDATE: (1,), Side.BASE: (0,)}
"""Hash seeds of the second round. Gold's copy has another one, which shows noise; what wavers is not confirmed."""
GLANCES = {Side.BASE: FIRST, Side.NULL: (2,)}
"""Hash seeds of a glance at differing probes before the second round."""
FIRST_PART = 0.8  # share of a turn for the first round. The other rounds may take more than the turn.
MOST_GLANCED = 400
"""Differing probes of the first round that base and gold's copy run once, if the second round has no room for all."""
MOST_APART, MOST_ALIKE = 48, 24
"""Differing and agreeing probes of the first round that run again on every side."""
MOST_SUSPECTS = 12
"""Differing probes that are confirmed: the most severe, some of each target and each kind of input."""
MOST_SHOWN = 3  # divergences of one program that get a test file: the first of each target and finding


Suspects = Mapping[str, Mapping[str, Any]]
"""Probes on which gold and the candidate differ, each with its line of output with gold."""
Reproduce = Callable[[Context, Suspects], Mapping[str, str]]
"""Makes test files that pass with gold and fail with the candidate, for the probes that a file can show."""
Observe = Callable[[Context, "Program", Side, Iterable[int], Sequence[str]], list[list[dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class Program:
    """A command of the probe and its input, without the targets' places, which differ from side to side."""

    command: str
    settings: Mapping[str, Any]
    seconds: float
    """Budget of one round."""
    reproduce: Reproduce = lambda _context, _suspects: {}
    files: Mapping[str, str] = field(default_factory=dict)
    """Laid into the tree beside it, path to text."""
    tests: Sequence[str] = ()
    """Test files the project's own runner must be running for the probe to work. Not needed with pytest."""
    observe: Observe | None = None
    """Replaces ``run_lines`` for what is no program of the probe."""
    suffix: str = ".py"


@dataclass(frozen=True, slots=True)
class Rounds:
    """A program's observations on one side, round by round, and how to redo each probe."""

    seen: list[Round]
    redo: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    late: int = 0
    """The last rounds, ended because the time was over."""


def run(context: Context, program: Program, side: Side, seeds: Iterable[int], only: Sequence[str] = ()) -> Rounds:
    """Run a program on one side, once for each hash seed, in one container.

    ``only`` has the keys of the probes to run; all run when it is empty. Each then runs in a process of its own, if the
    program can and its settings do not say ``together``.
    """
    lines = (program.observe or run_lines)(context, program, side, seeds, only)
    for each in lines:
        _check_keys(side, each)
    redo = {line["key"]: line for each in lines[:1] for line in each if "key" in line}
    rounds = [_round(each, context.survey.promised) for each in lines]
    return Rounds(rounds, redo, sum(not _is_whole(each) for each in lines))


def run_lines(
    context: Context, program: Program, side: Side, seeds: Iterable[int], only: Sequence[str] = ()
) -> list[list[dict[str, Any]]]:
    numbers = list(seeds)
    if not context.seconds_left:
        return [[] for _ in numbers]
    starting = _test_command(context, program, only)
    input_ = {"targets": _targets(context, side), **program.settings, "budget": program.seconds, "command": starting}
    files = {
        **{path: text.encode() for path, text in program.files.items()},
        f"{FOLDER}/probe.pyz": probe_archive(),
        f"{FOLDER}/input.json": json.dumps({**input_, "only": list(only) or None}).encode(),
    }
    command = f"""\
mkdir -p {OUT}
{f": {ADAPTER}" if ADAPTER in starting else ""}
for seed in {" ".join(map(str, numbers))}; do
    left=$((ASSAY_END - $(date +%s)))
    [ $left -gt 0 ] && PYTHONHASHSEED=$seed timeout -k 2 $((left + 3)) {PYTHON} {FOLDER}/probe.pyz {program.command} \\
        {FOLDER}/input.json {OUT}/$seed.jsonl < /dev/null > {OUT}/$seed.txt 2>&1
done
"""
    job = SideJob(command, files, seconds=context.seconds_left)
    left = context.sides.run(side, job)
    return [_lines(left.get(f"{number}.jsonl", b"")) for number in numbers]


def run_with_gold(context: Context, program: Program) -> list[dict[str, Any]]:
    """Return a program's lines of output from one run with gold; they are kept for later candidates."""
    work = program.command, sorted(program.tests), context.settings.budget  # in whichever order it runs them
    kept = context.sides.find_kept_work(*work, _targets(context, Side.GOLD))
    if known := kept.read(()):
        return list(known)
    (lines,) = run_lines(context, program, Side.GOLD, [0])
    if _is_whole(lines):
        kept.write(lines)
    return lines


def explain_absence(note: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """Add to a note that nothing was found, if so, that the time was over before all was searched."""
    return note if _is_whole(lines) else f"{note} in the time that there was"


def _is_whole(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a program came to its own end before the time was over."""
    return any(line.get("end") in ("done", "budget") for line in lines)


def _test_command(context: Context, program: Program, only: Sequence[str]) -> str:
    """Return the command that runs a program's tests, or those of some probes; "" if it needs none."""
    files = select_files(only, program.tests) or program.tests
    plan = context.plan(files) if files else context.sides.task.plan
    return plan.command.replace(PLACEHOLDER, "") if files and plan.runner in NEEDED else ""


def _targets(context: Context, side: Side) -> list[dict[str, Any]]:
    place = Side.GOLD if side is Side.NULL else side
    return [
        {"path": each.path, "name": each.name, "first": first, "last": last}
        for each in context.survey.targets
        for first, last in each.places.get(place, ())
    ]


def _lines(content: bytes) -> list[dict[str, Any]]:
    """Read JSON objects from a file whose writer may have been killed."""
    found = []
    for line in content.decode(errors="replace").splitlines():
        with suppress(ValueError):
            found.append(json.loads(line))
    return [row for row in found if isinstance(row, dict)]


def _check_keys(side: Side, lines: Iterable[Mapping[str, Any]]) -> None:
    """Raise ForgedSideError if a probe has two lines: each writes one."""
    count = Counter(str(line["key"]) for line in lines if "key" in line)
    if twice := [key for key, number in count.items() if number > 1]:
        raise ForgedSideError(side, f"probe {twice[0]!r} has {count[twice[0]]} results")


def _round(lines: Iterable[Mapping[str, Any]], promised: Collection[str]) -> Round:
    return {
        str(line["key"]): Sighting(
            observation=ProbeObservation(
                kind=str(line.get("kind", "missing")), type=str(line.get("type", "")), text=str(line.get("text", ""))
            ),
            target=str(line.get("target", "")),
            mutated=bool(line.get("mutated")),
            private=bool(line.get("private")),
            of=str(line.get("of") or line.get("test", "")).partition("[")[0],
            changes=(line.get("literal") or {}).get("mutations", ()),
            promised=str(line.get("type", "")).rpartition(".")[2] in promised,
            operator=str(line.get("operator", "")),
        )
        for line in lines
        if "key" in line
    }


def find_differences(context: Context, generator: str, program: Program) -> Contribution:
    """Run a generator's program with gold and the candidate, then look closely at where the two differ.

    Every probe runs once on these two sides, within the turn. The most severe differing probes, and a sample of the
    others, run again on all sides; remaining differences are confirmed.
    """
    first = _run_sides(context.part(FIRST_PART), program, dict.fromkeys((Side.GOLD, Side.CANDIDATE), FIRST))
    gold, candidate = (first[side].seen[0] for side in (Side.GOLD, Side.CANDIDATE))
    (apart, alike), closer = split(gold, candidate), context.confirming.part(0.5)
    again = [*_select_again(closer, program, apart, gold, candidate), *_interleave(alike, gold)[:MOST_ALIKE]]
    began = time.monotonic()
    rounds = _run_sides(closer, program, SCREENS, again) if again else {side: Rounds([]) for side in SCREENS}
    each = time.monotonic() - began
    of_gold, of_null, of_candidate = (rounds[side].seen for side in (Side.GOLD, Side.NULL, Side.CANDIDATE))
    _, suspects = screen(of_gold, of_null, of_candidate)
    noise, _ = screen([gold, *of_gold], of_null, of_candidate)  # what wavers with gold is none
    steady = (find_stable(rounds[side].seen) for side in (Side.BASE, Side.GOLD, Side.CANDIDATE))
    suspects = _sort_severe(_interleave(suspects, gold), *steady)[:MOST_SUSPECTS]
    wanted = context.confirming.rounds(each)
    found, confirmed_in = _confirm(context.confirming.part(0.5), generator, program, suspects, wanted)
    shown, files = _add_reproductions(context.confirming.part(0.5), program, found, first[Side.GOLD].redo)
    is_late = any(each.late for each in rounds.values())
    unseen = len(apart) if is_late else len(suspects) if not confirmed_in else 0
    result = GeneratorResult(
        name=generator,
        probes=len(gold),
        reached=0 if unseen and not found else len(alike) + len(apart),
        divergences=len(found),
        null_divergences=noise,
        note=_note(first.values(), len(suspects) - len(found), confirmed_in, unseen)
        or ("" if alike or apart else "no probe reached a target on both sides"),
        operators=_count_operators(gold, (*alike, *apart), found),
    )
    return Contribution(result, tuple(shown), files)


def _count_operators(gold: Round, reached: Iterable[str], found: Iterable[Divergence]) -> tuple[OperatorResult, ...]:
    probes, differing = Counter(gold[key].operator for key in reached), Counter(each.operator for each in found)
    named = sorted({*probes, *differing} - {""})
    return tuple(OperatorResult(name=name, reached=probes[name], divergences=differing[name]) for name in named)


def _note(first: Iterable[Rounds], dropped: int, rounds: int, unseen: int) -> str:
    if any(each.late and not each.seen[0] for each in first):
        return "the time was not enough for any probe"
    if unseen:
        return f"the time was not enough to look at {unseen} differences again"
    return f"{dropped} differences were not confirmed in {rounds} rounds" if dropped else ""


def _run_sides(
    context: Context, program: Program, seeds: Mapping[Side, Sequence[int]], only: Sequence[str] = ()
) -> dict[Side, Rounds]:
    ran = context.sides.map_sides(list(seeds), lambda side: run(context, program, side, seeds[side], only))
    return dict(zip(seeds, ran, strict=True))


def _select_again(context: Context, program: Program, apart: Sequence[str], gold: Round, candidate: Round) -> list[str]:
    """Return the differing probes that run again; of too many, the most severe that gold's copy confirms."""
    found = _interleave(apart, gold)
    if len(found) > MOST_APART:
        glanced = replace(program, settings={**program.settings, "together": True})
        seen = _run_sides(context, glanced, GLANCES, found[:MOST_GLANCED])
        base, null = (seen[side].seen[0] for side in GLANCES)
        steady = (
            each for each in found[:MOST_GLANCED] if null.get(each, gold[each]).observation == gold[each].observation
        )
        found = _sort_severe(steady, base, gold, candidate)
    return found[:MOST_APART]


def _interleave(keys: Iterable[str], gold: Round) -> list[str]:
    """Order probes by turns of each target, function or test, of original inputs and mutated ones."""
    kinds: dict[tuple[str, str, bool], list[str]] = {}
    for key in sorted(keys, key=lambda key: hashlib.sha256(key.encode()).hexdigest()):  # neighbours apart
        seen = gold[key]
        kinds.setdefault((seen.target, seen.operator or seen.of, seen.mutated), []).append(key)
    return [key for turn in zip_longest(*kinds.values()) for key in turn if key is not None]


def _sort_severe(suspects: Iterable[str], base: Round, gold: Round, candidate: Round) -> list[str]:
    def rank(key: str) -> int:
        finding = classify(_get_observation(base, key), gold[key], candidate[key].observation)
        assert finding is not None  # the two differ
        return ORDER.index(finding)

    return sorted(suspects, key=rank)


def _confirm(
    context: Context, generator: str, program: Program, suspects: list[str], wanted: int
) -> tuple[list[Divergence], int]:
    """Repeat suspects on both sides, run base, and classify what holds; the hardest come first.

    Returns:
        The divergences, and the rounds that both sides completed: none if fewer than ``ENOUGH``.
    """
    if not suspects:
        return [], wanted
    seeds = {Side.BASE: range(2), Side.GOLD: range(wanted), Side.CANDIDATE: range(wanted)}
    ran = _run_sides(context, program, seeds, suspects)
    whole = min(len(ran[side].seen) - ran[side].late for side in (Side.GOLD, Side.CANDIDATE))
    if whole < min(ENOUGH, wanted):
        return [], 0
    base, gold, candidate = (find_stable(ran[side].seen[:whole]) for side in seeds)
    found = [
        make_divergence(generator, key, _get_observation(base, key), gold[key], candidate[key].observation, whole)
        for key in suspects
        if key in gold and key in candidate and gold[key].observation != candidate[key].observation
    ]
    return sorted(found, key=lambda each: ORDER.index(each.finding)), whole


def _get_observation(round_: Round, key: str) -> ProbeObservation:
    return round_[key].observation if key in round_ else MISSING


def _add_reproductions(
    context: Context, program: Program, found: Sequence[Divergence], redo: Suspects
) -> tuple[list[Divergence], dict[str, str]]:
    """Name a test file in each divergence that a file can show."""
    first = {(each.target, each.finding): each for each in reversed(found) if each.probe in redo}
    shown = sorted(first.values(), key=found.index)[: MOST_SHOWN if context.settings.test_files else 0]
    suspects = {each.probe: redo[each.probe] for each in shown}
    texts = program.reproduce(context, suspects) if suspects else {}
    names: dict[str, str] = {}
    for number, each in enumerate(found, 1):
        if each.probe in texts:  # one file for what reduces to the same text
            names.setdefault(texts[each.probe], f"test_{each.generator}_{number}{program.suffix}")
    shown = [each.model_copy(update={"reproduction": names.get(texts.get(each.probe, ""), "")}) for each in found]
    return shown, {name: text for text, name in names.items()}


MAIN = "from assay_probe.__main__ import main\nmain()\n"
TIME = (1980, 1, 1, 0, 0, 0)


@cache
def probe_archive() -> bytes:
    """Return the zipapp: ``python probe.pyz COMMAND JOB.json OUT.jsonl``. The same sources give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # stored, since a project's Python may lack zlib
        archive.writestr(zipfile.ZipInfo("__main__.py", TIME), MAIN)
        for file in sorted(resources.files("assay.harness.patchdiff.probe").iterdir(), key=lambda each: each.name):
            if file.name.endswith(".py"):
                archive.writestr(zipfile.ZipInfo(f"assay_probe/{file.name}", TIME), file.read_bytes())
    return content.getvalue()
