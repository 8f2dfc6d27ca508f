"""What the model is asked, step by step."""

from assay.agents.contract import AgentTask

ISSUE = """\
An issue was reported in the repository {repo}:

<issue>
{issue}
</issue>"""

FILES = """\
{issue}

Its source files, tests left out:

{tree}

Which files must be edited to resolve the issue? Name at most {count}, the most important first, by their full paths \
from the top folder, one path a line, between ``` fences. Nothing else belongs between the fences.
"""

FOLDERS = """\
{issue}

Its source files, tests left out:

{tree}

Which folders and files have surely nothing to do with the issue? Name them by their full paths from the top folder, \
one a line, between ``` fences; folders end with a slash. When in doubt, leave it out.
"""

ELEMENTS = """\
{issue}

Below are outlines of files that may be at fault; bodies of functions are elided as `...`.

{files}

Which classes, functions and variables must be looked at or edited to resolve the issue? Answer between ``` fences, a \
file's path on a line of its own, then its elements, for example:

```
folder/file{suffix}
class: Shop
function: Shop.open
function: helper
variable: LIMIT
```
"""

LINES = """\
{issue}

Below is code that may be at fault; each line begins with its number, and `...` stands for lines that are not shown.

{files}

Which places must be edited to resolve the issue? Name lines, or whole classes and functions, between ``` fences, a \
file's path on a line of its own, then its places, for example:

```
folder/file{suffix}
line: 12
line: 30-34
function: Shop.open
```
"""

REPAIR = """\
{issue}

Below is the code that is at fault; `...` stands for lines that are not shown.

{files}

First explain in a few sentences what is wrong. Then give the edits that resolve the issue, each in this form:

```{fence}
### path/of/file{suffix}
<<<<<<< SEARCH
lines as they stand in the code above, all of them, with their indentation
=======
lines that shall stand in their place
>>>>>>> REPLACE
```

A SEARCH part must quote whole lines exactly, and enough of them to occur only once. Only lines that are shown can be \
edited. Use several such blocks for several edits.
"""

LEFT_OUT = "There is no room for all of the code here; left out are:"
CUT = "- {path}: {count} of the {all} lines that belong here"  # said below code that is cut

REGRESSION = """\
{issue}

These tests of the repository pass at present:

{tests}

The right change may make some of them fail, because they ask for the very behaviour that the issue complains of. \
Which tests should therefore not be run to check a change? Give their names as above, one a line, between ``` fences; \
leave the fences empty if there is none.
"""

REPRODUCTION = """\
{issue}

Write {what} that shows whether the issue is there. It is put into the top folder of the repository as `{name}` and \
run there as `{command}`. It must print exactly one of these lines:

Issue reproduced
    if the code behaves as the issue complains of
Issue resolved
    if the code behaves as it should
Other issues
    if anything else goes wrong, such as a missing package

Use the code of the repository itself, and the input that the issue gives, if it gives one. Answer with the whole \
{what} in one ```{fence} fence.
"""


def issue(task: AgentTask) -> str:
    return ISSUE.format(repo=task.repo, issue=task.problem_statement.strip())
