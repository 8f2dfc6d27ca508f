"""Copies of tests with other literals, for other languages than Python; the project's own command runs them.

One copy changes one literal of one test. A probe is a copy's result: whether it passes, and how it fails.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from shlex import quote
from typing import Any

from assay.harness import languages
from assay.harness.domain import PASSING, GeneratorResult, Status
from assay.harness.languages.base import Copying
from assay.harness.languages.copying import MARK, CopiedFile, SourceLiteral
from assay.harness.patchdiff.contract import Context, Contribution
from assay.harness.patchdiff.decide import FAILURE
from assay.harness.patchdiff.generators.suites.running import runs_everything
from assay.harness.patchdiff.probe import values
from assay.harness.patchdiff.probe.texts import normalise
from assay.harness.patchdiff.probing import Program, Suspects, find_differences
from assay.harness.patchdiff.sides import OUT, Side, SideJob, read_files
from assay.harness.patches.diff import read_diff
from assay.harness.reports import find, json_tree
from assay.harness.runners.base import PLACEHOLDER

NAME = "amplify"
FOLDER = ".assay-copies"
COPIES = 2000
FILES = 3  # copied test files: those of the test patch, or the nearest ones
SIZES = (300, 50, 10)  # copies in one file: at first, and where other copies kept some from running
SECONDS, EACH = 30.0, 40.0  # seconds for a round of all copies, and for one file of them
TRYING = 0.2  # share of the turn for each attempt to run the copies with gold
LARGEST = 1000  # the greatest number, or twice the old one: tests wait and repeat by their numbers
SWITCHED = {"true": "false", "false": "true"}
_SHIFTING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:ms|µs|ns|s)\b|/tmp/\S+|[\w./-]+\.\w+:\d+(?::\d+)?")


@dataclass(frozen=True, slots=True)
class CopiedTest:
    """A copy of a test; ``key`` is the probe's."""

    file: CopiedFile
    test: str
    """The first line of the test."""
    key: str
    text: str


Batch = tuple[str, Sequence[CopiedTest]]  # the name of a batch's output, and the copies that run together


def generate(context: Context, copying: Copying) -> Contribution:
    files = _files(context, copying)
    numbers, each = iter(range(COPIES)), COPIES // max(1, len(files))
    made = [copy for file in files for copy in _make_copies(context, file, islice(numbers, each))]
    if not made:
        return Contribution(GeneratorResult(name=NAME, note="no test file has a test with a literal that can change"))
    run = _Run(copying, _select_sound(context, made, copying))
    if not run.copies:
        return Contribution(GeneratorResult(name=NAME, note="no copy of a test with another literal ran with gold"))
    return find_differences(context, NAME, run.program())


def _files(context: Context, copying: Copying) -> list[CopiedFile]:
    """Return gold's test files: those of the test patch if any of them can be copied."""
    instance, paths = context.sides.instance, context.survey.test_files
    own = [path for path in paths if path in {change.path for change in read_diff(instance.test_patch)}]
    paths = (tuple(own) or paths)[:FILES]
    left = read_files(context.sides, Side.GOLD, paths)
    texts = ((path, left.get(path, b"").decode(errors="replace")) for path in paths)
    found = (CopiedFile.read(instance.language, path, text, copying) for path, text in texts)
    return [file for file in found if file]


def _make_copies(context: Context, file: CopiedFile, numbers: Iterable[int]) -> Iterator[CopiedTest]:
    """Yield different copies of a file's tests, chosen by the seed; most are of the issue's own tests."""
    instance = context.sides.instance
    added = {line for change in read_diff(instance.test_patch) for line in change.added()}
    own = {test.rpartition("::")[2].partition("/")[0] for test in instance.fail_to_pass}
    names = {part for test in (*instance.fail_to_pass, *instance.pass_to_pass) for part in test.split("::")}
    choice, lines = random.Random(f"{context.settings.seed} {file.path}"), file.text.split("\n")
    found = [(test, each) for test in file.tests for each in test.literals if each.value not in names]
    near = [(test, each) for test, each in found if lines[each.line - 1] in added]
    named = [(test, each) for test, each in found if any(name in test.source for name in own)]
    several = filter(None, (near, near, named, found))
    tiers = [(tier, [1 + len(values.pieces(str(each.value))) for _, each in tier]) for tier in several]
    far, seen = _strings(each for _, each in found), set[tuple[int, str]]()
    for number in numbers if found else ():
        tier, weights = choice.choice(tiers)
        ((test, literal),) = choice.choices(tier, weights)
        new = _change_literal(literal, _strings(test.literals), far, context.survey.words, choice)
        if new not in ("", literal.source) and (literal.first, new) not in seen:
            seen.add((literal.first, new))
            key = f"{number}: {file.path}:{literal.line} {literal.source} -> {new}"
            yield CopiedTest(file, test.source.partition("\n")[0], key, file.copy_test(test, literal, new, number))


def _strings(literals: Iterable[SourceLiteral]) -> list[str]:
    return sorted({each.value for each in literals if isinstance(each.value, str)})


def _change_literal(
    literal: SourceLiteral, near: Sequence[str], far: Sequence[str], words: Sequence[str], choice: random.Random
) -> str:
    """Return the source of another literal of the same type; "" if there is none."""
    value = literal.value
    if isinstance(value, str):
        way = choice.randrange(4)
        news = values.texts(value, choice) if way == 0 else _change_words(value, near, choice)
        if way == 1:
            news = values.splice(value, choice.choice((near, far)), words, choice)
        return json.dumps(choice.choice(news or [value]), ensure_ascii=False)
    if value is None:
        return SWITCHED.get(literal.source, "")
    numbers = [*values.numbers(value), *values.borders(value, words)]
    fitting = [new for new in numbers if type(new) is type(value) and 0 <= new <= max(LARGEST, 2 * value)]
    return repr(choice.choice(fitting)) if fitting else ""


def _change_words(value: str, donors: Sequence[str], choice: random.Random) -> list[str]:
    """Return a text with one word in the other case, left out, or exchanged, and with one of its marks once more."""
    pieces, others = values.pieces(value), [piece for donor in donors for piece in values.pieces(donor)]
    words = [place for place, piece in enumerate(pieces) if piece[0].isalnum()]
    news = []
    if words:
        place, other = choice.choice(words), choice.choice(sorted({piece for piece in others if piece[0].isalnum()}))
        news = [(place, new, place + 1) for new in (pieces[place].swapcase(), "", other)]
    if marks := [piece for piece in pieces if not piece[0].isalnum()]:
        place = choice.randrange(len(pieces) + 1)
        news.append((place, choice.choice(marks), place))
    return ["".join([*pieces[:first], new, *pieces[last:]]) for first, new, last in news]


def _select_sound(context: Context, copies: Sequence[CopiedTest], copying: Copying) -> list[CopiedTest]:
    """Return the copies that run with gold, without any that do not compile or that end all tests."""
    waiting, sound = list(copies), list[CopiedTest]()
    for size in SIZES:
        run, part = _Run(copying, waiting, size), context.part(TRYING)
        named = [(str(number), batch) for number, batch in enumerate(run.batches(waiting))]
        left = run.run_batches(part, Side.GOLD, named, part.seconds_left)
        shown = {row["key"] for each in named for row in run.read_rows(part, left, *each)}
        wrong = {copy.key for each in named for copy in run.find_wrong(left, *each)}
        sound += [copy for copy in waiting if copy.key in shown]
        waiting = [copy for copy in waiting if copy.key not in shown | wrong]
    return sound


@dataclass(frozen=True, slots=True)
class _Run:
    """Copies, and how they run."""

    copying: Copying
    copies: Sequence[CopiedTest]
    size: int = SIZES[0]

    def observe(
        self, context: Context, program: Program, side: Side, seeds: Iterable[int], only: Sequence[str]
    ) -> list[list[dict[str, Any]]]:
        """Run copies once for each seed in one container; return lines as ``probing.run_lines`` does."""
        batches = self.batches([copy for copy in self.copies if not only or copy.key in only])
        rounds = [[(f"{seed}-{n}", batch) for n, batch in enumerate(batches)] for seed in seeds]
        seconds = context.seconds_left if only else program.seconds
        left = self.run_batches(context, side, [each for round_ in rounds for each in round_], seconds)
        return [
            [row for name, batch in round_ for row in self.read_rows(context, left, name, batch)]
            + [{"end": "done"}] * (all if only else any)(f"{name}.end" in left for name, _ in round_)
            for round_ in rounds
        ]

    def batches(self, copies: Iterable[CopiedTest]) -> list[list[CopiedTest]]:
        """Group the copies that run together: some of one file."""
        of_file: dict[str, list[CopiedTest]] = {}
        for copy in copies:
            of_file.setdefault(copy.file.path, []).append(copy)
        return [each[at : at + self.size] for each in of_file.values() for at in range(0, len(each), self.size)]

    def run_batches(self, context: Context, side: Side, named: Sequence[Batch], seconds: float) -> Mapping[str, bytes]:
        """Run named batches one after the other while time is left; return their files."""
        if not named or not context.seconds_left:
            return {}
        files = {f"{FOLDER}/{name}": self._file(batch).encode(errors="replace") for name, batch in named}
        script = [
            f"mkdir -p {OUT}",
            f"mv {FOLDER} /tmp/assay-copies",
            *self._empty_others(context),
            "began=$(date +%s)",
        ]
        for name, batch in named:
            path, plan = quote(batch[0].file.path), context.plan([batch[0].file.path])
            command = plan.command.replace(PLACEHOLDER, "").replace(plan.report_path, f"{OUT}/{name}.report")
            script.append(f"""\
now=$(date +%s)
[ $((now + 2)) -lt $ASSAY_END ] || exit 1
[ $((now - began)) -le {int(seconds)} ] || exit 0
cp -- {path} /tmp/assay-kept && cp /tmp/assay-copies/{name} {path}
timeout -k 2 {int(EACH)} env {self.copying.environment.replace("MARK", MARK)} bash -c {quote(command)} \\
  < /dev/null > {OUT}/{name}.log 2>&1
cp /tmp/assay-kept {path}; : > {OUT}/{name}.end""")
        job = SideJob("\n".join([*script, ""]), files, seconds=context.seconds_left)
        return context.sides.run(side, job)

    def _file(self, batch: Sequence[CopiedTest]) -> str:
        return batch[0].file.render_file(copy.text for copy in batch)

    def _empty_others(self, context: Context) -> Iterator[str]:
        """Yield commands that empty the test files without copies, where the recipe always runs all of them."""
        files, sign = context.survey.test_files, languages.find(context.sides.instance.language).TEST_SIGN
        if self.copying.wrapped[0] and runs_everything(context, files[:1], files[1:]):
            yield from (f"! grep -qP {quote(sign)} {quote(path)} || : > {quote(path)}" for path in files)

    def read_rows(
        self, context: Context, left: Mapping[str, bytes], name: str, batch: Sequence[CopiedTest]
    ) -> Iterator[dict[str, Any]]:
        """Yield the results of a batch's copies; nothing for a copy whose tests did not end."""
        report, log = (left.get(f"{name}.{kind}", b"").decode(errors="replace") for kind in ("report", "log"))
        form = context.plan([batch[0].file.path]).report_format
        statuses, said = dict[str, set[Status]](), dict[str, str]()
        for test, status in find(form).parse(report).items():
            statuses.setdefault(_number(test), set()).add(status)
        for test, message in messages(form, report, log):
            said[_number(test)] = f"{said.get(_number(test), '')}{message}\n"
        for copy in batch:
            number = copy.key.partition(":")[0]
            ended = statuses.get(number, set())
            if ended and ended <= {*PASSING, Status.FAILED}:
                seen = describe_copy(Status.FAILED in ended, said.get(number, ""), self.copying.raised)
                yield {"key": copy.key, "target": copy.file.path, "test": copy.test, "mutated": True} | seen

    def find_wrong(self, left: Mapping[str, bytes], name: str, batch: Sequence[CopiedTest]) -> Iterator[CopiedTest]:
        """Yield the copies with compiler errors, by the line numbers in its output."""
        path, lines = batch[0].file.path, self._file(batch).split("\n")
        log = b"".join(left.get(f"{name}.{kind}", b"") for kind in ("report", "log")).decode(errors="replace")
        named = {int(line) for line in re.findall(rf"{re.escape(path.rpartition('/')[2])}[:(](\d+)", log)}
        numbers = {_number("\n".join(lines[:line])) for line in named}
        yield from (copy for copy in batch if copy.key.partition(":")[0] in numbers)

    def program(self) -> Program:
        end = re.search(r"(?:[._](?:test|spec))?\.\w+$", self.copies[0].file.path)
        return Program(NAME, {}, SECONDS, self._reproduce, observe=self.observe, suffix=end[0] if end else "")

    def _reproduce(self, context: Context, suspects: Suspects) -> dict[str, str]:
        """Return a test file for each probe that shows the difference when its copy runs alone."""
        found = {}
        for copy in (copy for copy in self.copies if copy.key in suspects):
            once, sides = self.program(), (Side.GOLD, Side.CANDIDATE)
            rows = [row for side in sides for row in self.observe(context, once, side, [0], [copy.key])[0][:1]]
            seen = [f"{row['type']} {row['text']}" for row in rows if "key" in row]
            if len(set(seen)) > 1:
                shown = f"In place of {copy.file.path}, copy {copy.key}\nWith gold: {seen[0]}\nThe patch: {seen[1]}"
                head = (f"// {line}".rstrip() for line in shown.splitlines())
                found[copy.key] = "\n".join([*head, "", self._file([copy])])
        return found


def _number(text: str) -> str:
    """Return the number of the last copy that a text names; "" if it names none."""
    return re.split(r"\D", text.rpartition(MARK)[2], maxsplit=1)[0] if MARK in text else ""


def describe_copy(failed: bool, message: str, raised: str) -> dict[str, str]:
    """Return the observation of a copy: its status, and its message without places, addresses and durations."""
    text = normalise(_SHIFTING.sub("<>", message).strip()) if failed else ""
    thrown = failed and re.search(rf"^\s*(?:<>:)?\s*({raised})", text, re.MULTILINE)
    if thrown:
        return {"kind": "error", "type": thrown[1], "text": ""}
    return {"kind": FAILURE if failed else "value", "type": "failed" if failed else "passed", "text": text}


_OF_MOCHA = re.compile(r"^  \d+\) (.+?):\n\n(.*?)(?=^  \d+\) |\Z)", re.MULTILINE | re.DOTALL)
_FRAME = re.compile(r"^ *(?:=== |--- |at .+\d\)?$|at .+ \(.+\)$)")
"""A line that says where something happened, or which test it is."""


def messages(report_format: str, report: str, log: str) -> Iterator[tuple[str, str]]:
    """Yield a failed test's name, with those of the suites around it, and a message, without frames of a stack.

    The formats are those of go test and of jest; where those have none, the log is read as mocha's.
    """
    read = {"go_json": _read_go, "jest_json": _read_jest}.get(report_format)
    found = [each for each in read(report) if each[1]] if read else []
    for name, message in found or _OF_MOCHA.findall(log):
        yield name, "\n".join(line for line in message.splitlines() if not _FRAME.match(line))


def _read_go(report: str) -> Iterator[tuple[str, str]]:
    for event in json_tree.lines(report):
        yield json_tree.get_text(event, "Test"), json_tree.get_text(event, "Output")


def _read_jest(report: str) -> Iterator[tuple[str, str]]:
    for document in json_tree.lines(report):
        for result in json_tree.objects(document, "testResults"):
            for case in json_tree.objects(result, "assertionResults"):
                name = " ".join((*json_tree.get_texts(case, "ancestorTitles"), json_tree.get_text(case, "title")))
                yield name, "\n".join(json_tree.get_texts(case, "failureMessages"))
