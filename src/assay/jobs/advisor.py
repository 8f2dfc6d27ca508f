"""A language model as the advisor of a set-up, where no rule knows what to change."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import Field, JsonValue

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.chat import ChatModel, Message, Request, Speaker
from assay.agents.llm.errors import BudgetExceeded, CassetteMiss, ModelError
from assay.agents.llm.local import open_endpoint
from assay.agents.llm.prices import Prices, load_prices
from assay.agents.llm.stack import ModelSetup, Stack
from assay.agents.sampling.run import mask_volatile
from assay.harness import languages
from assay.harness.domain import Model, Recipe
from assay.harness.errors import UserError, make_printable
from assay.harness.fences import fence, find_blocks, shorten
from assay.harness.files import make_model, parse_yaml
from assay.harness.program_output import cut_line
from assay.harness.reports import FORMATS
from assay.harness.runners import RUNNERS
from assay.harness.templates import read_table
from assay.instances.setup.advice import Advice, Stuck
from assay.instances.setup.setup_record import AdvisorCall
from assay.instances.setup.symptoms import COLOURS
from assay.instances.toolchains.buildfiles import build_text

CALLS = 12
LISTS = ("system_packages", "packages", "constraints", "extras", "requirements")
"""Fields whose items are single names or requirements, never options of what installs them."""
MOST = {"memory_mb": 8192, "cutoff_days": 365}
"""Largest numbers that fields may have."""
SAFE = re.compile(r"[^-\s].*")
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
STEP = re.compile(r"^#\d+ \d+\.\d+ ", re.MULTILINE)
"""What a builder writes before a line: the step and its time."""
_TEXTS = read_table(__file__)
FIELDS: Mapping[str, str] = _TEXTS["fields"]
QUESTION: str = _TEXTS["question"]
NEWEST = 6  # earlier answers in a question
OUTPUT, FILE, FILES, PATHS, PAST, LONGEST = 10_000, 6_000, 16_000, 4_000, 500, 20_000
"""Characters that a question holds of the output, of one file, of all files, of the list of paths and of an earlier
answer, and that an answer may have."""


class ModelAnswer(Model):
    files: tuple[str, ...] = ()
    why: str = ""
    recipe: dict[str, JsonValue] = Field(default_factory=dict)


class AdvisorSettings(Model):
    model: str
    base_url: str = ""
    cassette: Path | None = None
    prices: Path | None = None
    limits: BudgetLimits = BudgetLimits(calls=CALLS)
    """They hold for all questions about one tree, earlier commands' included."""
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelAdvisor:
    """Asks a model, which may look at files of the tree before it changes the recipe; an Advisor."""

    settings: AdvisorSettings
    model: ChatModel
    prices: Prices = field(default_factory=Prices)
    note: Callable[[str], None] = lambda _text: None

    @property
    def name(self) -> str:
        return f"model {self.settings.model}"

    def can_ask(self, calls: Sequence[AdvisorCall]) -> bool:
        limits, spent = self.settings.limits, _sum_spent(calls)
        pairs = ((limits.calls, spent.calls), (limits.tokens, spent.tokens), (limits.cost, spent.cost))
        return all(limit is None or used < limit for limit, used in pairs)

    def advise(self, stuck: Stuck) -> Advice:
        """Ask until an answer changes the recipe, the model gives up, or the budget is spent."""
        ledger, calls = Ledger(self.settings.limits, _sum_spent(stuck.record.calls)), list[AdvisorCall]()
        model, recipe = Metered(self.model, ledger, self.prices), None
        while True:
            before, answer, ends = ledger.spent, "", True
            files: tuple[str, ...] = ()
            try:
                answer = model.complete(self._make_request(stuck, calls, before)).content
                recipe, result, files = _follow(read_answer(answer), stuck)
                ends = not files
            except BudgetExceeded as error:
                return Advice(None, str(error), calls)
            except (ModelError, CassetteMiss) as error:
                result = f"no answer: {error}"
            except UserError as error:
                result, ends = f"cannot be used: {error}", False
            spent, result = ledger.spent, cut_line(make_printable(result), 300)
            tokens, cost = spent.tokens - before.tokens, round(spent.cost - before.cost, 6)
            call = AdvisorCall(
                answer=make_printable(shorten(answer, 4 * PAST)), files=files, result=result, tokens=tokens, cost=cost
            )
            calls.append(call)
            self.note(f"{self.name}, answer {spent.calls} of {self.settings.limits.calls or 'any'}: {result}")
            if ends:
                return Advice(recipe, result, calls)

    def _make_request(self, stuck: Stuck, calls: Sequence[AdvisorCall], spent: Spent) -> Request:
        given = self.settings
        left = "any number of" if given.limits.calls is None else str(given.limits.calls - spent.calls)
        messages = (Message(role=Speaker.USER, content=write_question(stuck, calls, left)),)
        sampling = {"temperature": given.temperature, "max_tokens": given.max_tokens}
        return Request(model=given.model, messages=messages, deadline=stuck.deadline).model_copy(update=sampling)


@contextmanager
def open_advisor(
    settings: AdvisorSettings, recording: Path, note: Callable[[str], None] = lambda _text: None
) -> Iterator[ModelAdvisor]:
    """Open a model as an advisor; ``recording`` keeps its answers where no cassette is named.

    Raises UserError if the address, the key, the price or the cassette is wrong.
    """
    load_prices(settings.prices).check(settings.model, ["--cost"] if settings.limits.cost is not None else [])
    with open_endpoint(settings.model, settings.base_url, settings.cassette) as (endpoint, mode):
        kept = settings.cassette or recording
        setup = ModelSetup(endpoint=endpoint, cassette=kept, mode=mode, prices=settings.prices)
        with Stack(setup, normalise=mask_volatile, note=note) as stack:
            yield ModelAdvisor(settings, stack.model, stack.prices, note)


def read_answer(answer: str) -> ModelAnswer:
    """Read the block of an answer; raises UserError with the remedy."""
    if len(answer) > LONGEST:
        raise UserError(f"the answer has more than {LONGEST} characters; write one short block")
    blocks = [text for info, text in find_blocks(answer) if info in {"yaml", "yml", ""}]
    if not blocks:
        raise UserError("the answer has no ```yaml block; write one")
    wanted = parse_yaml(blocks[0], "the block")
    return make_model(ModelAnswer, {} if wanted is None else wanted, "the block", "write files, or why and recipe")


def change_recipe(changes: Mapping[str, JsonValue], stuck: Stuck) -> Recipe:
    """Change fields of the recipe; raises UserError for what a model may not change, and what no field can hold."""
    if others := [name for name in changes if name not in FIELDS]:
        raise UserError(f"the field {others[0]} is not to be changed; choose from {', '.join(FIELDS)}")
    old = stuck.recipe
    changed = make_model(Recipe, {**old.model_dump(), **changes}, "the recipe", "give the field's whole value")
    if changed.toolchain not in {old.toolchain, *stuck.facts.available}:
        raise UserError(
            f"there is no {old.language} {changed.toolchain}; choose from {', '.join(stuck.facts.available)}"
        )
    for registry, name in ((RUNNERS, changed.runner), (FORMATS, changed.report_format), (FORMATS, changed.log_format)):
        if name:
            registry.find(name)
    if fault := next(_find_faults(changed, old), ""):
        raise UserError(fault)
    if changed in (old, *(each.recipe for each in stuck.record.attempts)):
        raise UserError("this recipe was tried already; change something else, or give an empty block")
    return changed


def _find_faults(changed: Recipe, old: Recipe) -> Iterator[str]:
    """Yield faults that would be errors of the engine or an installer, and no round's result."""
    items = [item for name in LISTS for item in getattr(changed, name) if item not in getattr(old, name)]
    yield from (f"{each!r} is no name and no requirement" for each in items if not SAFE.fullmatch(each))
    yield from (f"{name!r} is no name of a variable" for name in changed.env if not VARIABLE.fullmatch(name))
    wrong = (name for name, most in MOST.items() if not 0 <= (getattr(changed, name) or 0) <= most)
    yield from (f"the field {name} is out of bounds; write at most {MOST[name]}" for name in wrong)
    if "\\u0000" in changed.model_dump_json():
        yield "a text has a zero byte; leave it out"


def _follow(wanted: ModelAnswer, stuck: Stuck) -> tuple[Recipe | None, str, tuple[str, ...]]:
    """Return the changed recipe, what the answer does, and the files that it asks for."""
    if wanted.recipe:
        reason = cut_line(wanted.why, 200) or "no reason given"
        return change_recipe(wanted.recipe, stuck), f"{', '.join(wanted.recipe)}: {reason}", ()
    files = tuple(dict.fromkeys(each.removeprefix("./").rstrip("/") for each in wanted.files[:5]))
    return None, f"asks for {', '.join(files)}" if files else "knows no change", files


def write_question(stuck: Stuck, calls: Sequence[AdvisorCall], left: str) -> str:
    """Write what a model is asked; ``calls`` are those since the last round, ``left`` the answers that it may give."""
    project, recipe, run = stuck.facts.project, stuck.recipe, stuck.run
    named: dict[str, Iterable[str]] = {"runners": RUNNERS, "formats": FORMATS, "available": stuck.facts.available}
    names = {name: ", ".join(each) for name, each in named.items()}
    paths = "\n".join(sorted(project.paths, key=lambda path: (path.count("/"), path)))
    complaint = f"\n\nYour last answer {calls[-1].result}" if calls and not calls[-1].files else ""
    output = make_printable(STEP.sub("", COLOURS.sub("", run.output[-2 * OUTPUT :])))[-OUTPUT:]
    past = [each.answer for each in stuck.record.calls if not each.files][-NEWEST:]
    rounds = [f"- {each.summary}" for each in stuck.record.attempts]
    rounds += [fence(make_printable(shorten(answer, PAST))) for answer in past]
    most = max((each.passed + each.failed for each in stuck.record.attempts), default=0)
    tests = f"{len(run.passed)} of {len(run.counted)} tests pass; another recipe ran {most}"
    usual = build_text("install.sh", project.language), languages.find(project.language).TEST_COMMAND
    return QUESTION.format(
        repo=project.repo,
        language=project.language,
        date=f"{project.date:%Y-%m-%d}",
        recipe=fence(yaml.safe_dump(recipe.model_dump(mode="json", exclude_defaults=True), sort_keys=False), "yaml"),
        usual="\n\n".join(map(fence, usual)),
        result=make_printable(run.problem) or tests,
        output=fence(output),
        rounds="\n".join(rounds) or "- this is the first",
        paths=fence(make_printable(shorten(paths, PATHS))),
        files=_show_files(stuck, (*stuck.record.calls, *calls)),
        fields="".join(f"- {name}: {text.format(**names)}\n" for name, text in FIELDS.items()),
        left=left,
        complaint=complaint,
    )


def _show_files(stuck: Stuck, calls: Sequence[AdvisorCall]) -> str:
    """Return the newest files and folders that were asked for, as far as there is room."""
    names = list(dict.fromkeys(name for call in reversed(calls) for name in call.files))
    texts, shown = stuck.read(set(names)), ""
    for name in names:
        below = [path for path in stuck.facts.project.paths if path.startswith(f"{name}/") or name == "."]
        text = texts.get(name, "\n".join(below) or "no such file or folder")
        part = f"\n{make_printable(name)}:\n{fence(make_printable(shorten(text, FILE)))}\n"
        if len(shown) + len(part) <= FILES:
            shown += part
    return shown


def _sum_spent(calls: Sequence[AdvisorCall]) -> Spent:
    return Spent(calls=len(calls), tokens=sum(each.tokens for each in calls), cost=sum(each.cost for each in calls))
