"""The search calls of AutoCodeRover (arXiv 2404.05427), in every language that ``harness.syntax`` reads. Pure.

A result shows a few places and tells the rest as counts by file: what a model reads has to stay short.
"""

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.agents.solvers.shared.codebase import Codebase, Snippet, dotted

SHOWN = 3
"""How many places a result shows."""
AROUND = 3
"""Lines before and after a text that was searched for."""
LONGEST = 400
"""Lines of one place that are shown."""
FILES = 10
"""How many files are named where places or mentions are counted."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search came to: as a model is told, and all the places behind it."""

    text: str
    places: tuple[Snippet, ...] = ()


class CodeSearch:
    """The calls, each a method; a wrong argument gives a message and never an exception."""

    def __init__(self, codebase: Codebase) -> None:
        """Take what is searched."""
        self._code = codebase

    def search_class(self, class_name: str) -> SearchResult:
        """Signatures of the classes of that name and of their methods."""
        return self._classes(class_name, self._code.paths, self._code.signatures)

    def search_class_in_file(self, class_name: str, file_name: str) -> SearchResult:
        """The classes of that name in a file, whole."""
        return self._in_file(file_name, lambda paths: self._classes(class_name, paths, self._code.whole))

    def search_method(self, method_name: str) -> SearchResult:
        """The functions and methods of that name."""
        return self._methods(method_name, self._code.paths)

    def search_method_in_file(self, method_name: str, file_name: str) -> SearchResult:
        """The functions and methods of that name in a file."""
        return self._in_file(file_name, lambda paths: self._methods(method_name, paths))

    def search_method_in_class(self, method_name: str, class_name: str) -> SearchResult:
        """The methods of that name in the classes of that name."""
        return self._methods(f"{dotted(class_name)}.{dotted(method_name)}", self._code.paths)

    def search_code(self, code_str: str) -> SearchResult:
        """Where a text stands, with the lines around it."""
        return self._text(code_str, self._code.paths)

    def search_code_in_file(self, code_str: str, file_name: str) -> SearchResult:
        """Where a text stands in a file, with the lines around it."""
        return self._in_file(file_name, lambda paths: self._text(code_str, paths))

    def get_code_around_line(self, file_name: str, line_number: int, window_size: int = 10) -> SearchResult:
        """A line of a file, counted from 1, with that many lines before and after it."""
        return self._in_file(file_name, lambda paths: self._around(paths, line_number, max(window_size, 0)))

    def get_file_content(self, file_name: str) -> SearchResult:
        """A whole file."""
        return self._in_file(
            file_name,
            lambda paths: _told([self._code.place(path, 1, self._code.height(path), 0) for path in paths]),
        )

    def get_class_full_snippet(self, class_name: str) -> SearchResult:
        """The classes of that name, whole."""
        return self._classes(class_name, self._code.paths, self._code.whole)

    def _in_file(self, file_name: str, search: Callable[[Sequence[str]], SearchResult]) -> SearchResult:
        paths = self._code.files(file_name)
        if paths:
            return search(paths)
        like = self._code.like(file_name)
        return SearchResult(f"There is no file {file_name}." + (f" There are: {', '.join(like)}." if like else ""))

    def _classes(self, name: str, paths: Sequence[str], show: Callable[..., Snippet]) -> SearchResult:
        places = [show(path, each) for path, each in self._code.named("class", name, paths)]
        return _told(places) if places else self._nothing("class", name, paths)

    def _methods(self, name: str, paths: Sequence[str]) -> SearchResult:
        places = [self._code.whole(path, each) for path, each in self._code.named("function", name, paths)]
        return _told(places) if places else self._nothing("function or method", name, paths)

    def _text(self, text: str, paths: Sequence[str]) -> SearchResult:
        wanted = text.strip("\n")
        if not wanted.strip():
            return SearchResult("There was no text to search for.")
        places = [place for path in paths for place in self._code.occurrences(path, wanted, AROUND)]
        return _told(places) if places else SearchResult(f"The text does not occur{self._where(paths)}: {wanted}")

    def _around(self, paths: Sequence[str], line: int, window: int) -> SearchResult:
        heights = {path: self._code.height(path) for path in paths}
        if not any(1 <= line <= height for height in heights.values()):
            told = ", ".join(f"{path} has {height} lines" for path, height in heights.items())
            return SearchResult(f"There is no line {line}: {told}.")
        return _told(
            [
                self._code.place(path, max(line - window, 1), min(line + window, height), line)
                for path, height in heights.items()
                if 1 <= line <= height
            ]
        )

    def _nothing(self, kind: str, name: str, paths: Sequence[str]) -> SearchResult:
        """Say that nothing is called so, and where the name is at least mentioned."""
        last = dotted(name).rpartition(".")[2]
        mentions = Counter({path: often for path in paths if last and (often := self._code.text(path).count(last))})
        told = f" The text {last} occurs in {_counts(mentions)}." if mentions else ""
        return SearchResult(f"There is no {kind} {name}{self._where(paths)}.{told}")

    def _where(self, paths: Sequence[str]) -> str:
        return "" if len(paths) == len(self._code.paths) else f" in {', '.join(paths[:FILES])}"


CALLS: Mapping[str, Callable[..., SearchResult]] = {
    each.__name__: each
    for each in (
        CodeSearch.search_class,
        CodeSearch.search_class_in_file,
        CodeSearch.search_method,
        CodeSearch.search_method_in_file,
        CodeSearch.search_method_in_class,
        CodeSearch.search_code,
        CodeSearch.search_code_in_file,
        CodeSearch.get_code_around_line,
        CodeSearch.get_file_content,
        CodeSearch.get_class_full_snippet,
    )
}


def usage(name: str) -> str:
    """Return how a call is written, such as ``search_class(class_name)``."""
    parameters = list(inspect.signature(CALLS[name]).parameters.values())[1:]
    told = (each.name if each.default is each.empty else f"{each.name}={each.default}" for each in parameters)
    return f"{name}({', '.join(told)})"


def manual() -> str:
    """Return all calls with what they give, one a line."""
    return "\n".join(f"{usage(name)}: {call.__doc__}" for name, call in CALLS.items())


def perform(search: CodeSearch, call: str) -> SearchResult:
    """Make a call that a model wrote, such as ``search_method("send")``; tell the model what is wrong with it if it is.

    Args:
        search: what is searched.
        call: the call; a name without quotes is taken for the text it is.
    """
    name, positional, named = _read(call)
    if name not in CALLS:
        known = "; ".join(usage(each) for each in CALLS)
        return SearchResult(f"This is no search call: {call.strip()}. Write one of: {known}; with texts in quotes.")
    try:
        bound = inspect.signature(CALLS[name]).bind(search, *positional, **named).arguments
        bound |= {each: int(bound[each]) for each in ("line_number", "window_size") if each in bound}
    except (TypeError, ValueError) as problem:
        return SearchResult(f"The call {call.strip()} is wrong: {problem}. Write {usage(name)}.")
    return CALLS[name](**bound)


def _read(call: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the name of a call and its arguments by position and by keyword; no name for what is no call."""
    try:
        tree = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return "", [], {}
    if not isinstance(tree, ast.Call):
        return "", [], {}
    named = {each.arg or "**": _value(each.value) for each in tree.keywords}
    return ast.unparse(tree.func), [_value(each) for each in tree.args], named


def _value(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _told(places: Sequence[Snippet]) -> SearchResult:
    """Tell the first few places in full, and of the rest in which files they lie."""
    rest = Counter(place.path for place in places[SHOWN:])
    more = [f"{len(places) - SHOWN} more in {_counts(rest)}."] if rest else []
    head = f"{len(places)} found." if len(places) > 1 else ""
    return SearchResult("\n\n".join(filter(None, [head, *map(shown, places[:SHOWN]), *more])), tuple(places))


def shown(place: Snippet) -> str:
    """Return a place as a model reads it: where it is, and its code, cut if it is very long."""
    lines = place.code.split("\n")
    cut = [f"[{len(lines) - LONGEST} more lines; get_code_around_line shows them]"] if len(lines) > LONGEST else []
    head = f"{place.path}, lines {place.first} to {place.last}" + (f", {place.owner}" if place.owner else "")
    return "\n".join([f"{head}:", "```", *lines[:LONGEST], "```", *cut])


def _counts(often: Mapping[str, int]) -> str:
    told = [f"{path} ({count})" for path, count in list(often.items())[:FILES]]
    left = len(often) - len(told)
    return ", ".join(told) + (f" and {left} more files" if left else "")
