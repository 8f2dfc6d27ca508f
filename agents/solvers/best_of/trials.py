"""Apply edits and run generated tests in the workspace, restored to a known state before each use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from assay.agents.contract import SolveSession
from assay.agents.solvers.shared.bash_actions import clip
from assay.agents.solvers.shared.normalise import change_key
from assay.agents.solvers.shared.syntax_check import find_broken
from assay.agents.trajectory import RecordedToolCall, action_step
from assay.harness import languages
from assay.harness.edits.edit_grammars import parse_search_replace
from assay.harness.edits.file_edits import apply_edits

BASE = "base"
SHELL = "bash -s"  # runs the scripts of a language that has no interpreter


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """A test script's exit code and clipped output."""

    status: int | None
    output: str

    def __str__(self) -> str:
        return f"exit status {self.status}, output:\n{self.output or '(none)'}"


@dataclass(frozen=True, slots=True)
class EditedState:
    """The repository after edits, or unchanged if they did not apply; ``report`` has the result of each."""

    snapshot: str = BASE
    patch: str = ""
    report: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Path to new text of the changed files."""
    is_applied: bool = False


class TrialWorkspace:
    """Applies edits and runs tests in a session's workspace."""

    def __init__(self, session: SolveSession, *, shown: int) -> None:
        """``shown`` is the number of characters of output that the model sees."""
        self._session = session
        self._workspace = session.workspace
        self._shown = shown

    @cached_property
    def base(self) -> dict[str, str]:
        self._workspace.restore(BASE)
        return self._workspace.texts()

    def edit(self, answer: str) -> EditedState | None:
        """Apply all edits of an answer to the base, or none of them. None if the answer has no edits."""
        parsed = parse_search_replace(answer, self._session.task.root)
        if not parsed.edits:
            return EditedState(report="; ".join(parsed.problems)) if parsed.problems else None
        applied = apply_edits(self.base, parsed.edits)
        if applied.failed or parsed.problems:
            return EditedState(report="\n".join([applied.report(), *parsed.problems]))
        wrong = find_broken(self._session.task.language, self.base, applied.files)
        if wrong:
            return EditedState(
                report="\n".join(f"{path} would not parse: {problem}" for path, problem in wrong.items())
            )
        self._workspace.restore(BASE)
        for path, text in applied.files.items():
            self._workspace.write(path, text.encode())
        return EditedState(
            self._workspace.snapshot(), self._workspace.diff(), applied.report(), applied.files, is_applied=True
        )

    def run(self, script: str, snapshot: str = BASE, *, what: str = "") -> ScriptRun:
        """Run a test script on a saved state; files that it leaves are removed before the next use."""
        self._workspace.restore(snapshot)
        command = interpreter(self._session.task.language) or SHELL
        seconds = self._session.budget.command_seconds
        result = self._workspace.exec(command, seconds=seconds, stdin=script.encode())
        ran = ScriptRun(result.exit_code, clip(result.output, self._shown))
        call = RecordedToolCall(tool_call_id="test", function_name="run_test", arguments={"script": script, "on": what})
        self._session.recorder.add(action_step(call, str(ran)))
        return ran

    def apply_patch(self, patch: str) -> str | None:
        """Return the saved state of the base with a patch; None if it does not apply."""
        self._workspace.restore(BASE)
        return self._workspace.snapshot() if self._workspace.apply(patch) else None

    def run_all(self, tests: Sequence[str], snapshot: str | None, *, what: str) -> tuple[int | None, ...]:
        """Return the exit code of each test on a saved state; all None if ``snapshot`` is None."""
        if snapshot is None:
            return (None,) * len(tests)
        return tuple(self.run(test, snapshot, what=what).status for test in tests)

    def key(self, files: Mapping[str, str]) -> str:
        return change_key(self._session.task.language, self.base, files)


def interpreter(language: str) -> str:
    """Return the command that reads a script of a language from its input; empty if there is none."""
    known = languages.find_or_none(language)
    return known.INTERPRETER if known else ""
