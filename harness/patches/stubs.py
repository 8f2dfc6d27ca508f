"""Parts of a diff that say that a binary file differs and hold nothing of it: git refuses a patch with one. Pure."""

import re

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_STUB = re.compile(r"^Binary files .* differ$", re.MULTILINE)


def without_stubs(patch: str) -> str:
    """Return a diff without the files of which it only says that they differ; such files come as assets, or not at all.

    No line inside a hunk can be taken for one outside, for each begins with a sign.
    """
    return "".join(part for part in _FILE.split(patch) if not _STUB.search(part))
