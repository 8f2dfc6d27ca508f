"""What is run: the project's own tests that passed before, and a test of the model's own that shows the issue.

A reproduction test is a Python script for Python projects. In every other language it is a shell script, which builds
and runs what it needs with the project's own tools.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from assay.agents.contract import SolveSession, Workspace
from assay.agents.solvers.agentless import prompts
from assay.agents.solvers.agentless.repository import Repository, ask, bounded, draw, note
from assay.agents.solvers.agentless.settings import AgentlessSettings
from assay.agents.solvers.agentless.vote import most_common
from assay.agents.solvers.shared.fences import blocks
from assay.agents.solvers.shared.normalise import script_key
from assay.harness.domain import Status

REPRODUCED, RESOLVED, OTHER = "Issue reproduced", "Issue resolved", "Other issues"
BASE = "base"
"""Name of the workspace's first state."""


@dataclass(frozen=True, slots=True)
class ScriptKind:
    """How a reproduction test is written: file name, command, what it is called, and its fence."""

    name: str
    command: str
    what: str
    fence: str


PYTHON = ScriptKind("reproduce_bug.py", "python reproduce_bug.py", "Python script", "python")
SHELL = ScriptKind("reproduce_bug.sh", "sh reproduce_bug.sh", "POSIX shell script", "sh")


def passing_tests(session: SolveSession, settings: AgentlessSettings) -> frozenset[str]:
    """Run the project's tests on the tree as it is and return those that pass; none if they are not to be run."""
    tests = session.workspace.run_tests(settings.test_files) if settings.regression else {}
    return frozenset(name for name, status in tests.items() if status is Status.PASSED)


def select_regression(
    session: SolveSession, repository: Repository, passing: Collection[str], settings: AgentlessSettings
) -> frozenset[str]:
    """Return the tests that patches must keep: all that pass but those the model says should not be run."""
    if not settings.regression:
        return frozenset()
    if not passing:
        note(session, "No test of the project passes: there is none to keep.")
        return frozenset()
    prompt = prompts.REGRESSION.format(
        repo=repository.task.repo,
        issue=repository.task.problem_statement.strip(),
        tests=bounded(sorted(passing), settings.tree_characters),
    )
    answer = ask(session, prompt, "select tests", settings.test_tokens)
    named = {line.strip().strip("`-* ").strip() for line in answer.splitlines()}
    note(session, f"{len(passing)} tests pass; {len(named & set(passing))} should not be run.")
    return frozenset(passing) - named


def reproduction_test(session: SolveSession, repository: Repository, settings: AgentlessSettings) -> str:
    """Return the reproduction test that most samples agree on; empty if none shows the issue.

    Every sample is run on the tree as it is; kept are those that print that the issue is there, and nothing to the
    contrary. They are normalised and vote; of equals the first wins.
    """
    kind = kind_of(repository.language)
    prompt = prompts.REPRODUCTION.format(
        repo=repository.task.repo,
        issue=repository.task.problem_statement.strip(),
        what=kind.what,
        name=kind.name,
        command=kind.command,
        fence=kind.fence,
    )
    how = settings.test_tokens, settings.temperature
    drawn = [script_in(each) for each in draw(session, prompt, "reproduce", how, settings.reproduction_tests)]
    said = {script: said_by(session, kind, script) for script in dict.fromkeys(drawn)}
    kept = [script for script in drawn if said[script] == REPRODUCED]
    counts = Counter(said[script] for script in drawn)
    note(session, f"{len(kept)} of {len(drawn)} reproduction tests show the issue: {dict(counts)}")
    if not kept:
        return ""
    winner, votes = most_common([script_key(repository.language, kind.name, script) for script in kept])
    note(session, f"The reproduction test, with {votes} votes:\n{kept[winner]}")
    return kept[winner]


def kind_of(language: str) -> ScriptKind:
    """Return how reproduction tests are written for a project."""
    return PYTHON if language == "python" else SHELL


def script_in(answer: str) -> str:
    """Return what stands in the first fence of an answer; empty if there is none."""
    return next((each.content for each in blocks(answer)), "")


def said_by(session: SolveSession, kind: ScriptKind, script: str) -> str:
    """Run a reproduction test on the tree as it stands; return which of the three it prints, or what went wrong."""
    if not script.strip():
        return "no script in the answer"
    workspace = session.workspace
    workspace.write(kind.name, script.encode())
    try:
        ran = workspace.exec(kind.command, seconds=session.budget.command_seconds)
    finally:
        workspace.exec(f"rm -f {kind.name}")
    printed = [each for each in (REPRODUCED, RESOLVED, OTHER) if each in ran.output]
    if len(printed) == 1:
        return printed[0]
    if ran.timed_out:
        return "it took too long"
    return "it printed more than one" if printed else "it printed none of the three"


@contextmanager
def changed(workspace: Workspace, files: Mapping[str, str]) -> Iterator[None]:
    """Lay files into the tree, and bring it back to its base in the end."""
    try:
        for path, text in files.items():
            workspace.write(path, text.encode(errors="replace"))
        yield
    finally:
        workspace.restore(BASE)


def failures(session: SolveSession, wanted: Collection[str], settings: AgentlessSettings) -> int | None:
    """Return how many of these tests do not pass in the tree as it stands; None if there are none."""
    if not wanted:
        return None
    tests = session.workspace.run_tests(settings.test_files)
    return sum(1 for name in wanted if tests.get(name) is not Status.PASSED)


def is_resolved(session: SolveSession, repository: Repository, script: str) -> bool | None:
    """Tell whether the reproduction test finds the issue resolved in the tree as it stands; None without a test."""
    return said_by(session, kind_of(repository.language), script) == RESOLVED if script else None
