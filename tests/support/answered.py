"""The toy project in a repository on the disk, and answers to its issue in SWE-RL's grammar."""

from pathlib import Path

from assay import Instance
from histories import begin
from toy import make_instances

CALC = "def add(a, b):\n    return a - b\n"
FILES = {"calc.py": CALC, "tests/test_calc.py": "import calc\n\ndef test_same():\n    assert calc.add(0, 0) == 0\n"}


def block(path: str, search: str, replace: str) -> str:
    """Return a fenced search-and-replace block; its parts are whole lines, or empty."""
    return f"```python\n### {path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n"


def answer(*blocks: str, thought: str = "It subtracts.") -> str:
    return f"<think>\n{thought}\n</think>\n<solution>\n{''.join(blocks)}</solution>\n"


RIGHT = block("calc.py", "    return a - b\n", "    return a + b\n")
OTHER = block("calc.py", "    return a - b\n", "    return a * b\n")
ANSWER = answer(RIGHT)
BROKEN = {
    "no thought": answer(RIGHT, thought=""),
    "no tags": RIGHT,
    "a tag twice": ANSWER + "<think>More.</think>",
    "tags in another order": "<solution>\n" + RIGHT + "</solution>\n<think>It subtracts.</think>\n",
    "no block": answer("return a + b\n"),
    "a diff": answer("```diff\n--- a/calc.py\n+++ b/calc.py\n@@ -2 +2 @@\n-    return a - b\n+    return a + b\n```\n"),
    "a block without an end": answer(RIGHT.replace(">>>>>>> REPLACE\n", "")),
    "a block without a file": answer(RIGHT.replace("### calc.py\n", "")),
    "lines that are not there": answer(RIGHT.replace("a - b", "a  - b")),
    "a file that is not there": answer(RIGHT.replace("calc.py", "cal.py")),
    "a path outside of the tree": answer(RIGHT.replace("calc.py", "../calc.py")),
    "an odd path": answer(block("new//calc.py", "", "x = 1\n")),
    "a file of git's": answer(block(".git/hooks/post-checkout", "", "x\n")),
    "no change": answer(block("calc.py", "    return a - b\n", "    return a - b\n")),
    "a change that is taken back": answer(OTHER, block("calc.py", "    return a * b\n", "    return a - b\n")),
}
"""Answers that are worth -1, by what is wrong with them."""


def make_project(folder: Path) -> list[Instance]:
    """Write the project's repository into a folder of mirrors; return its instances."""
    commit = begin(folder / "acme__calc", FILES).git("rev-parse", "HEAD")
    return make_instances((1, 2, 3), base_commit=commit)
