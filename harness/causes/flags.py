"""Lines of a cause that look at what tests it: frames, runners, the command line, files and names of tests. Pure."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from assay.harness import languages
from assay.harness.domain import CauseFlag, Instance
from assay.harness.patches.diff import MalformedPatchError, read_diff

MOST = 20  # flagged lines that are kept of a cause
SHORTEST = 8  # letters of a test's name that is no word of its own


def find_flags(patch: str, instance: Instance) -> tuple[CauseFlag, ...]:
    """Return the added lines of a part of an instance's patch that mention tests or what runs them."""
    language = languages.find_or_none(instance.language)
    known = {*_list_test_files(instance), *_list_tests(instance)}
    names = [re.escape(name) for name in sorted(known, key=lambda name: (-len(name), name))]
    patterns = [f"(?<!\\w)(?:{'|'.join(names)})(?!\\w)"] if names else []
    patterns += [language.LOOKS_AROUND] if language and language.LOOKS_AROUND else []
    found = (
        CauseFlag(path=change.path, text=text.strip(), word=match[0])
        for change in read_diff(patch)
        for text in change.added()
        if (match := next(filter(None, (re.search(each, text) for each in patterns)), None))
    )
    return tuple(found)[:MOST]


def _list_test_files(instance: Instance) -> Iterator[str]:
    try:
        changes = read_diff(instance.test_patch)
    except MalformedPatchError:
        return
    for path in (PurePosixPath(change.path) for change in changes):
        yield path.name
        if re.search("test|spec", path.stem, re.IGNORECASE) and len(path.stem) >= SHORTEST:
            yield path.stem


def _list_tests(instance: Instance) -> Iterator[str]:
    for label in instance.fail_to_pass:
        name = next(iter(re.findall(r"\w+", re.sub(r"\[.*", "", label))[::-1]), "")
        if re.match("test", name, re.IGNORECASE) and len(name) >= SHORTEST:
            yield name
