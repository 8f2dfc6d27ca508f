"""The actions of the tree search: read them from an answer and run them.

The actions are those of SWE-Search's agent (search, view, edit, run tests, finish) and giving up. The kind of a failure
decides the reward: SWE-Search has major and minor ones.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from assay.agents.contract import SolveSession
from assay.agents.solvers.shared.code_search import CodeSearch, manual, perform
from assay.agents.solvers.shared.codebase import Codebase
from assay.agents.solvers.shared.syntax_check import find_broken
from assay.harness.domain import FAILING, Status
from assay.harness.edits.edit_grammars import clean_path, parse_search_replace
from assay.harness.edits.file_edits import AppliedEdits, EditProblem, apply_edits
from assay.harness.errors import UserError

VIEW_LINES = 400  # lines of one view; a longer file must be viewed in parts


class ActionKind(StrEnum):
    SEARCH = "search"
    VIEW = "view"
    EDIT = "edit"
    TEST = "test"
    FINISH = "finish"
    REJECT = "reject"
    NONE = "none"
    """The answer held no action."""


class Failure(StrEnum):
    FILE_NOT_FOUND = "file_not_found"
    STRING_NOT_FOUND = "string_not_found"
    NO_CHANGES = "no_changes"
    INVALID_FILE = "invalid_file"
    """The file would no longer parse."""
    TOO_MANY_TOKENS = "too_many_tokens"
    NO_SEARCH_HITS = "no_search_hits"
    MULTIPLE_OCCURRENCES = "multiple_occurrences"
    FILE_EXISTS = "file_exists"
    MALFORMED = "malformed"
    """The answer has the wrong format."""


OF_EDITS = {
    EditProblem.NO_FILE: Failure.FILE_NOT_FOUND,
    EditProblem.NOT_FOUND: Failure.STRING_NOT_FOUND,
    EditProblem.AMBIGUOUS: Failure.MULTIPLE_OCCURRENCES,
    EditProblem.EMPTY_SEARCH: Failure.FILE_EXISTS,
    EditProblem.NO_CHANGE: Failure.NO_CHANGES,
    EditProblem.OUTSIDE: Failure.FILE_NOT_FOUND,
}


@dataclass(frozen=True, slots=True)
class Action:
    """An action; ``body`` is the text between its tags."""

    kind: ActionKind
    body: str = ""


@dataclass(frozen=True, slots=True)
class PassFailCounts:
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class SearchState:
    """Content of a node: a state of the workspace, and the action that led to it."""

    snapshot: str
    files: Mapping[str, str] = field(default_factory=dict)
    """Path to text of the files that differ from the base commit."""
    patch: str = ""
    action: Action = Action(ActionKind.NONE)
    said: str = ""
    """The model's whole answer."""
    seen: str = ""
    failure: Failure | None = None
    shown: frozenset[str] = frozenset()
    """Places of the code shown on the path to this state."""
    is_news: bool = False
    """Whether this action showed a new place."""
    tests: PassFailCounts | None = None
    feedback: str = ""
    """Feedback on other tries that the model saw before this action."""
    why: str = ""


_TAGS = "|".join(kind.value for kind in ActionKind if kind is not ActionKind.NONE)
_ACTION = re.compile(rf"<(?P<kind>{_TAGS})>(?P<body>.*?)</(?P=kind)>", re.DOTALL)
_LINES = re.compile(r"^(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$")

SEARCH_MANUAL = f"""\
<search>one of the calls below</search> looks for code:
{manual()}
<view>path</view> or <view>path:first-last</view> shows a file or some of its lines."""
EDIT_MANUAL = """\
<edit> changes files. It holds, for each file, a heading and one or more blocks:
### path/of/file
<<<<<<< SEARCH
lines exactly as they stand in the file, enough of them to be unique
=======
lines to stand there instead
>>>>>>> REPLACE
An empty SEARCH part makes a new file. Close with </edit>."""
MANUAL = f"""\
{SEARCH_MANUAL}
{EDIT_MANUAL}
<test>paths of test files, one a line</test> runs tests that the repository has.
<finish>why the issue is solved</finish> ends the work.
<reject>why</reject> gives up a way that leads nowhere."""

NO_ACTION = "That was no action. End your answer with exactly one of the tagged actions."


def read_action(text: str) -> Action | None:
    """Return the one action in an answer; None if there is none or more than one."""
    found = list(_ACTION.finditer(text))
    return Action(ActionKind(found[0]["kind"]), found[0]["body"].strip()) if len(found) == 1 else None


class ActionRunner:
    """Runs actions in a workspace, from any saved state."""

    def __init__(self, session: SolveSession) -> None:
        self._session = session
        self._workspace = session.workspace
        self._at = ""

    @cached_property
    def base(self) -> dict[str, str]:
        self.restore("base")
        return self._workspace.texts()

    def root(self) -> SearchState:
        self.restore("base")
        return SearchState(snapshot="base")

    def restore(self, snapshot: str) -> None:
        if snapshot != self._at:
            self._at = ""
            self._workspace.restore(snapshot)
            self._at = snapshot

    def do(self, before: SearchState, action: Action) -> SearchState:
        """Return the state after an action; a failed action leaves the files unchanged and says why."""
        runners: dict[ActionKind, Callable[[SearchState, str], SearchState]] = {
            ActionKind.SEARCH: self._search,
            ActionKind.VIEW: self._view,
            ActionKind.EDIT: self._edit,
            ActionKind.TEST: self._test,
            ActionKind.FINISH: self._finish,
            ActionKind.NONE: lambda state, why: replace(state, seen=why or NO_ACTION, failure=Failure.MALFORMED),
        }
        start = replace(before, action=action, failure=None, is_news=False, tests=None, seen="")
        return runners[action.kind](start, action.body) if action.kind in runners else start

    def _texts(self, state: SearchState) -> dict[str, str]:
        return {**self.base, **state.files}

    def _codebase(self, state: SearchState) -> Codebase:
        return Codebase(self._texts(state), self._session.task.language)

    def _search(self, state: SearchState, call: str) -> SearchState:
        found = perform(CodeSearch(self._codebase(state)), call)
        if not found.snippets:
            return replace(state, seen=found.text, failure=Failure.NO_SEARCH_HITS)
        return _showing(state, found.text, {f"{each.path}:{each.first}-{each.last}" for each in found.snippets})

    def _view(self, state: SearchState, wanted: str) -> SearchState:
        match = _LINES.match(wanted)
        path = clean_path(match["path"] if match else wanted, self._session.task.root)
        code = self._codebase(state)
        if path not in code.paths:
            like = ", ".join(code.find_similar(path))
            return replace(state, seen=f"There is no file {path}. {like}".strip(), failure=Failure.FILE_NOT_FOUND)
        first = int(match["first"]) if match else 1
        last = min(int(match["last"] or first) if match else code.height(path), code.height(path))
        if last - first >= VIEW_LINES:
            seen = (
                f"{path} has {code.height(path)} lines; view at most {VIEW_LINES} at once, as in {path}:1-{VIEW_LINES}."
            )
            return replace(state, seen=seen, failure=Failure.TOO_MANY_TOKENS)
        shown = code.snippet(path, max(first, 1), last, first)
        return _showing(state, f"{path}, lines {first} to {last}:\n{shown.code}", {f"{path}:{first}-{last}"})

    def _edit(self, state: SearchState, body: str) -> SearchState:
        parsed = parse_search_replace(body, self._session.task.root)
        if not parsed.edits:
            problem = "; ".join(parsed.problems) or "there is no SEARCH/REPLACE block"
            return replace(state, seen=f"The edit cannot be read: {problem}.", failure=Failure.MALFORMED)
        applied = apply_edits(self._texts(state), parsed.edits)
        if applied.failed:
            failure = OF_EDITS[applied.failed[0].problem or EditProblem.NOT_FOUND]
            return replace(state, seen=f"Nothing was changed.\n{applied.report()}", failure=failure)
        wrong = find_broken(self._session.task.language, self._texts(state), applied.files)
        if wrong:
            problems = "\n".join(f"{path}: {problem}" for path, problem in wrong.items())
            return replace(
                state, seen=f"Nothing was changed: it would not parse.\n{problems}", failure=Failure.INVALID_FILE
            )
        return self._save_edits(state, applied)

    def _save_edits(self, state: SearchState, applied: AppliedEdits) -> SearchState:
        self.restore(state.snapshot)
        self._at = ""
        for path, text in applied.files.items():
            self._workspace.write(path, text.encode())
        self._at = self._workspace.snapshot()
        return replace(
            state,
            snapshot=self._at,
            files={**state.files, **applied.files},
            patch=self._workspace.diff(),
            seen=applied.report(),
        )

    def _test(self, state: SearchState, body: str) -> SearchState:
        paths = tuple(clean_path(line, self._session.task.root) for line in body.splitlines() if line.strip())
        missing = [path for path in paths if path not in self._texts(state)]
        if missing:
            return replace(state, seen=f"There is no file {missing[0]}.", failure=Failure.FILE_NOT_FOUND)
        self.restore(state.snapshot)
        try:
            results = self._workspace.run_tests(paths)
        except UserError as error:  # a workspace without tests: the model must do without
            return replace(state, seen=f"Tests cannot be run: {error}")
        failed = [name for name, status in results.items() if status in FAILING]
        passed = sum(status is Status.PASSED for status in results.values())
        lines = [f"{passed} passed, {len(failed)} failed.", *(f"failed: {name}" for name in failed[:20])]
        return replace(state, seen="\n".join(lines), tests=PassFailCounts(passed, len(failed)))

    def _finish(self, state: SearchState, _why: str) -> SearchState:
        if not state.patch:
            seen = "Nothing has been changed, so nothing can be finished."
            return replace(state, seen=seen, failure=Failure.NO_CHANGES)
        return replace(state, seen="The work is handed in.")


def _showing(state: SearchState, text: str, places: set[str]) -> SearchState:
    return replace(state, seen=text, shown=state.shown | places, is_news=not places <= state.shown)
