"""What finished a run: the digest of its command, with the results that it stands for."""

import json

from assay.harness.domain import Verdict
from assay.harness.files import hash_contents, hash_times, read_regular, refuse_links, replace_file
from assay.harness.runs.report import RunReport
from assay.harness.runs.store import FINISHED, RunStore


def save_finished(store: RunStore, digest: str) -> None:
    """Note by the digest of a command that it finished a run, whose report and verdicts are on the disk."""
    replace_file(store.root / FINISHED, json.dumps([digest, _hash_results(store)]).encode())


def load_finished(store: RunStore, digest: str) -> tuple[RunReport, list[Verdict]] | None:
    """Return the report and the verdicts of a finished run, unless any of its results has changed since.

    Raises DataError for a link in its folder.
    """
    refuse_links(store.root)
    try:
        if json.loads(read_regular(store.root / FINISHED)) != [digest, _hash_results(store)]:
            return None
        lines = read_regular(store.root / "verdicts.jsonl").splitlines()
        report = store.load_report()
        return (report, [Verdict.model_validate_json(line) for line in lines]) if report else None
    except (OSError, ValueError):
        return None


def _hash_results(store: RunStore) -> str:
    """Return the hash of the report, and of the place and the time of each evaluation."""
    summary = hash_contents(*(store.root / name for name in ("run.json", "report.json", "verdicts.jsonl")))
    return f"{summary} {hash_times(store.root / 'instances', store.root / 'archives')}"
