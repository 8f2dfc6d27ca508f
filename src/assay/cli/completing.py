"""Names that a shell completes: runs, data sets, agents, engines, formats. Each is looked up when the shell asks."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import typer


def runs(context: typer.Context, incomplete: str) -> Iterator[str]:
    folder = Path(context.params.get("runs_dir") or "runs")
    yield from sorted(path.parent.name for path in folder.glob("*/run.json") if path.parent.name.startswith(incomplete))


def datasets(incomplete: str) -> Iterator[str]:
    """Yield the aliases of data sets, and data files and folders."""
    from assay.instances.dataset.rows import ALIASES, BUNDLED

    yield from _beginning([*BUNDLED, *ALIASES], incomplete)
    for path in sorted(Path().glob(f"{incomplete}*")):
        if path.is_dir() or path.suffix in {".jsonl", ".json", ".csv", ".parquet"}:
            yield f"{path}/" if path.is_dir() else str(path)


def agents(incomplete: str) -> Iterator[str]:
    from assay.agents.external.adapter import adapter_names
    from assay.agents.registry import AGENTS, PRESETS

    yield from _beginning([*AGENTS, *PRESETS, *adapter_names()], incomplete)


def engines(incomplete: str) -> Iterator[str]:
    from assay.harness.engines import ENGINES

    yield from _beginning(ENGINES, incomplete)


def formats(incomplete: str) -> Iterator[str]:
    from assay.harness.exports import FORMATS

    yield from _beginning(FORMATS, incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> Iterator[str]:
    return (name for name in names if name.startswith(incomplete))
