"""Libraries of PHP and Ruby whose repositories are on this machine, where no index here has them."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assay.harness.domain import TreeDownload
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.sources import Sources, find_mirror, run_git, view_mirror

VERSION_TAG = re.compile(r"(?:\S*[/-])?[vV]?\d+\.\d+[\w.]*")
PRE_RELEASE = re.compile(r"alpha|beta|rc|pre|dev", re.I)


@dataclass(frozen=True, slots=True)
class MirroredLibrary:
    """A library at its newest tag of a day."""

    download: TreeDownload
    manifest: str
    """Content of its composer.json or gemspec."""


def find_libraries(sources: Sources, language: str, own: str, day: datetime) -> Mapping[str, MirroredLibrary]:
    """Return the libraries in the folders of mirrors by the name of their package, without the repository ``own``."""
    found: dict[str, MirroredLibrary] = {}
    for repo, git_dir in _list_mirrors(sources):
        if repo.lower() != own.lower() and (commit := _find_release(git_dir, day)):
            for name, manifest in _read_manifests(git_dir, commit, language):
                path = f"libraries/{name.replace('/', '__')}"
                download = TreeDownload(path=path, repo=repo, commit=commit)
                found.setdefault(name, MirroredLibrary(download, manifest))
    return found


def _list_mirrors(sources: Sources) -> Iterator[tuple[str, Path]]:
    for folder in sources.mirrors:
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            named = re.fullmatch(r"([\w.-]+?)(?:__|\+)([\w.-]+?)(?:\.git)?", entry.name)
            for git_dir in find_mirror(folder, f"{named[1]}/{named[2]}") if named else ():
                with suppress(EnvironmentFailure):
                    yield f"{named[1]}/{named[2]}" if named else "", view_mirror(git_dir, sources.cache)


def _find_release(git_dir: Path, day: datetime) -> str:
    """Return the commit of the newest version's tag before a day, or else the newest commit; empty if there is none."""
    form = "--format=%(creatordate:unix) %(refname)"
    tags = run_git(f"--git-dir={git_dir}", "for-each-ref", "--sort=-creatordate", form, "refs/tags").stdout.decode()
    for line in tags.splitlines():
        stamp, _, ref = line.partition(" ")
        tag = ref.removeprefix("refs/tags/")
        if (
            stamp.isdigit()
            and int(stamp) <= day.timestamp()
            and VERSION_TAG.fullmatch(tag)
            and not PRE_RELEASE.search(tag)
        ):
            return _parse(git_dir, f"{ref}^{{commit}}")
    shown = run_git(f"--git-dir={git_dir}", "rev-list", "-1", f"--before={day.isoformat()}", "HEAD")
    return shown.stdout.decode().strip()


def _parse(git_dir: Path, name: str) -> str:
    return run_git(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", name).stdout.decode().strip()


def _read_manifests(git_dir: Path, commit: str, language: str) -> Iterator[tuple[str, str]]:
    listed = (
        run_git(f"--git-dir={git_dir}", "ls-tree", "--name-only", commit).stdout.decode(errors="replace").splitlines()
    )
    for file in listed if "ext" not in listed else ():  # Debian's gems are compiled
        if (language == "php" and file == "composer.json") or (language == "ruby" and file.endswith(".gemspec")):
            text = run_git(f"--git-dir={git_dir}", "show", f"{commit}:{file}").stdout.decode(errors="replace")
            name = file.removesuffix(".gemspec") if language == "ruby" else _read_name(text)
            if re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) and ".." not in name:
                yield name, text


def _read_name(composer: str) -> str:
    with suppress(ValueError):
        content = json.loads(composer)
        return str(content.get("name", "")).lower() if isinstance(content, dict) else ""
    return ""
