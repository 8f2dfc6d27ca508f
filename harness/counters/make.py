"""Making an instance's counter-tests: tried with base and gold, and kept only if they fail as they must."""

import random
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assay.harness.counters.assertions import NamedTest
from assay.harness.counters.runs import Note, TestRun, silent
from assay.harness.counters.sealing import Flipping
from assay.harness.counters.seals import make_seals
from assay.harness.counters.siblings import try_siblings
from assay.harness.counters.twins import AssertedFile, Twin
from assay.harness.domain import FAILING, PASSING, CounterForm, CounterSet, CounterTest, Edit, NoCounter, Status
from assay.harness.languages.copying import edit_text
from assay.harness.languages.syntax import list_defining_nodes, parse
from assay.harness.patches.diff import read_diff

ROUNDS = 4
"""Runs with gold in which the forms of counter-tests are tried, strongest first."""
CONFIRMED = 2
"""More runs with gold in which every counter-test that is kept has failed too."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A label, and the twins of each of its flipping assertions, strongest first."""

    label: str
    assertions: list[tuple[str, list[Twin]]] = field(default_factory=list)
    """Each has the path of its file."""

    def choose(self, number: int) -> CounterTest | None:
        """Return the counter-test with a number, from 0; None beyond the last one."""
        if not any(number < len(twins) for _, twins in self.assertions):
            return None
        chosen = [(path, twins[min(number, len(twins) - 1)]) for path, twins in self.assertions]
        edits = dict[str, tuple[Edit, ...]]()
        for path, twin in chosen:
            edits[path] = (*edits.get(path, ()), *twin.edits)
        order = list(CounterForm)
        return CounterTest(label=self.label, form=max((each.form for _, each in chosen), key=order.index), edits=edits)


def make_counters(run: TestRun, note: Note = silent, seed: int | None = None) -> CounterSet:
    """Make the counter-tests of a task's fail-to-pass tests; raises as ``TestRun.run``.

    Without a ``seed``, nobody can know beforehand what is drawn.
    """
    instance, plan = run.task.instance, run.task.plan
    seed = secrets.randbits(64) if seed is None else seed
    dice = random.Random(seed)
    empty = CounterSet(instance_id=instance.id, environment=plan.environment, files={}, seed=seed)
    if not plan.test_patch:
        return _leave_out(empty, instance.fail_to_pass, NoCounter.NOT_APPLIED)
    note("reading the tests")
    tested, fixed = ({change.path for change in read_diff(patch)} for patch in (plan.test_patch, instance.gold_patch))
    texts = run.read(sorted(tested - fixed))  # in a file with both, a counter-test would undo the fix
    found = {path: AssertedFile.read(instance.language, path, text, dice) for path, text in texts.items()}
    files = {path: file for path, file in found.items() if file}
    if not files:
        return _leave_out(empty, instance.fail_to_pass, NoCounter.SHARED if tested & fixed else NoCounter.NO_FILE)
    note("running the tests without the fix")
    without = run.run("")
    printed = b"\n".join([without.output, *without.report_files.values()])
    lines = _find_lines(printed, files)
    candidates = [_find_assertions(label, files, lines) for label in instance.fail_to_pass]
    missing = {
        each.label: NoCounter.NO_ASSERTION if _find_places(each.label, files) else NoCounter.NO_TEST
        for each in candidates
        if not each.assertions
    }
    candidates = [each for each in candidates if each.assertions]
    kept = _try_twins(run, candidates, files, note)
    kept, unstable = _confirm(run, kept, files, note)
    left = {each.label for each in candidates} - {each.label for each in kept} - unstable
    missing |= dict.fromkeys(sorted(left), NoCounter.VACUOUS) | dict.fromkeys(sorted(unstable), NoCounter.UNSTABLE)
    flipping = {label: _find_flipping(label, files, lines) for label in instance.fail_to_pass}
    others = [text for path, text in texts.items() if path not in files]
    more = {
        "respelled": _respell(run, files, note),
        "compile_only": () if any(map(run.read_statuses(without), instance.fail_to_pass)) else find_compile_only(run),
        "sealed": make_seals(run, files, flipping, others, note),
    }
    whole = empty.model_copy(update={"files": texts, "tests": tuple(kept), "missing": missing, **more})
    countered = {path: content.decode() for path, content in render_files(whole).items()}
    whole = whole.model_copy(update={"beside": try_siblings(run, whole, countered, note)})
    edited = {*countered, *whole.respelled, *whole.sealed.files}
    return whole.model_copy(update={"files": {path: texts[path] for path in sorted(edited)}})


def render_files(counters: CounterSet) -> dict[str, bytes]:
    """Return the hidden test files with the counter-tests in the place of their originals."""
    return _render(counters.tests, counters.files)


def render_respelled(counters: CounterSet) -> dict[str, bytes]:
    """Return the hidden test files in another spelling."""
    return {path: edit_text(counters.files[path], edits).encode() for path, edits in counters.respelled.items()}


def _render(tests: Iterable[CounterTest], texts: Mapping[str, str]) -> dict[str, bytes]:
    edits = dict[str, list[Edit]]()
    for test in tests:
        for path, own in test.edits.items():
            edits.setdefault(path, []).extend(own)
    return {path: edit_text(texts[path], own).encode() for path, own in edits.items()}


def _leave_out(empty: CounterSet, labels: Iterable[str], reason: NoCounter) -> CounterSet:
    return empty.model_copy(update={"missing": dict.fromkeys(labels, reason)})


def _find_lines(printed: bytes, files: Iterable[str]) -> dict[str, list[int]]:
    """Find the lines of test files that a run's output and reports name."""
    text = printed.decode(errors="replace")
    found = dict[str, list[int]]()
    for path in files:
        name = re.escape(path.rpartition("/")[2])
        places = re.finditer(rf"{name}(?:\"?, line |\"?:|\(|' at line |:in line )\s*(\d+)", text)
        found[path] = sorted({int(place[1]) for place in places})
    return found


def _find_places(label: str, files: Mapping[str, AssertedFile]) -> list[tuple[str, NamedTest]]:
    """Find the tests of a label: in the file that it names, if it names one."""
    named = [path for path in files if path in label] or list(files)
    return [(path, test) for path in named for test in files[path].find_tests(label)]


def _find_assertions(label: str, files: Mapping[str, AssertedFile], lines: Mapping[str, list[int]]) -> _Candidate:
    found = ((path, files[path].list_twins(test, lines[path])) for path, test in _find_places(label, files))
    return _Candidate(label, [(path, twins) for path, listed in found for twins in listed])


def _find_flipping(label: str, files: Mapping[str, AssertedFile], lines: Mapping[str, list[int]]) -> Flipping:
    """Return the names of a label's tests by path, and the places of its flipping assertions."""
    places = _find_places(label, files)
    found = ((path, each) for path, test in places for each, _ in files[path].find_flipping(test, lines[path]))
    return Flipping(places, [(path, each.node.start_byte) for path, each in found])


def _try_twins(
    run: TestRun, candidates: list[_Candidate], files: Mapping[str, AssertedFile], note: Note
) -> list[CounterTest]:
    """Return the strongest counter-test of each label that fails with gold; a test that does not run is none."""
    texts = {path: file.text for path, file in files.items()}
    kept = dict[str, CounterTest]()
    for number in range(ROUNDS):
        tried = [each for candidate in candidates if candidate.label not in kept and (each := candidate.choose(number))]
        if not tried:
            break
        note(f"trying {len(tried)} counter-tests, round {number + 1} of at most {ROUNDS}")
        statuses = run.read_statuses(run.run_gold(_render(tried, texts)))
        for each in tried:
            if statuses(each.label) and statuses(each.label) <= FAILING:
                kept[each.label] = each
    return [kept[each.label] for each in candidates if each.label in kept]


def _confirm(
    run: TestRun, kept: list[CounterTest], files: Mapping[str, AssertedFile], note: Note
) -> tuple[list[CounterTest], set[str]]:
    """Run all counter-tests together; return the ones that fail with gold in every run, and the labels of the others.

    One that passes without the fix expects what the base commit gives.
    """
    if not kept:
        return [], set()
    content = _render(kept, {path: file.text for path, file in files.items()})
    unstable = set[str]()
    for number in range(CONFIRMED):
        note(f"confirming {len(kept)} counter-tests, {number + 1} of {CONFIRMED}")
        statuses = run.read_statuses(run.run_gold(content))
        unstable |= {each.label for each in kept if not (statuses(each.label) and statuses(each.label) <= FAILING)}
    note(f"running {len(kept)} counter-tests without the fix")
    statuses = run.read_statuses(run.run("", content))
    stable = (each for each in kept if each.label not in unstable)
    return [each.model_copy(update={"form": _name_form(each.form, statuses(each.label))}) for each in stable], unstable


def _respell(run: TestRun, files: Mapping[str, AssertedFile], note: Note) -> dict[str, tuple[Edit, ...]]:
    """Return edits of the spelling of the tests to be fixed; none if one of them does not pass with gold then."""
    labels = run.task.instance.fail_to_pass
    edits = dict[str, set[Edit]]()
    for path, test in (found for label in labels for found in _find_places(label, files)):
        edits.setdefault(path, set()).update(files[path].respell(test))
    edits = {path: own for path, own in edits.items() if own}
    if not edits:
        return {}
    note("running the tests in another spelling")
    statuses = run.read_statuses(run.run_gold({path: files[path].edit(own).encode() for path, own in edits.items()}))
    same = all(statuses(label) and statuses(label) <= PASSING for label in labels)
    return {path: tuple(sorted(own)) for path, own in edits.items()} if same else {}


def _name_form(form: CounterForm, on_base: set[Status]) -> CounterForm:
    if on_base and on_base <= PASSING:
        return CounterForm.BASE_VALUE
    return CounterForm.NEGATED if form is CounterForm.BASE_VALUE else form


def find_compile_only(run: TestRun) -> tuple[str, ...]:
    """Return the fail-to-pass tests that never call what gold changes; raises as ``TestRun.run``."""
    instance = run.task.instance
    changed = {change.path: [*change.list_changed_lines()] for change in read_diff(instance.gold_patch) if change.new}
    texts = run.read(sorted(changed), instance.gold_patch)
    stubbed = {path: stub_functions(instance.language, path, text, changed[path]) for path, text in texts.items()}
    files = {path: text.encode() for path, text in stubbed.items() if text != texts[path]}
    if not files:
        return ()
    statuses = run.read_statuses(run.run_gold(files))
    return tuple(label for label in instance.fail_to_pass if statuses(label) and statuses(label) <= PASSING)


def stub_functions(language: str, path: str, text: str, lines: Iterable[int]) -> str:
    """Return a source in which the functions around some lines, from 1, only fail."""
    parsed, changed = parse(language, path, text), {*lines}
    if parsed is None or not parsed.language.SYNTAX.stub:
        return text
    edits = list[Edit]()
    for kind, node in list_defining_nodes(parsed):
        inside = changed.intersection(range(node.start_point.row + 1, node.end_point.row + 2))
        body = node.child_by_field_name("body") or next(
            (each for each in node.children if each.type in parsed.language.SYNTAX.bodies), None
        )
        if kind == "function" and inside and body:
            edits.append((body.start_byte, body.end_byte, parsed.language.SYNTAX.stub))
    return edit_text(text, edits)
