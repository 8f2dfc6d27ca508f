"""The search calls of AutoCodeRover (arXiv 2404.05427), in every language. Pure.

A result shows a few snippets and counts the others by file, to keep the model's context short.

The docstrings of ``CodeSearch``'s public methods are part of the prompts (``manual``).
"""

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.agents.solvers.shared.codebase import Codebase, Snippet, dot_name

SHOWN = 3  # snippets that a result shows
AROUND = 3  # lines before and after a matching text
LONGEST = 400  # lines of one snippet that are shown
FILES = 10  # files that are named where matches are counted


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The text for the model, and all snippets that were found."""

    text: str
    snippets: tuple[Snippet, ...] = ()


class CodeSearch:
    """The search calls; a wrong argument returns a message and raises nothing."""

    def __init__(self, codebase: Codebase) -> None:
        self._code = codebase

    def search_class(self, class_name: str) -> SearchResult:
        """Signatures of the classes of that name and of their methods."""
        return self._classes(class_name, self._code.paths, self._code.signatures)

    def search_class_in_file(self, class_name: str, file_name: str) -> SearchResult:
        """The classes of that name in a file, whole."""
        return self._search_file(file_name, lambda paths: self._classes(class_name, paths, self._code.whole))

    def search_method(self, method_name: str) -> SearchResult:
        """The functions and methods of that name."""
        return self._methods(method_name, self._code.paths)

    def search_method_in_file(self, method_name: str, file_name: str) -> SearchResult:
        """The functions and methods of that name in a file."""
        return self._search_file(file_name, lambda paths: self._methods(method_name, paths))

    def search_method_in_class(self, method_name: str, class_name: str) -> SearchResult:
        """The methods of that name in the classes of that name."""
        return self._methods(f"{dot_name(class_name)}.{dot_name(method_name)}", self._code.paths)

    def search_code(self, code_str: str) -> SearchResult:
        """Where a text stands, with the lines around it."""
        return self._text(code_str, self._code.paths)

    def search_code_in_file(self, code_str: str, file_name: str) -> SearchResult:
        """Where a text stands in a file, with the lines around it."""
        return self._search_file(file_name, lambda paths: self._text(code_str, paths))

    def get_code_around_line(self, file_name: str, line_number: int, window_size: int = 10) -> SearchResult:
        """A line of a file, counted from 1, with that many lines before and after it."""
        return self._search_file(file_name, lambda paths: self._around(paths, line_number, max(window_size, 0)))

    def get_file_content(self, file_name: str) -> SearchResult:
        """A whole file."""
        return self._search_file(
            file_name,
            lambda paths: _result([self._code.snippet(path, 1, self._code.height(path), 0) for path in paths]),
        )

    def get_class_full_snippet(self, class_name: str) -> SearchResult:
        """The classes of that name, whole."""
        return self._classes(class_name, self._code.paths, self._code.whole)

    def _search_file(self, file_name: str, search: Callable[[Sequence[str]], SearchResult]) -> SearchResult:
        paths = self._code.files(file_name)
        if paths:
            return search(paths)
        like = self._code.find_similar(file_name)
        return SearchResult(f"There is no file {file_name}." + (f" There are: {', '.join(like)}." if like else ""))

    def _classes(self, name: str, paths: Sequence[str], show: Callable[..., Snippet]) -> SearchResult:
        found = [show(path, each) for path, each in self._code.find_named("class", name, paths)]
        return _result(found) if found else self._nothing("class", name, paths)

    def _methods(self, name: str, paths: Sequence[str]) -> SearchResult:
        found = [self._code.whole(path, each) for path, each in self._code.find_named("function", name, paths)]
        return _result(found) if found else self._nothing("function or method", name, paths)

    def _text(self, text: str, paths: Sequence[str]) -> SearchResult:
        wanted = text.strip("\n")
        if not wanted.strip():
            return SearchResult("There was no text to search for.")
        found = [each for path in paths for each in self._code.occurrences(path, wanted, AROUND)]
        return _result(found) if found else SearchResult(f"The text does not occur{self._where(paths)}: {wanted}")

    def _around(self, paths: Sequence[str], line: int, window: int) -> SearchResult:
        heights = {path: self._code.height(path) for path in paths}
        if not any(1 <= line <= height for height in heights.values()):
            lengths = ", ".join(f"{path} has {height} lines" for path, height in heights.items())
            return SearchResult(f"There is no line {line}: {lengths}.")
        return _result(
            [
                self._code.snippet(path, max(line - window, 1), min(line + window, height), line)
                for path, height in heights.items()
                if 1 <= line <= height
            ]
        )

    def _nothing(self, kind: str, name: str, paths: Sequence[str]) -> SearchResult:
        """Say that there is no such definition, and which files mention the name."""
        last = dot_name(name).rpartition(".")[2]
        mentions = Counter({path: often for path in paths if last and (often := self._code.text(path).count(last))})
        mentioned = f" The text {last} occurs in {_counts(mentions)}." if mentions else ""
        return SearchResult(f"There is no {kind} {name}{self._where(paths)}.{mentioned}")

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
    """Return the syntax of a call, such as ``search_class(class_name)``."""
    parameters = list(inspect.signature(CALLS[name]).parameters.values())[1:]
    names = (each.name if each.default is each.empty else f"{each.name}={each.default}" for each in parameters)
    return f"{name}({', '.join(names)})"


def manual() -> str:
    """Return all calls with their descriptions, one a line; part of the prompts."""
    return "\n".join(f"{usage(name)}: {call.__doc__}" for name, call in CALLS.items())


def perform(search: CodeSearch, call: str) -> SearchResult:
    """Run a call that a model wrote, such as ``search_method("send")``; a wrong call returns a message for the model.

    An unquoted name counts as a text.
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
    """Return a call's name, positional and keyword arguments; an empty name if the text is no call."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return "", [], {}
    if not isinstance(node, ast.Call):
        return "", [], {}
    named = {each.arg or "**": _value(each.value) for each in node.keywords}
    return ast.unparse(node.func), [_value(each) for each in node.args], named


def _value(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _result(found: Sequence[Snippet]) -> SearchResult:
    """Return the first snippets in full and the others as counts by file."""
    rest = Counter(each.path for each in found[SHOWN:])
    more = [f"{len(found) - SHOWN} more in {_counts(rest)}."] if rest else []
    head = f"{len(found)} found." if len(found) > 1 else ""
    return SearchResult("\n\n".join(filter(None, [head, *map(show_snippet, found[:SHOWN]), *more])), tuple(found))


def show_snippet(snippet: Snippet) -> str:
    """Return a snippet as the model reads it: path, lines and code, cut after ``LONGEST`` lines."""
    lines = snippet.code.split("\n")
    cut = [f"[{len(lines) - LONGEST} more lines; get_code_around_line shows them]"] if len(lines) > LONGEST else []
    head = f"{snippet.path}, lines {snippet.first} to {snippet.last}"
    head += f", {snippet.owner}" if snippet.owner else ""
    return "\n".join([f"{head}:", "```", *lines[:LONGEST], "```", *cut])


def _counts(often: Mapping[str, int]) -> str:
    named = [f"{path} ({count})" for path, count in list(often.items())[:FILES]]
    left = len(often) - len(named)
    return ", ".join(named) + (f" and {left} more files" if left else "")
