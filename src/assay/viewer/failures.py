"""The messages of failed tests: from the report files if they have any, else from the output."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from assay.harness.reports.xml_tree import read_tree
from assay.viewer.text import cut_lines, readable

LONGEST = 4000  # characters of a message that are shown
BLOCK = 30  # lines of the output that are shown for a test
_TAGS = frozenset({"testsuites", "testsuite", "testcase", "failure", "error", "skipped"})
_ATTRIBUTES = frozenset({"name", "classname", "file", "message"})
MOST = 20_000  # messages of reports that are looked at
_NAMES = ("fullName", "full_description", "title", "name", "description", "Test", "test", "id")
_HEAD = re.compile(
    r"\s*(?:FAIL|ERROR|FAILED|-{3,4} |=== (?:RUN|NAME)|not ok|\d+\)|_{3,} |\u25cf|\u2715|\u2717|thread ')"
)
"""First line of a runner's output about one failed test."""
_END = re.compile(r"[=_-]{20,}|\s*$")
_ERROR = re.compile(r"E\s{3}|\s*\w*(?:Error|Exception|Failure)\b|\s*[Ee]xpected\b|\s*[Aa]ssert")
_WORDS = re.compile(r"\w+")


def find_messages(tests: Sequence[str], reports: Iterable[str], output: str) -> Mapping[str, str]:
    """Return the messages of some tests.

    Args:
        tests: ids of tests that did not pass.
        reports: texts of the report files, of any format.
        output: output of the test command, or a part of it.
    """
    said = [*islice((each for text in reports for each in (*_read_xml(text), *_read_json(text))), MOST)]
    lines = output.split("\n")
    found = {test: _find_reported(test, said) or _find_printed(test, lines) for test in tests}
    return {test: cut_lines(readable(text, LONGEST)).strip() for test, text in found.items() if text}


def _find_reported(test: str, said: Sequence[tuple[str, str, str]]) -> str:
    """Return the message of the test whose name ends the id, and whose class's words are in it."""
    words = set(_WORDS.findall(test))
    fitting = [
        (len(words & set(_WORDS.findall(place))), text) for place, name, text in said if name and test.endswith(name)
    ]
    return max(fitting, default=(0, ""), key=lambda each: each[0])[1]


def _find_printed(test: str, lines: Sequence[str]) -> str:
    """Return the block of the output whose first line names a test; of a long one, the lines with the error."""
    name = re.split(r"::|\s>\s|/", test)[-1].strip()
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    heads = [at for at, line in enumerate(lines) if name in line and _HEAD.match(line) and whole.search(line)]
    for at in heads if name else ():
        block = [line[:1000] for line in takewhile(lambda line: not _ends(line), lines[at + 1 : at + 1 + 20 * BLOCK])]
        said = [line for line in block if line.strip() and not _END.match(line)]
        if said:
            errors = [line for line in said if _ERROR.match(line)]
            return "\n".join(said if len(said) <= BLOCK else errors[:BLOCK] or said[-BLOCK:])
    return ""


def _ends(line: str) -> bool:
    return bool(_HEAD.match(line)) or line.startswith("=" * 20)


def _read_xml(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield class, name and message of the failed tests of JUnit XML."""
    if "<testcase" not in text:
        return
    root = read_tree(text, _TAGS, _ATTRIBUTES)
    for case in root.iter("testcase") if root is not None else ():
        for child in case:
            yield case.get("classname", ""), case.get("name", ""), child.get("message", "")


def _read_json(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield place, name and message of every JSON object with a name and a failure's message."""
    if text.lstrip()[:1] not in {"{", "["}:
        return
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            names = [name for key in _NAMES if isinstance(name := value.get(key), str)]
            if message := _message(value):
                yield from ((place, name, message) for name in names)
            waiting += [(f"{place} {names[0] if names else ''}"[-2000:], each) for each in value.values()]
        elif isinstance(value, list):
            waiting += [(place, each) for each in value]


def _message(value: Mapping[str, Any]) -> str:
    """Return the message in the forms of jest, mocha, rspec and their like."""
    several = value.get("failureMessages")
    if isinstance(several, list) and several:
        return "\n".join(each for each in several if isinstance(each, str))
    for key in ("err", "exception", "failure"):
        inner = value.get(key)
        if isinstance(inner, dict):
            texts = [inner[name] for name in ("stack", "message") if isinstance(inner.get(name), str)]
            if texts:
                return str(texts[0])
    message = value.get("message")
    return message if isinstance(message, str) else ""
