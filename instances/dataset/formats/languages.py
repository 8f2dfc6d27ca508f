"""Which language an instance is in when its row does not say."""

import re
from collections import Counter
from functools import cache
from pathlib import PurePosixPath

from assay.harness.languages import LANGUAGES
from assay.instances.environments.recipes import FOLDER

UNKNOWN = "unknown"
"""No language that is known here; such a row loads, and only its evaluation fails."""

ALIASES = {"c++": "cpp", "golang": "go", "js": "javascript", "node": "javascript", "py": "python", "ts": "typescript"}
"""What data sets call a language to what we call it; any other name is taken as it is, in lower case."""

_FILE = re.compile(r'^(?:\+\+\+|---) "?[ab]/([^\t\n"]+)', re.MULTILINE)


def named(name: str) -> str:
    """Return our name of a language that a data set names."""
    return ALIASES.get(name.strip().lower(), name.strip().lower())


def guess(repo: str, *patches: str, default: str = UNKNOWN) -> str:
    """Return the language of a repository that has a shipped recipe, else that of most files that the patches touch.

    A suffix of several languages (``.h``) speaks for each of them, so the other files decide.

    Args:
        repo: ``owner/name``.
        patches: what changes its files.
        default: returned when no file is of a known language either.
    """
    by_recipe = _languages_by_recipe().get(repo.lower().replace("/", "__"), ())
    if len(by_recipe) == 1:
        return by_recipe[0]
    suffixes = Counter(PurePosixPath(path).suffix.lower() for patch in patches for path in _FILE.findall(patch))
    votes = {name: sum(suffixes[suffix] for suffix in language.SUFFIXES) for name, language in LANGUAGES.items()}
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else default


@cache
def _languages_by_recipe() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(FOLDER.glob("*/*__*.yaml")):
        found[path.stem] = (*found.get(path.stem, ()), path.parent.name)
    return found
