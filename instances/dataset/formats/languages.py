"""The language of an instance: named by its row, or guessed."""

from collections import Counter
from functools import cache
from pathlib import PurePosixPath

from assay.harness.languages import LANGUAGES
from assay.harness.patches.diff import MalformedPatchError, read_diff
from assay.instances.dataset.formats.columns import Row, text
from assay.instances.environments.recipes import FOLDER

UNKNOWN = "unknown"
"""The name of a language that cannot be guessed; such a row loads, and its evaluation is an ``env_error``."""


def assay_name(name: str) -> str:
    """Return Assay's name of a language, given a data set's; an unknown name is only put in lower case."""
    given = name.strip().lower()
    return next((each.NAME for each in LANGUAGES.values() if given in each.ALIASES), given)


def find_language(row: Row, *patches: str, log_parser: str = "") -> str:
    """Return the language that a row names, else that of its log parser, else a guess by its patches, else Python."""
    named = assay_name(text(row, "language", required=False)) or log_parser
    return named or guess_language(text(row, "repo"), *patches, default="python")


def guess_language(repo: str, *patches: str, default: str = UNKNOWN) -> str:
    """Return the language of a repository's shipped recipe, else that of most files in the patches, else the default.

    A suffix of several languages (``.h``) counts for each of them, so the other files decide. Where no file is of a
    language, project files are (``pom.xml``).
    """
    by_recipe = _languages_by_recipe().get(repo.lower().replace("/", "__"), ())
    if len(by_recipe) == 1:
        return by_recipe[0]
    paths = [PurePosixPath(path) for patch in patches for path in _sides(patch)]
    suffixes, names = Counter(path.suffix.lower() for path in paths), Counter(path.name for path in paths)
    sources = {name: sum(suffixes[suffix] for suffix in language.SUFFIXES) for name, language in LANGUAGES.items()}
    projects = {name: sum(names[file] for file in language.PROJECT_FILES) for name, language in LANGUAGES.items()}
    for votes in (sources, projects):
        best = max(votes, key=lambda name: votes[name])
        if votes[best]:
            return best
    return default


def _sides(patch: str) -> list[str]:
    """Return the old and the new path of each file, so that changed files count twice; none of a malformed patch."""
    try:
        return [path for change in read_diff(patch) for path in (change.old, change.new) if path]
    except MalformedPatchError:
        return []


@cache
def _languages_by_recipe() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(FOLDER.glob("*/*__*.yaml")):
        found[path.stem] = (*found.get(path.stem, ()), path.parent.name)
    return found
