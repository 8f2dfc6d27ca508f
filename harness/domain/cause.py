"""The smallest part of a patch that still resolves its issue. It annotates a verdict and never changes it."""

from assay.harness.domain.vocabulary import Model


class CauseFlag(Model):
    """A line of a cause that looks at what tests it rather than at the project."""

    path: str
    text: str
    word: str
    """What was found in the line."""


class Cause(Model):
    """The part of a resolved patch that resolves it; everything else of the patch is not needed."""

    instance_id: str
    model: str = ""
    patch: str = ""
    """The part, as a diff."""
    lines: int = 0
    """Added and removed lines of the part; a file that is only renamed, emptied of its mode or binary counts as one."""
    hunks: int = 0
    of_lines: int = 0
    """The same of the whole patch."""
    of_hunks: int = 0
    hunks_are_needed: bool = False
    """The part was evaluated without each of its hunks, and does not resolve so."""
    lines_are_needed: bool = False
    """The same of its lines."""
    evaluations: int = 0
    """Different trees that decided it, over all calls, without the whole patch's own evaluation."""
    hunk_evaluations: int = 0
    """Those of them that whole hunks took."""
    flags: tuple[CauseFlag, ...] = ()
    seconds: float = 0.0
    """Time of the last call."""
    error: str = ""
    """Why there is no cause; the next call tries again."""

    @property
    def needed_share(self) -> float | None:
        """Lines of the part by lines of the patch; None without a cause."""
        return None if self.error or not self.of_lines else round(self.lines / self.of_lines, 4)
