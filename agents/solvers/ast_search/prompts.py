"""Prompts of the AutoCodeRover solver."""

from collections.abc import Sequence

from assay.agents.contract import AgentTask
from assay.agents.solvers.ast_search.spectrum import SuspectRange
from assay.agents.solvers.shared.code_search import manual, show_snippet
from assay.agents.solvers.shared.codebase import Snippet

SYSTEM = (
    "You are a careful programmer. You find the cause of an issue by searching the code of a repository, and then you "
    "change that code. You cannot run anything."
)

ISSUE = """\
Repository: {repo} ({language})

<issue>
{statement}
</issue>"""

SUSPECTS = """\
A test that reproduces the issue fails. These methods are the most suspect by the tests that run through them, the worst
first; they may be right nevertheless:
{methods}"""

SEARCH = """\
Search the code for what the issue is about. You have these calls:
{manual}

Say what you look for and why, and then which calls to make with which arguments; there may be several. Names alone find
more than long texts."""

NEXT = """\
Think about what you have seen. Either say which further calls to make, or, once you know where the cause lies, name the
places to change: for each its file, class and method as far as it has them, and how the code there should behave. Name
places only when you need no further search."""

PROXY = """\
Turn a programmer's note into JSON. Answer with one JSON object and nothing else:
{{"API_calls": [...], "bug_locations": [...]}}

"API_calls" lists the search calls that the note asks for, each as a string such as "search_method('send')". There are:
{manual}
"bug_locations" lists the places that the note wants to change, each as an object
{{"file": "...", "class": "...", "method": "...", "intended_behavior": "..."}}, with "" for what the note does not tell.
A list is empty if the note has nothing for it. Add nothing that the note does not say.

<note>
{note}
</note>"""

NOT_UNDERSTOOD = "I could not tell which calls you want, or which places to change. Say it again in plain words."
NOWHERE = "None of the places that you named exists:"

PATCH = """\
Now write the change that solves the issue, for every input it is about. {places}

For each piece of code to change, write:
<file>path of the file</file>
<original>
the lines as they are now, whole lines, copied exactly and enough of them to occur only once
</original>
<patched>
the lines that take their place, with the right indentation
</patched>

For a new file leave <original> empty. Change no tests, and add imports that the change needs."""

PLACES = "This is the code at the places you named:"

AGAIN = """\
The change cannot be used:
{problem}
Write all of it again, in the same form."""

REPRODUCE = """\
Write a Python program that shows whether the issue is there. It lies in the root of the repository as {script} and can
import the project's code. While the issue is there it must fail with an AssertionError; once the issue is solved it
must end without an error. It must not fail for any other reason. Answer with one block:
```python
...
```"""

NOT_REPRODUCED = """\
The program does not show the issue: it ended with {ending}, and it has to fail with an AssertionError. Its output:
{output}
Write it again."""


def issue(task: AgentTask) -> str:
    return ISSUE.format(repo=task.repo, language=task.language, statement=task.problem_statement.strip())


def opening(task: AgentTask, suspects: Sequence[SuspectRange]) -> str:
    methods = "\n".join(
        f"{number}. {each.name} in {each.path}, lines {each.first} to {each.last} (score {each.score:.2f})"
        for number, each in enumerate(suspects, start=1)
    )
    parts = [SUSPECTS.format(methods=methods)] if suspects else []
    return "\n\n".join([issue(task), *parts, SEARCH.format(manual=manual())])


def proxy(note: str) -> str:
    """Return the prompt that turns the model's answer into JSON."""
    return PROXY.format(manual=manual(), note=note)


def patch(found: Sequence[tuple[Snippet, str]]) -> str:
    parts = [f"{show_snippet(each)}\n{f'It should: {wanted}' if wanted else ''}".rstrip() for each, wanted in found]
    return PATCH.format(places="\n\n".join([PLACES, *parts]) if parts else "")
