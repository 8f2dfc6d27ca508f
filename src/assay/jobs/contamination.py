"""A probe of a model: does it know how issues were fixed, without seeing the repository, and also after its cut-off?

Two questions: which files the fix changes (asked only where the issue does not name them), and how a fix goes on after
its begin. What a model guesses, it guesses of issues before and after the end of its training alike.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from assay.agents.llm.budget import BudgetLimits, Spent
from assay.agents.llm.chat import ChatModel, Message, Request, Speaker
from assay.agents.llm.errors import BudgetExceeded, CassetteMiss, ModelError
from assay.agents.llm.local import open_endpoint
from assay.agents.llm.prices import load_prices
from assay.agents.llm.stack import ModelSetup, Stack
from assay.harness.domain import UNKNOWN_TIME, Instance, Model
from assay.harness.errors import make_printable
from assay.harness.fences import fence
from assay.harness.metrics.comparison import compare_rates
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.program_output import cut_line
from assay.harness.statistics import Interval, wilson
from assay.harness.templates import read_table
from assay.instances.audit.leakage import MOST, find_leaked
from assay.instances.audit.subject import Subject, subject

PATHS = 5  # paths of an answer that count
HIDDEN = 2  # distinctive lines of a fix that have to be left to ask for
LONGEST = 60_000  # characters of a statement or a diff in a question
ANSWER = 2000  # tokens of an answer
_PATH = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)*\.\w+")
_TEXTS = read_table(__file__)


class ProbedInstance(Model):
    """What a model knows of one instance; None where it was not asked, or gave no answer."""

    instance_id: str
    day: date | None
    """None if the row has no date."""
    named: bool | None = None
    """A file that the fix changes is among the first five that it named."""
    paths: tuple[str, ...] = ()
    completed: bool | None = None
    """Half or more of the fix's further distinctive lines are in its answer, token by token."""
    lines: int = 0
    of_lines: int = 0
    problem: str = ""


class ProbedRate(Model):
    """Instances that the model knows, of all that it was asked about."""

    known: int
    asked: int
    rate: Interval


class BeforeAfter(Model):
    """The rates of one question before and after a cut-off."""

    all: ProbedRate
    before: ProbedRate | None = None
    after: ProbedRate | None = None
    difference: Interval | None = None
    """The rate before less the one after, with Newcombe's interval; None without issues on both sides."""


class ModelProbe(Model):
    """What a model knows of a data set without its repositories."""

    model: str
    cutoff: date | None
    files: BeforeAfter
    patches: BeforeAfter
    failed: int
    """Questions without an answer."""
    spent: Spent
    instances: tuple[ProbedInstance, ...]


class ProbeSettings(Model):
    model: str
    base_url: str = ""
    cassette: Path | None = None
    prices: Path | None = None
    limits: BudgetLimits = BudgetLimits()
    temperature: float | None = None
    jobs: int = 4


@dataclass(frozen=True, slots=True)
class PatchQuestion:
    """The begin of a fix, and the distinctive lines that come after it."""

    begin: str
    hidden: tuple[str, ...]


@contextmanager
def open_model(settings: ProbeSettings) -> Iterator[Stack]:
    """Open a model with its limits and recording; raises UserError if the address, key, price or cassette is wrong."""
    load_prices(settings.prices).check(settings.model, ["--cost"] if settings.limits.cost is not None else [])
    with open_endpoint(settings.model, settings.base_url, settings.cassette) as (endpoint, mode):
        setup = ModelSetup(
            endpoint=endpoint, cassette=settings.cassette, mode=mode, prices=settings.prices, limits=settings.limits
        )
        with Stack(setup) as stack:
            yield stack


def probe_model(
    instances: Iterable[Instance], settings: ProbeSettings, stack: Stack, cutoff: date | None
) -> ModelProbe:
    """Ask about every instance; raises RunBudgetExceeded at a limit."""
    with ThreadPoolExecutor(settings.jobs) as pool:
        found = tuple(pool.map(lambda each: probe_instance(each, settings, stack.model), instances))
    return ModelProbe(
        model=settings.model,
        cutoff=cutoff,
        files=_compare([(each.day, each.named) for each in found], cutoff),
        patches=_compare([(each.day, each.completed) for each in found], cutoff),
        failed=sum(bool(each.problem) for each in found),
        spent=stack.paid.spent,
        instances=found,
    )


def probe_instance(instance: Instance, settings: ProbeSettings, model: ChatModel) -> ProbedInstance:
    day = None if instance.created_at == UNKNOWN_TIME else instance.created_at.date()
    found = ProbedInstance(instance_id=instance.id, day=day)
    try:
        read = subject(instance)
        if paths := find_unstated(read):
            statement = fence(instance.problem_statement[:LONGEST])
            answer = _ask(_TEXTS["files"].format(repo=instance.repo, statement=statement), settings, model)
            given = tuple(each.removeprefix("./") for each in _PATH.findall(answer))[:PATHS]
            shown = tuple(cut_line(make_printable(each), 200) for each in given)
            found = found.model_copy(update={"named": not paths.isdisjoint(given), "paths": shown})
        if asked := cut_patch(read):
            answer = _ask(_TEXTS["patch"].format(repo=instance.repo, begin=fence(asked.begin, "diff")), settings, model)
            lines = len(find_leaked(asked.hidden, answer))
            is_completed = lines >= MOST * len(asked.hidden)
            return found.model_copy(update={"completed": is_completed, "lines": lines, "of_lines": len(asked.hidden)})
    except BudgetExceeded:
        raise
    except (ModelError, CassetteMiss, MalformedPatchError) as error:
        return found.model_copy(update={"problem": cut_line(make_printable(str(error)), 300)})
    return found


def _ask(question: str, settings: ProbeSettings, model: ChatModel) -> str:
    message = Message(role=Speaker.USER, content=question.strip())
    request = Request(model=settings.model, messages=(message,), temperature=settings.temperature, max_tokens=ANSWER)
    return model.complete(request).content


def find_unstated(read: Subject) -> frozenset[str]:
    """Return the files that a fix changes; none if the statement names one of them, as a file or as a module."""
    paths = [each.base_path for each in read.fix()]
    names = {name for path in paths for name in (PurePosixPath(path).name, _dotted(path))}
    stated = any(name in read.instance.problem_statement for name in names)
    return frozenset() if stated else frozenset(paths)


def _dotted(path: str) -> str:
    """Return a path as modules are named in sentences and traces."""
    return str(PurePosixPath(path).with_suffix("")).replace("/", ".").removeprefix("src.")


def cut_patch(read: Subject) -> PatchQuestion | None:
    """Cut a fix before the second half of its distinctive lines; None if too few would be left to ask for."""
    lines = read.solution_lines()
    hidden = lines[len(lines) // 2 :]
    if len(hidden) < HIDDEN:
        return None
    begin: list[str] = []
    for change in read.fix():
        begin.append(f"--- {change.old or '/dev/null'}\n+++ {change.new or '/dev/null'}")
        for hunk in change.hunks:
            begin.append(f"@@ {hunk.section}".rstrip())
            for line in hunk.lines:
                if line.mark == "+" and line.text.strip() in hidden:
                    text = "\n".join(begin)
                    left = tuple(each for each in hidden if not find_leaked([each], text))
                    return PatchQuestion(text[-LONGEST:], left) if len(left) >= HIDDEN else None
                begin.append(f"{line.mark}{line.text}")
    return None


def _compare(answers: Sequence[tuple[date | None, bool | None]], cutoff: date | None) -> BeforeAfter:
    known = [(day, answer) for day, answer in answers if answer is not None]
    everything = _rate([answer for _, answer in known])
    if cutoff is None:
        return BeforeAfter(all=everything)
    before = _rate([answer for day, answer in known if day and day <= cutoff])
    after = _rate([answer for day, answer in known if day and day > cutoff])
    both = before.asked and after.asked
    difference = compare_rates(before.known, before.asked, after.known, after.asked) if both else None
    return BeforeAfter(all=everything, before=before, after=after, difference=difference)


def _rate(answers: Sequence[bool]) -> ProbedRate:
    return ProbedRate(known=sum(answers), asked=len(answers), rate=wilson(sum(answers), len(answers)))
