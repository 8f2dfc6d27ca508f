import ast

import pytest

from assay.harness.patchdiff.generators.snippets import write_snippets

ISSUE = """\
`price(2, 3)` is wrong, `price` too.

```python
>>> from shop import price
>>> total = price(3, 4)
>>> print(total.text)
12
```

    import os
    def test_price():
        assert price(1, 2) == 2

    Traceback (most recent call last):

~~~
no program at all
~~~
"""


def test_each_piece_of_an_issue_is_a_test_alone_and_after_the_others() -> None:
    text, names = write_snippets(ISSUE, ["from shop import *\nfrom __future__ import division\n"])
    compile(text, "test_issue.py", "exec")
    assert names == [
        f"TestAssayIssue::test_issue_{each}" for each in ("1", "2", "2_after_others", "3", "3_after_others")
    ]
    (tests,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    bodies = [[ast.unparse(each) for each in test.body] for test in tests.body if isinstance(test, ast.FunctionDef)]
    assert bodies[0] == ["total = price(3, 4)", "total.text"]
    assert bodies[1] == ["assert price(1, 2) == 2"]
    assert bodies[4] == [*bodies[0], *bodies[1], "price(2, 3)"]
    assert text.splitlines()[:4] == ["import unittest", "from shop import *", "from shop import price", "import os"]


@pytest.mark.parametrize("issue", ["", "It fails.", "```\nTraceback:\n  File x\n```", "```\n3\n'text'\n```"])
def test_issue_without_code_has_no_tests(issue: str) -> None:
    assert write_snippets(issue, ["import os\n"]) == ("", [])
