"""Patches: drawn from the model for each location set, applied, and looked through without running anything."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from assay.agents.contract import SolveSession
from assay.agents.solvers.agentless import prompts
from assay.agents.solvers.agentless.excerpt import excerpt
from assay.agents.solvers.agentless.localize import LocationSet
from assay.agents.solvers.agentless.repository import Repository, draw, note
from assay.agents.solvers.agentless.settings import AgentlessSettings
from assay.agents.solvers.shared.edit_grammars import parse_search_replace
from assay.agents.solvers.shared.edits import AppliedEdits, apply_edits
from assay.agents.solvers.shared.normalise import change_key, differs
from assay.agents.solvers.shared.syntax_check import broken


@dataclass(frozen=True, slots=True)
class RepairSample:
    """One answer of the model, made into files.

    ``files`` holds path to new text, ``key`` what the change means; both are empty for a sample that was dropped, and
    ``reason`` says why. ``remarks`` tells what else is worth knowing, such as edits that did not apply.
    """

    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    reason: str = ""
    remarks: tuple[str, ...] = ()


def draw_samples(
    session: SolveSession, repository: Repository, sets: Sequence[LocationSet], settings: AgentlessSettings
) -> Iterator[tuple[int, RepairSample]]:
    """Yield patches for each location set, with the number of the set: the first greedy, the others not."""
    for number, chosen in enumerate(sets):
        seen = excerpt(repository.files, chosen.intervals, settings.code_characters)
        prompt = prompts.REPAIR.format(
            repo=repository.task.repo,
            issue=repository.task.problem_statement.strip(),
            files=seen.text,
            suffix=PurePosixPath(next(iter(chosen.intervals), "")).suffix,
            fence=repository.language,
        )
        answers = draw(session, prompt, "repair", (settings.repair_tokens, settings.temperature), settings.samples)
        for index, answer in enumerate(answers):
            sample = judge(answer, repository, LocationSet(seen.places), f"locations {number}, sample {index}")
            note(session, _told(sample))
            yield number, sample


def judge(answer: str, repository: Repository, chosen: LocationSet, source: str) -> RepairSample:
    """Turn an answer into a sample by the edits that lie within the lines that were shown, and by new files.

    Dropped is what holds no edit that applies, what no longer parses, and what changes nothing but blank lines,
    comments or layout.
    """
    parsed = parse_search_replace(answer, repository.task.root)
    hidden = [each for each in parsed.edits if each.path in repository.paths - chosen.intervals.keys()]
    editable = {path: repository.files[path] for path in chosen.intervals}
    applied = apply_edits(editable, [each for each in parsed.edits if each not in hidden], chosen.intervals)
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
    """Return why a sample is dropped; empty if it is kept."""
    if not applied.files:
        return "; ".join(["no edit applies" if remarks else "no edit in the answer", *remarks])
    if not differs(repository.files, applied.files):
        return "only blank lines change"
    wrong = broken(repository.language, repository.files, applied.files)
    return "; ".join(f"{path} no longer parses: {problem}" for path, problem in wrong.items())


def _told(sample: RepairSample) -> str:
    what = f"dropped: {sample.reason}" if sample.reason else f"changes {', '.join(sample.files)}"
    remarks = "" if sample.reason or not sample.remarks else f" ({'; '.join(sample.remarks)})"
    return f"{sample.source}: {what}{remarks}"
