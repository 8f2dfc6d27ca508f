"""Tripwires in a tree of a test: what the shell text of a runner does with them; and adapted commands."""

import os
import random
import shlex
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.harness.runners import Adapted, adapt_commands, find
from assay.harness.runners.base import EXPECTED, PLACE, UNSURE


@dataclass(frozen=True, slots=True)
class Placed:
    """A tree after its tripwires have been put there."""

    tree: Path
    places: list[str]
    names: Collection[str]

    def names_in(self, path: str) -> set[str]:
        """Return the tripwires in a file, without the word of their place."""
        text = (self.tree / path).read_text()
        return {
            name for name in self.names for place in self.places if name.replace(PLACE, place.rstrip(UNSURE)) in text
        }

    @property
    def files(self) -> list[str]:
        """Paths of all files in the tree."""
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if path.is_file())


def adapt_lines(runner: str, *lines: str) -> Adapted:
    """Return how a runner adapts its commands of somebody else."""
    name, found = adapt_commands([shlex.split(line) for line in lines]) or ("", None)
    assert found is not None, lines
    assert name == runner
    return found


def put(
    runner: str,
    root: Path,
    files: Mapping[str, str],
    targets: Collection[str] = (),
    expected: Collection[str] = (),
    tools: Mapping[str, str] | None = None,
) -> Placed:
    """Write a tree, and run a runner's ``PLACING`` in it.

    Args:
        runner: its name.
        root: an empty folder.
        files: texts by path in the tree.
        targets: of the plan.
        expected: words of the expected tests.
        tools: what stand-ins for programs print, by their names.
    """
    made = find(runner).tripwires(random.Random(1))
    tree, kit = root / "tree", root / "kit"
    sources = {f"kit/{name}": text for name, text in made.files.items()}
    stubs = {f"tools/{name}": f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n" for name, text in (tools or {}).items()}
    words = {f"kit/{EXPECTED}": "".join(f"{word}\n" for word in expected)}
    for path, text in ({f"tree/{path}": text for path, text in files.items()} | sources | stubs | words).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        (root / path).chmod(0o755)
    env = {"PATH": f"{root / 'tools'}:{os.environ['PATH']}", "TRIPWIRES": str(kit)}
    script = find(runner).PLACING.replace("TREE", str(tree))
    done = subprocess.run(
        ["sh", "-uc", script, "sh", *targets], cwd=tree, env=env, capture_output=True, text=True, check=True
    )
    return Placed(tree, done.stdout.split(), tuple(made.expected))
