"""Test files by what labels call them: paths, modules, classes and tests' own names. Pure."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.harness.languages import Language
from assay.harness.languages.base import no_places

_START_ENDS = re.compile(r"::|:| > | - |[#/\[($]|\.(?=\S)")
"""Ends the first parts of a label in one of the styles (``harness.reports.IDS``)."""
_END_BEGINS = re.compile(r"::|:| > | - |[#/\\]|\.(?=\S)|\s(?=\S*\s)")
"""Begins the last parts; one word behind a blank is too little to search for."""
_FILE = re.compile(
    r"(?:\./)?(\S+?\.[a-z]{1,4})::.*"  # a.py::C::test_x[b.py::c]
    r"|(?:\./|/testbed/)?([^\s:]+?\.(?:[cm]?[jt]sx?|vue|rb|php|py))(?:(?::| > |->).*)?"  # a.test.js, a.test.js:adds
    r"|.* - (?:\./)?(\S+\.rb)\[[\d:]+\]",  # adds - ./spec/a_spec.rb[1:1]
    re.DOTALL,
)
_CLASS = re.compile(
    r".*\(((?:\w+\.)+[\w$]+)\)"  # test_x (a.b.C), adds(com.x.FooTest)
    r"|((?:\w+\.)+\w+):\w+:"  # a.b.C:test_x:
    r"|([\w.$:\\]+)(?:#|::).*",  # com.x.FooTest#adds, TestFilters#test_x, Acme\FooTest::testAdds
    re.DOTALL,
)
_SPLIT = re.compile(r"""(["'`])\s*[+\\]?\n\s*\+?\s*\1""")
"""Between the two halves of a text that continues in the next line."""
_IMPORT = re.compile(
    r"""\b(?:from|import|require|require_relative)\b\s*\(?\s*['"]([^'"\n]+?)(?:\.\w{1,3})?['"]"""
    r"|^[ \t]*(?:from|import)[ \t]+(\.*)([\w.]+)",
    re.MULTILINE,
)
"""A quoted path, or a module's name with the dots in front of it."""
_WORD = re.compile(r"\w+")
_SLASH = re.compile("/")
_COMPUTED = re.compile(r"\$\{[^}]*\}|#\{[^}]*\}|%[a-z]|\$\w+")
"""A part of a title that is known at run time only, in the languages that have such titles."""
_TELLING = re.compile(r"\w{4}")
"""What a computed title has to have as fixed text before a label can be recognised by it."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Some test files of a tree, by what labels call them."""

    language: Language
    places: Mapping[str, set[str]]
    """Paths by path, ends of a path, module and class."""
    names: Mapping[str, set[str]]
    """Paths by the names of tests, as far as these are in the text."""
    computed: Sequence[re.Pattern[str]]
    """What the names that are computed look like."""
    texts: Mapping[str, str]

    def is_placed(self, label: str) -> bool:
        """Return whether a label names a file, a module or a class beside its test."""
        return not self.language.TEST_NAME or bool(find_file(label, self.language) or find_class(label, self.language))

    def find_files(self, label: str) -> set[str]:
        """Return the paths that a label may mean; none if it is in no path or text."""
        if file := find_file(label, self.language):
            return self.places.get(file, set())
        if type_ := find_class(label, self.language):
            return _longest(self.places, (*_starts(type_), *_ends(type_)))
        if not self.language.TEST_NAME:
            return _longest(self.places, _starts(label))
        return _longest(self.names, (*_starts(label), *_ends(label)))

    def list_imports(self) -> set[str]:
        return {module for path, text in self.texts.items() for module in _imports(path, text)}

    def runs_imported(self, label: str) -> bool:
        """Return whether a label's test would run here if the file that holds it were imported."""
        if not self.language.TEST_NAME or find_file(label, self.language):
            return False
        words = _WORD.findall(find_class(label, self.language))
        return not words or any(re.search(rf"\b{words[-1]}\b", text) for text in self.texts.values())

    def may_hold(self, label: str) -> bool:
        """Return whether a label is of one of the files, stands in their text, or looks like a name computed there."""
        if self.find_files(label):
            return True
        if self.is_placed(label):
            return False
        stands = " " in label and any(label in text for text in self.texts.values())
        return stands or any(pattern.search(label) for pattern in self.computed)


def find_file(label: str, language: Language) -> str:
    """Return the file that a label names, from the folder that its runner started in; empty if it names none.

    A title may begin with a file too, but hardly with a test file's.
    """
    found = _FILE.fullmatch(label)
    if found is None:
        return ""
    sure, likely, spec = found.groups()
    return sure or spec or (likely if language.test_targets([likely]) else "")


def find_class(label: str, language: Language) -> str:
    """Return the module and class that a label names; empty if it names none, or the language's labels never do."""
    found = _CLASS.fullmatch(label) if language.places is not no_places else None
    return found[found.lastindex or 0] if found else ""


def sure_name(label: str, language: Language) -> str:
    """Return the word that the source of a label's test has; empty if it can be computed."""
    found = re.fullmatch(language.SURE_NAME, label, re.DOTALL) if language.SURE_NAME else None
    return found[1] if found else ""


def read_suite(language: Language, texts: Mapping[str, str]) -> Suite:
    places, names = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    texts = {path: _SPLIT.sub("", text) for path, text in texts.items()}
    for path, text in texts.items():
        for place in (*_ends(path, _SLASH), *language.places(path, text)):
            places[place].add(path)
        for name in _find_names(text, language.TEST_NAME):
            names[name].add(path)
    computed = [_like(name) for name in names if _COMPUTED.search(name) and _TELLING.search(_COMPUTED.sub(" ", name))]
    return Suite(language, {**places, **{path: {path} for path in texts}}, dict(names), computed, texts)


def _imports(path: str, text: str) -> Iterator[str]:
    """Yield the paths, without suffix, of what a file imports from its own folder or from the root folder."""
    folder = posixpath.dirname(path)
    for quoted, dots, module in _IMPORT.findall(text):
        above = "../" * (len(dots) - 1)
        yield posixpath.normpath(posixpath.join(folder, quoted or above + module.replace(".", "/")))
        yield quoted or module.replace(".", "/")


def _find_names(text: str, pattern: str) -> set[str]:
    if not pattern:
        return set()
    return {group for match in re.finditer(pattern, text, re.MULTILINE) for group in match.groups() if group}


def _like(name: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, _COMPUTED.split(name))) + "$", re.DOTALL)


def _longest(known: Mapping[str, set[str]], calls: Iterable[str]) -> set[str]:
    return next((known[call] for call in sorted(calls, key=len, reverse=True) if call in known), set())


def _starts(text: str) -> Iterator[str]:
    yield text
    yield from (text[: match.start()] for match in _START_ENDS.finditer(text))


def _ends(text: str, begins: re.Pattern[str] = _END_BEGINS) -> Iterator[str]:
    yield text
    yield from (text[match.end() :] for match in begins.finditer(text))
