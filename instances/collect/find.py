"""Finds changes that may become instances, in a local clone alone.

Another source of changes, such as a code host's own interface, is another ``History``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Protocol

from assay.harness.errors import UserError
from assay.instances.collect.messages import find_closed_issues, pull_request
from assay.instances.collect.steps import Change, Found
from assay.instances.trees.content import last_line
from assay.instances.trees.sources import find_mirror, run_git, view_mirror

FIELDS = "%H%x1f%P%x1f%cI%x1f%an <%ae>%x1f%B"
PULL_REF = re.compile(r"refs/(?:remotes/\w+/)?pull/(\d+)(?:/head)?")
"""Refs of the heads of pull requests in a clone."""


class History(Protocol):
    """A source of the changes of a repository."""

    def changes(self, repo: str, since: date | None, until: date | None) -> Sequence[Change]:
        """Return the changes of the main branch between two dates, both included, oldest first; raises UserError.

        Commits that a pull request brought are part of it, and no changes of their own.
        """
        ...


@dataclass(frozen=True, slots=True)
class MirrorHistory:
    """The history of local clones."""

    mirrors: Sequence[Path]

    def changes(self, repo: str, since: date | None, until: date | None) -> Sequence[Change]:
        git_dir = self._clone(repo)
        commits = {each.commit: each for each in _commits(git_dir, repo)}
        heads = _pull_refs(git_dir)
        found, parts = [], set[str]()
        for each in commits.values():  # newest first, so that a pull request comes before its commits
            if since and each.date.date() < since:
                continue
            number = pull_request(each.message) or heads.get(each.commit, 0)
            change = each.model_copy(update={"number": number})
            if change.merges and change.number:
                inner = _git(git_dir, "rev-list", "--reverse", f"{change.base}..{each.commit}").split()
                brought = [name for name in inner if name != each.commit and name in commits]
                parts.update(brought)
                change = change.model_copy(update={"merged": tuple(commits[name].message for name in brought)})
            if until is None or each.date.date() <= until:
                found.append(change)
        own = (each for each in reversed(found) if each.commit not in parts)
        closing = ((each, find_closed_issues((each.message, *each.merged), repo)) for each in own)
        return [each.model_copy(update={"issues": issues}) for each, issues in closing]

    def _clone(self, repo: str) -> Path:
        for git_dir in (view_mirror(each) for folder in self.mirrors for each in find_mirror(folder.absolute(), repo)):
            if not run_git(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", "HEAD^{commit}").returncode:
                return git_dir
        places = ", ".join(map(str, self.mirrors)) or "no folder was given with --mirror"
        raise UserError(f"no clone of {repo} with a branch was found (searched: {places})")


def find(history: History, repos: Iterable[str], since: date | None, until: date | None) -> Iterator[Found]:
    """Yield a line for each change of some repositories, oldest first; raises as ``History.changes``."""
    for repo in repos:
        seen: Counter[int] = Counter()
        for change in history.changes(repo, since, until):
            rule, reason = _verdict(change, seen)
            seen[change.number] += 1
            number = change.number if change.number and seen[change.number] == 1 else 0
            yield Found(id=_id(repo, number, change.commit), rule=rule, reason=reason, change=change)


def _verdict(change: Change, seen: Mapping[int, int]) -> tuple[str, str]:
    if change.merges and not change.number:
        return "branch", "it merges a branch, and no pull request"
    if not change.base:
        return "root", "it has no parent"
    if change.number and seen[change.number]:
        return "again", f"an earlier commit is pull request {change.number} too"
    if not change.number and not change.issues:
        return "reference", "its message names no pull request and closes no issue"
    return "", ""


def _id(repo: str, number: int, commit: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", f"{repo.replace('/', '__')}-{number or commit[:12]}")[:128]


def _commits(git_dir: Path, repo: str) -> Iterator[Change]:
    listed = _git(git_dir, "log", "-z", "--topo-order", f"--format={FIELDS}", "HEAD")
    for record in filter(None, listed.split("\0")):
        commit, parents, moment, author, message = record.split("\x1f", 4)
        base, _, others = parents.partition(" ")
        yield Change(
            repo=repo,
            commit=commit.strip(),
            base=base,
            date=datetime.fromisoformat(moment).astimezone(UTC),
            author=author,
            message=message.strip(),
            merges=bool(others),
        )


def _pull_refs(git_dir: Path) -> dict[str, int]:
    """Return the numbers of pull requests by the commit at their head."""
    listed = _git(git_dir, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    named = ((line.split(" ", 1)[0], PULL_REF.fullmatch(line.split(" ", 1)[1])) for line in listed)
    return {commit: int(match[1]) for commit, match in named if match}


def _git(git_dir: Path, *args: str) -> str:
    done = run_git(f"--git-dir={git_dir}", *args)
    if done.returncode:
        raise UserError(f"git cannot read {git_dir}: {last_line(done.stderr)}")
    return done.stdout.decode(errors="replace")
