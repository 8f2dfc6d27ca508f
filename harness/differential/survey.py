"""What a comparison has to know of the trees before it can aim: their changed files and their tests."""

import shlex
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.harness import languages
from assay.harness.differential.sides import OUT, Job, Side, Sides
from assay.harness.differential.targets import Target, named_like, nearest_first, targets
from assay.harness.patch import touched_paths

SECONDS = 60.0
LISTING = "files"
FOLDER = "tree"
SEEN = (Side.BASE, Side.GOLD, Side.CANDIDATE)


@dataclass(frozen=True, slots=True)
class Survey:
    """The targets of a comparison, and the tree's test files, the nearest first."""

    targets: tuple[Target, ...]
    test_files: tuple[str, ...]
    texts: Mapping[Side, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """The touched source files of base, gold and candidate, by path."""


def survey(sides: Sides) -> Survey:
    """Look at the three different trees, each in a container; raises EngineError, SideError and PluginError."""
    instance = sides.instance
    language = languages.find(instance.language)
    changed = {path for side in SEEN if sides.patch(side) for path in touched_paths(sides.patch(side))}
    sources = sorted(path for path in changed if not language.is_test_file(path))
    job = Job(_command(sources), seconds=SECONDS)
    with ThreadPoolExecutor(len(SEEN)) as pool:
        files = dict(zip(SEEN, pool.map(lambda side: sides.run(side, job), SEEN), strict=True))
    listing = files[Side.GOLD].get(LISTING, b"").decode(errors="replace").split("\0")
    tests = [path for path in listing if language.is_test_file(path) and language.test_targets([path])]
    own = language.test_targets(touched_paths(instance.test_patch)) if instance.test_patch else ()
    texts = {side: _texts(found) for side, found in files.items()}
    return Survey(
        targets=targets(instance.language, texts),
        texts=texts,
        test_files=tuple(nearest_first([*named_like(own, tests), *own], own, sources)),
    )


def _command(paths: list[str]) -> str:
    listed = " ".join(map(shlex.quote, paths))
    return f"""\
mkdir -p {OUT}/{FOLDER}
git -c safe.directory='*' ls-files -z > {OUT}/{LISTING}
for path in {listed}; do
    [ ! -f "$path" ] || cp --parents -- "$path" {OUT}/{FOLDER}/
done
"""


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    inside = f"{FOLDER}/"
    return {
        name.removeprefix(inside): content.decode(errors="replace")
        for name, content in files.items()
        if name.startswith(inside)
    }
