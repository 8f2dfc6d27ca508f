"""Prompts of the machines, and the marks in the model's answers."""

import re
from collections.abc import Sequence

from assay.agents.contract import AgentTask, Candidate
from assay.agents.solvers.best_of.trials import EditedState, ScriptRun, interpreter

DONE = "<done/>"
_TEST = re.compile(r"<test>.*?</test>", re.DOTALL)

SYSTEM = """\
You are a careful programmer who works on an issue in a repository, step by step.
Test scripts are {kind}, read from standard input and run in the root of the repository. A script ends with status 2 if
the issue's fault is there, and with status 0 if it is mended; with any other status if it could not tell. It says what
it sees, needs no network and no input, and ends within a minute. Write it whole, in the form
<test>
the script
</test>"""

MATERIAL = """\
Repository: {repo} ({language})

Issue:
{statement}

Code of the repository that may matter:
{context}"""

TESTING = """\
{material}

Write a test script that shows the fault that the issue speaks of."""
TESTED = """\
On the code as it is, your test came to {ran}

{advice}"""
SHOWS = f"It shows the fault. If it does so for the right reason, answer {DONE}; otherwise write the test anew."
SHOWS_NOT = "On this code it should end with status 2. Write the test anew."
NO_TEST = f"There was no test between <test> and </test>. Write one, or answer {DONE} if the last one is right."
NOT_YET_A_TEST = "There is no test yet that ends with status 2 on this code. Write one."

EDITING = """\
{material}

{test}

Change the code so that the issue is solved, for every input it is about. Write all changes, each time anew against the
original code, in this form:
### path/of/file
<<<<<<< SEARCH
lines exactly as they stand in the file, enough of them to be unique
=======
lines to stand there instead
>>>>>>> REPLACE
You may also write the test anew if it is wrong. What you wrote is tried, and you see what comes of it."""
WITH_TEST = """\
A test script for it:
<test>
{test}</test>
On the original code it came to {ran}"""
NO_TEST_YET = "There is no test script for it yet; you may write one."
TRIED = """\
{report}
{runs}
If both code and test are right, answer {done}; otherwise write all changes, or the test, anew."""
NOT_APPLIED = """\
Your changes could not be applied, and the code is as it was:
{report}
Write all changes anew."""
NO_EDIT = f"There was no change that could be read. Write all changes, or {DONE} if those that were tried are right."

SELECTION = """\
{material}

{count} candidates are to solve the issue; choose one.
{candidates}

Write a test script that tells them apart; it is run on the original code and with each candidate, and you may write
another one then. Once you know which one is right, answer with its number:
<chosen_candidate_fix_id>0</chosen_candidate_fix_id>"""
NO_CHOICE = "Write a test between <test> and </test>, or choose between <chosen_candidate_fix_id> tags."
LAST = "This is your last answer: choose now."


def system(language: str) -> str:
    return SYSTEM.format(kind=f"{language.title()} programs" if interpreter(language) else "Bash scripts")


def material(task: AgentTask, context: str) -> str:
    statement = task.problem_statement.strip()
    return MATERIAL.format(repo=task.repo, language=task.language, statement=statement, context=context)


def reply_to_test(ran: ScriptRun, *, shows_bug: bool) -> str:
    return TESTED.format(ran=ran, advice=SHOWS if shows_bug else SHOWS_NOT)


def editing(about: str, test: str, ran: ScriptRun | None) -> str:
    shown = WITH_TEST.format(test=test, ran=ran) if test else NO_TEST_YET
    return EDITING.format(material=about, test=shown)


def reply_to_edits(edited: EditedState, original: ScriptRun | None, after: ScriptRun | None) -> str:
    runs = f"On the original code the test came to {original}\nOn the changed code it came to {after}" if after else ""
    return TRIED.format(report=edited.report or "The code is as it was.", runs=runs, done=DONE)


def selection(about: str, candidates: Sequence[Candidate]) -> str:
    shown = "\n".join(f"Candidate {index}:\n{each.patch}" for index, each in enumerate(candidates))
    return SELECTION.format(material=about, count=len(candidates), candidates=shown)


def reply_to_comparison(results: Sequence[tuple[str, ScriptRun]], *, is_last: bool) -> str:
    lines = "\n\n".join(f"On {name} the test came to {ran}" for name, ran in results)
    return f"{lines}\n\n{LAST if is_last else NO_CHOICE}"


def strip_tests(answer: str) -> str:
    """Return an answer without its test scripts, which may contain text like an edit."""
    return _TEST.sub("", answer)
