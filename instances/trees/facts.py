"""What the files of a tree say, asked by the variants of recipes; answers are kept, and travel with images."""

import json
import re
import tomllib
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from pydantic import Field

from assay.harness.domain import Model, TreeFact, TreeRef
from assay.harness.files import read_model, replace_file
from assay.instances.trees.sources import Sources, tree_key


class KnownFacts(Model):
    hold: dict[str, bool] = Field(default_factory=dict)
    """Whether facts hold, by their names."""
    scripts: dict[str, str] | None = None
    """Commands of its ``package.json`` by name; None if nobody has asked."""


_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def find_facts(asked: Collection[TreeFact], ref: TreeRef, sources: Sources) -> tuple[str, ...]:
    """Return the names of the facts that hold for a tree; raises EnvironmentFailure if the tree cannot be had."""
    kept = facts_file(ref, sources.cache)
    known = read_model(kept, KnownFacts) or KnownFacts()
    new = [fact for fact in asked if fact.name not in known.hold]
    hold = known.hold | {fact.name: holds(fact, lambda path: sources.read_file(ref, path)) for fact in new}
    if new:
        replace_file(kept, known.model_copy(update={"hold": hold}).model_dump_json().encode())
    return tuple(fact.name for fact in asked if hold[fact.name])


def find_scripts(ref: TreeRef, sources: Sources) -> dict[str, str]:
    """Return the commands of a tree's ``package.json`` by name; raises as ``find_facts``."""
    kept = facts_file(ref, sources.cache)
    known = read_model(kept, KnownFacts) or KnownFacts()
    if known.scripts is None:
        text = (sources.read_file(ref, "package.json") or b"").decode(errors="replace")
        found = _find_value(text, ("scripts",))
        scripts = (
            {name: each for name, each in found.items() if isinstance(each, str)} if isinstance(found, dict) else {}
        )
        known = known.model_copy(update={"scripts": scripts})
        replace_file(kept, known.model_dump_json().encode())
    return known.scripts or {}


def facts_file(ref: TreeRef, cache: Path) -> Path:
    """Return the file of what is known of a tree, which is there if anything was asked."""
    return cache / "facts" / f"{sha256(tree_key(ref).encode()).hexdigest()[:32]}.json"


def holds(fact: TreeFact, read: Callable[[str], bytes | None]) -> bool:
    texts = [content.decode(errors="replace") for path in fact.files if (content := read(path)) is not None]
    if fact.value:
        values = [_find_value(text, fact.value) for text in texts]
        return any(value is not None and _fits(value, fact.versions) for value in values)
    return any(fact.contains in text for text in texts)


def _find_value(text: str, keys: Collection[str]) -> object:
    found: Any = None
    for load in (json.loads, tomllib.loads):
        try:
            found = load(text)
            break
        except (ValueError, RecursionError):
            continue
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _fits(value: object, versions: str) -> bool:
    """Return whether the first number in a value, such as ``^4.41.2``, is one of the versions; all are if none are."""
    number = _NUMBER.search(str(value))
    return not versions or (number is not None and SpecifierSet(versions).contains(number[0]))
