"""Sample patches for each location set, apply them, and check them without running anything."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from assay.agents.contract import SolveSession
from assay.agents.solvers.agentless import prompts
from assay.agents.solvers.agentless.excerpt import Places, PromptExcerpt, excerpt
from assay.agents.solvers.agentless.repository import Repository, draw, note
from assay.agents.solvers.agentless.settings import AgentlessSettings
from assay.agents.solvers.shared.normalise import change_key, differs
from assay.agents.solvers.shared.syntax_check import find_broken
from assay.harness.edits.edit_grammars import parse_search_replace
from assay.harness.edits.file_edits import AppliedEdits, apply_edits
from assay.harness.edits.solution import TEXTS, WrongAnswerError, make_prompt, read_solution


@dataclass(frozen=True, slots=True)
class RepairSample:
    """One answer of the model, applied.

    ``files`` maps path to new text, ``key`` is the normalised change; both are empty for a dropped sample, whose
    ``reason`` says why. ``remarks`` are further facts, such as edits that did not apply.
    """

    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    reason: str = ""
    remarks: tuple[str, ...] = ()


def draw_samples(
    session: SolveSession, repository: Repository, sets: Sequence[Places], settings: AgentlessSettings
) -> Iterator[tuple[int, RepairSample]]:
    """Yield the number of a location set and a patch for it; the first patch of each set is greedy."""
    shown = [excerpt(repository.files, chosen, settings.code_characters) for chosen in sets]
    asked = [_make_prompt(repository, seen, settings) for seen in shown]
    system = TEXTS["system"] if settings.whole_files else ""
    drawn: Counter[int] = Counter()
    how = settings.repair_tokens, settings.temperature
    for number, answer in draw(session, asked, "repair", how, settings.samples, system):
        source = f"locations {number}, sample {drawn[number]}"
        sample = judge(answer, repository, shown[number].places, source, exactly=settings.whole_files)
        drawn[number] += 1
        note(session, _describe(sample))
        yield number, sample


def _make_prompt(repository: Repository, shown: PromptExcerpt, settings: AgentlessSettings) -> str:
    task, fence = repository.task, repository.language
    if settings.whole_files:
        return make_prompt(task.repo, task.problem_statement, shown.text, fence)
    suffix = PurePosixPath(next(iter(shown.places), "")).suffix
    return prompts.TEXTS["repair"].format(issue=prompts.issue(task), files=shown.text, suffix=suffix, fence=fence)


def judge(answer: str, repository: Repository, chosen: Places, source: str, *, exactly: bool = False) -> RepairSample:
    """Return the sample of an answer, dropped if no edit applies, a file no longer parses, or only layout changes.

    Of an answer with a thought and a solution, the solution counts. ``exactly`` is as of ``apply_edits``.
    """
    with suppress(WrongAnswerError):
        answer = read_solution(answer)
    parsed = parse_search_replace(answer, repository.task.root)
    hidden = [each for each in parsed.edits if each.path in repository.paths - chosen.keys()]
    editable = {path: repository.files[path] for path in chosen}
    applied = apply_edits(editable, [each for each in parsed.edits if each not in hidden], chosen, exactly=exactly)
    unseen = (f"{each.path}: not applied: the file was not shown" for each in hidden)
    remarks = (*parsed.problems, *unseen, *map(str, (*applied.failed, *applied.fuzzy)))
    reason = _reason(repository, applied, remarks)
    if reason:
        return RepairSample(source, reason=reason, remarks=remarks)
    key = change_key(repository.language, repository.files, applied.files)
    if not key:
        return RepairSample(source, reason="only comments, docstrings or layout change", remarks=remarks)
    return RepairSample(source, applied.files, key, remarks=remarks)


def _reason(repository: Repository, applied: AppliedEdits, remarks: Sequence[str]) -> str:
    if not applied.files:
        return "; ".join(["no edit applies" if remarks else "no edit in the answer", *remarks])
    if not differs(repository.files, applied.files):
        return "only blank lines change"
    wrong = find_broken(repository.language, repository.files, applied.files)
    return "; ".join(f"{path} no longer parses: {problem}" for path, problem in wrong.items())


def _describe(sample: RepairSample) -> str:
    what = f"dropped: {sample.reason}" if sample.reason else f"changes {', '.join(sample.files)}"
    remarks = "" if sample.reason or not sample.remarks else f" ({'; '.join(sample.remarks)})"
    return f"{sample.source}: {what}{remarks}"
