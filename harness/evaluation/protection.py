"""Which of a patch's changes do not stay, and which names may not be made at all. Pure."""

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from assay.harness import languages
from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.changes import Changes
from assay.harness.languages import Language
from assay.harness.patches.as_git import read_as_git
from assay.harness.patches.diff import MalformedPatchError, find_touched_paths
from assay.harness.patches.spelling import fold, plain

ATTRIBUTES = ".gitattributes"
"""Put back for every language, even if the fix touches it: it changes what git writes when it restores the tests."""
ROOT = "root"
PRODUCTS_LEFT_OUT = "build_products_left_out"
APPLIED_WITH_FUZZ = "applied_with_fuzz"
STRAYS_LEFT_OUT = "stray_files_left_out"
TESTS_LEFT_OUT = "files_named_like_tests_left_out"
_WORD = re.compile(r"\w+")
_IMPORT = re.compile(
    r"^\s*(import|from|#\s*include|(pub(\(\w+\))? )?mod|use)\b|\brequire\b|\bfrom ['\"]"
    r'|^\s*([\w.]+ )?"[\w./-]+"$'  # in a block of Go's
)


class ImportLine(NamedTuple):
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """Changes of a patch that do not stay."""

    paths: tuple[str, ...] = ()
    """They go back to the base commit, besides those of the plan."""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installed:
    """What the installation of the patched project did to the tree."""

    changed: tuple[str, ...] = ()
    """Files of the base commit that differ from it now."""
    created: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedLikeTests:
    """Files of a patch that only their names make tests, or that of a folder which the patch makes."""

    sources: frozenset[str] = frozenset()
    """The product uses them; they stay."""
    others: frozenset[str] = frozenset()


def find_named_like_tests(
    instance: Instance,
    plan: TestPlan,
    changes: Changes,
    patch: str,
    find_lines: Callable[[Set[str]], Iterable[ImportLine]],
) -> NamedLikeTests:
    """Find the files that only look like tests, and those of them that are sources.

    A source is named in what the patch adds to other files that are no tests, or is imported by such a file of the base
    commit. It does not have the name of a test that is run, so that nothing imports it in that place. And the runner
    does not take its tests for the expected ones: it is given the files to run, or a test's id has its file.

    A file is also a source in a folder named like those of tests that neither the base commit nor the tests have, if
    other files that are no tests import something of that name.

    Args:
        find_lines: returns the lines of the base commit that contain one of these words.
    """
    language = languages.find_or_none(instance.language)
    if language is None:
        return NamedLikeTests()
    theirs = (*plan.restore, *plan.runs, *find_touched_paths(instance.test_patch))
    folders = _find_new_folders(changes, theirs, language)
    added = _find_added_lines(patch, language) if folders else []
    imported = {word for line in added if _IMPORT.search(line) for word in _WORD.findall(line)}
    inside = frozenset(path for path, folder in folders.items() if _name(folder) in imported)
    found = [path for path in changes.paths if _is_test_by_name(path, language)]
    if not found:
        return NamedLikeTests(inside)
    taken = {fold(_stem(path)) for path in theirs}
    told_apart = bool(plan.targets) or plan.test_id == "node"
    possible = {path for path in found if re.fullmatch(language.SOURCE_NAMES, _name(path))}
    possible = {path for path in possible if told_apart and fold(_stem(path)) not in taken}
    words = set(_WORD.findall("\n".join(_find_added_lines(patch, language)))) if possible else set[str]()
    sources = {path for path in possible if _stem(path) in words}
    if known := possible.difference(sources, changes.created):
        lines = find_lines({_stem(path) for path in known})
        imports = [line.text for line in lines if _IMPORT.search(line.text) and not language.is_test_file(line.path)]
        sources |= {path for path in known if any(_stem(path) in _WORD.findall(text) for text in imports)}
    return NamedLikeTests(inside | sources, frozenset(found) - sources)


def put_back(
    instance: Instance,
    plan: TestPlan,
    changed: Iterable[str],
    installed: Installed | None = None,
    named: NamedLikeTests | None = None,
    refused: Set[str] = frozenset(),
) -> PutBack:
    """Decide which of the paths that a patch has changed go back to the base commit.

    Those are all test files, files that steer the test runner, build products, and whatever could be imported in place
    of a test file. Files that the gold patch touches stay as the patch has them, since the fix may need them, unless
    they are ``refused`` (``steering.settle_disputes``). Files that the test patch touches go back in any case. So do
    test files that the installation has changed, and files that steer the runner; what it built stays.
    """
    language = languages.find_or_none(instance.language)
    theirs = _theirs(instance)
    own = [
        path for path in dict.fromkeys(changed) if path not in theirs or _name(path) == ATTRIBUTES or path in refused
    ]
    runner = {path for path in own if language and _is_of_a_runner(path, language, theirs)}
    steering = {path for path in own if steers(path, language) or path in plan.runs} - runner
    products = {path for path in own if language and is_product(path, language)}
    named = named or NamedLikeTests()
    tests = {path for path in own if language and language.is_test_file(path)} - named.sources
    shadows = tuple(f"{path.rpartition('.')[0]}/" for path in plan.restore if "." in _name(path))
    tests |= {path for path in own if path.startswith(shadows)}
    flags = {
        "tests_ran_as_root": plan.user == ROOT,
        "runner_configuration_put_back": bool(steering),
        PRODUCTS_LEFT_OUT: bool(products),
        TESTS_LEFT_OUT: bool(tests & named.others),
    }
    by_installation = _after_installation(installed or Installed(), theirs, language)
    paths = sorted(steering | products | tests | by_installation)
    return PutBack(tuple(paths), tuple(name for name, holds in flags.items() if holds))


def check_spelling(instance: Instance, plan: TestPlan, created: Iterable[str]) -> None:
    """Check that no new path could be taken for a protected one, by some file system or some tool.

    Raises MalformedPatchError: one differs from a protected path only by case, Unicode form, invisible characters, or
    dots or blanks at the end of a name.
    """
    new = tuple(created)
    if not new:
        return
    language = languages.find_or_none(instance.language)
    theirs = _theirs(instance)
    restored = {fold(path): path for path in (*plan.restore, *find_touched_paths(instance.test_patch))}
    for path in new:
        if path in theirs:
            continue
        other = restored.get(fold(path), path)
        if other == path:
            other = _find_lookalike(path, language)
        if other != path:
            how = _difference(path, other)
            raise MalformedPatchError(f"path {path[:200]!r} differs from the protected {other[:200]!r} only by {how}")


def is_product(path: str, language: Language) -> bool:
    """Return whether a build makes such a file; the case of letters does not matter."""
    return any(fnmatchcase(path.lower(), pattern.lower()) for pattern in language.BUILD_PRODUCTS)


def _is_test_by_name(path: str, language: Language) -> bool:
    """Return whether another file in the same folder would be no test."""
    folder = path[: len(path) - len(_name(path))]
    suffix = _name(path)[_name(path).rfind(".") :]
    return language.is_test_file(path) and not language.is_test_file(f"{folder}core{suffix}")


def _find_new_folders(changes: Changes, theirs: Iterable[str], language: Language) -> dict[str, str]:
    """Map new files to the folder that alone makes them tests, where the patch alone has files in it."""
    folders = {path: folder for path in changes.created if (folder := _get_folder_of_tests(path, language))}
    if not folders:
        return {}
    others = {*changes.tree, *changes.paths}.difference(changes.created) | {*theirs}
    shared = {folder for folder in folders.values() if any(path.startswith(f"{folder}/") for path in others)}
    return {path: folder for path, folder in folders.items() if folder not in shared}


def _get_folder_of_tests(path: str, language: Language) -> str:
    """Return the folder whose name alone makes a file a test; empty if there is none."""
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders) if language.is_test_file(path) else ():
        if not language.is_test_file("/".join((*folders[:depth], "core", *folders[depth + 1 :], name))):
            return "/".join((*folders[:depth], folder))
    return ""


def _find_added_lines(patch: str, language: Language) -> list[str]:
    """Return the lines that a patch adds to files that are no tests."""
    files = [
        file
        for file in read_as_git(patch.encode())
        if not any(language.is_test_file(name.decode()) for name in file.names)
    ]
    return [line[1:].decode() for file in files for line in file.body if line.startswith(b"+")]


def _theirs(instance: Instance) -> set[str]:
    return {*find_touched_paths(instance.gold_patch), *find_touched_paths(instance.test_patch)}


def steers(path: str, language: Language | None) -> bool:
    return _name(path) == ATTRIBUTES or (language is not None and language.runner_config(path))


def _after_installation(installed: Installed, theirs: Set[str], language: Language | None) -> set[str]:
    """Return the paths that do not stay as an installation left them."""
    if language is None:
        return set()
    both = (*installed.changed, *installed.created)
    steering = {path for path in both if language.runner_config(path) and not is_product(path, language)}
    return (steering | {path for path in installed.changed if language.is_test_file(path)}).difference(theirs)


def _is_of_a_runner(path: str, language: Language, theirs: Set[str]) -> bool:
    """Return whether a path belongs to a test runner that the project itself is: the fix touches it too."""
    part = language.stands_in(path)
    return bool(part) and part in map(language.stands_in, theirs)


def _find_lookalike(path: str, language: Language | None) -> str:
    """Return the protected path that this one could be taken for, or the path itself."""
    if steers(path, language):
        return path
    seen = plain(path)
    if seen != path and (steers(seen, language) or (_is_left_out(seen, language) and not _is_left_out(path, language))):
        return seen
    names = {name.casefold(): name for name in (ATTRIBUTES, *(language.STEERING_NAMES if language else ()))}
    spelled = "/".join(names.get(fold(part), part) for part in path.split("/"))
    return spelled if steers(spelled, language) else path


def _is_left_out(path: str, language: Language | None) -> bool:
    return language is not None and (language.is_test_file(path) or is_product(path, language))


def _difference(path: str, other: str) -> str:
    if path.casefold() == other.casefold():
        return "case"
    if path.isascii() and path.isprintable():
        return "dots or blanks at the end of a name"
    return "Unicode form"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    return _name(path).partition(".")[0]
