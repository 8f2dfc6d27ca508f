"""Readers of what pages show: settings, JSON and synopses."""

import json
import re
import tomllib
from contextlib import chdir
from pathlib import Path

from assay.cli import config
from assay.instances.dataset.predictions import read_predictions
from command_line import ROOT as PARSER
from command_line import problems_in
from documented import ROOT, Block

REGISTRY = re.compile(r'= Registry\[.*\]\(\s*"[^"]+",\s*"assay\.(\w+)"')


def read_toml(block: Block) -> None:
    """Read a block as pyproject.toml if it has a project, else as assay.toml."""
    value = tomllib.loads(block.text)
    if "project" in value:
        groups = {group.partition(".")[2] for group in value["project"]["entry-points"]}
        assert groups <= seams(), f"there is no group of entry points assay.{min(groups - seams())}"
        return
    folder = Path("settings")
    folder.mkdir(exist_ok=True)
    (folder / "assay.toml").write_text(block.text)
    with chdir(folder):
        config.read_defaults(PARSER, ["evaluate"])  # checks the whole file


def seams() -> set[str]:
    """Return the entry-point groups of the registries, without ``assay.``."""
    folders = (ROOT / folder for folder in ("harness", "instances", "agents", "src/assay"))
    texts = (path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py"))
    return {group for text in texts for group in REGISTRY.findall(text)}


def read_json(block: Block) -> None:
    """Read a block as JSON, and as predictions if it looks like them."""
    if "model_patch" in json.loads(block.text):
        Path("shown.jsonl").write_text(block.text)
        read_predictions(Path("shown.jsonl"))


def read_text(block: Block) -> None:
    """Look at each synopsis in a block: a line that begins with ``assay``, and the deeper lines below it."""
    joined = block.text.replace("\n   ", " ")
    found = [problem for line in joined.splitlines() if line.startswith("assay ") for problem in problems_in(line)]
    assert not found, "; ".join(found)
