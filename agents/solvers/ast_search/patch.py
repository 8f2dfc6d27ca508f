"""What becomes of a change that the AutoCodeRover solver's model wrote: how far it can be used, and why not. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assay.agents.contract import AgentTask
from assay.agents.solvers.shared.codebase import is_inside
from assay.agents.solvers.shared.edit_grammars import ParsedEdits, parse_tagged
from assay.agents.solvers.shared.edits import AppliedEdits, EditProblem, EditResult, FileEdit, apply_edits
from assay.agents.solvers.shared.syntax_check import broken


class ExtractStatus(StrEnum):
    """How far a change can be used, best first; the names are those of the paper's artefact."""

    APPLICABLE_PATCH = "APPLICABLE_PATCH"
    MATCHED_BUT_EMPTY_ORIGIN = "MATCHED_BUT_EMPTY_ORIGIN"
    """The file is there, and no lines to replace were given."""
    MATCHED_BUT_EMPTY_DIFF = "MATCHED_BUT_EMPTY_DIFF"
    """The lines are there, and stay as they are."""
    RAW_PATCH_BUT_UNMATCHED = "RAW_PATCH_BUT_UNMATCHED"
    """The lines to replace are not there, or not in one place only."""
    RAW_PATCH_BUT_UNPARSED = "RAW_PATCH_BUT_UNPARSED"
    """The answer holds no change of the right form."""


LADDER = tuple(ExtractStatus)
NO_CHANGE = "nothing would change"
NO_PARTS = "it holds no <file>, <original> and <patched> parts"


@dataclass(frozen=True, slots=True)
class PatchAttempt:
    """One answer of the patch writer."""

    status: ExtractStatus
    files: Mapping[str, str] = field(default_factory=dict)
    """Path to new text of what it changes."""
    problem: str = ""
    """What the model has to mend; empty if the change can be used as it is."""

    @property
    def rank(self) -> int:
        """Place on the ladder, 0 for the best."""
        return LADDER.index(self.status)

    @property
    def is_read(self) -> bool:
        """Whether the answer had the right form."""
        return self.status is not ExtractStatus.RAW_PATCH_BUT_UNPARSED


def attempt(answer: str, texts: Mapping[str, str], task: AgentTask) -> PatchAttempt:
    """Read a change and apply it to the files.

    Args:
        answer: what the model wrote.
        texts: path to text of the tree.
        task: whose tree it is.
    """
    parsed = parse_tagged(answer, task.root)
    outside = [each.path for each in parsed.edits if not is_inside(each.path)]
    applied = _without_guesses(texts, [each for each in parsed.edits if is_inside(each.path)])
    unparsable = broken(task.language, texts, applied.files)
    problems = [
        *parsed.problems,
        *(f"{path}: not a path in the repository" for path in outside),
        *(str(each) for each in applied.failed),
        *(f"{path}: after the change, {problem}" for path, problem in unparsable.items()),
    ]
    if not problems and not applied.files:
        problems = [NO_CHANGE if parsed.edits else NO_PARTS]
    return PatchAttempt(extract_status(parsed, applied), applied.files, "\n".join(problems))


def _without_guesses(texts: Mapping[str, str], edits: Sequence[FileEdit]) -> AppliedEdits:
    """Apply edits whose lines are there but for white space, as in the paper; lines that are only like them are not."""
    applied = apply_edits(texts, edits)
    guessed = {each.edit for each in applied.fuzzy}
    if not guessed:
        return applied
    sure = apply_edits(texts, [edit for edit in edits if edit not in guessed])
    unmatched = (EditResult(edit, problem=EditProblem.NOT_FOUND) for edit in guessed)
    return AppliedEdits(sure.files, (*sure.results, *unmatched))


def extract_status(parsed: ParsedEdits, applied: AppliedEdits) -> ExtractStatus:
    """Return the place of a change on the ladder: the best that any of its parts comes to."""
    problems = {each.problem for each in applied.failed}
    if not parsed.edits:
        return ExtractStatus.RAW_PATCH_BUT_UNPARSED
    if applied.files:
        return ExtractStatus.APPLICABLE_PATCH
    if EditProblem.EMPTY_SEARCH in problems:
        return ExtractStatus.MATCHED_BUT_EMPTY_ORIGIN
    if EditProblem.NO_CHANGE in problems or len(applied.failed) < len(applied.results):
        return ExtractStatus.MATCHED_BUT_EMPTY_DIFF
    return ExtractStatus.RAW_PATCH_BUT_UNMATCHED


def best_attempt(attempts: Sequence[PatchAttempt]) -> PatchAttempt:
    """Return the attempt that is highest on the ladder; of equal ones one without a problem, and then the first."""
    return min(attempts, key=lambda each: (each.rank, bool(each.problem)))
