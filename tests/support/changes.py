"""Patches of one hunk, written as the lines that go and come."""

from collections.abc import Iterable


def change(path: str, *, adds: Iterable[str] = (), drops: Iterable[str] = (), keeps: Iterable[str] = ("top",)) -> str:
    """Return a git diff of one file whose hunk shows, takes out and brings in these lines, in this order."""
    kept, dropped, added = list(keeps), list(drops), list(adds)
    body = [f" {line}" for line in kept] + [f"-{line}" for line in dropped] + [f"+{line}" for line in added]
    ranges = f"@@ -1,{len(kept) + len(dropped)} +1,{len(kept) + len(added)} @@"
    return "\n".join([f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", ranges, *body, ""])
