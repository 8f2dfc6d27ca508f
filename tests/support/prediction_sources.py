"""Files as other tools write them, with one patch for each instance."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zstandard

ZSTANDARD = 93


def patch(name: str) -> str:
    return f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old\n+{name} é\n"


def trial(job: Path, name: str, task: str, **changes: object) -> Path:
    """Write a trial as Harbor 0.25 does and return its folder."""
    folder = job / name
    record = {
        "id": "5b0e5a5e-7f2f-4f3e-9f1a-000000000001",
        "task_name": task,
        "trial_name": name,
        "trial_uri": folder.absolute().as_uri(),
        "task_id": {"path": f"tasks/{task}"},
        "source": "swebench-verified",
        "task_checksum": "0" * 64,
        "config": {"task": {"path": f"tasks/{task}"}, "trial_name": name},
        "agent_info": {"name": "mini", "version": "2.1", "model_info": {"name": "gpt", "provider": "openai"}},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-11-20T10:00:00Z",
        **changes,
    }
    write(folder / "result.json", json.dumps(record))
    return folder


def job(root: Path) -> Path:
    """Write a job with two finished trials, their patches among their artifacts."""
    folder = root / "jobs" / "2026-11-20__10-00-00"
    write(folder / "result.json", json.dumps({"id": "x", "started_at": "2026-11-20", "n_total_trials": 2, "stats": {}}))
    for number, task in enumerate(("swe-bench/a__b-1", "a__b-2"), start=1):
        one = trial(folder, f"a__b-{number}__Ab3dE5g", task)
        write(one / "artifacts/logs/artifacts/model.patch", patch(f"a__b-{number}"))
        write(one / "artifacts/manifest.json", "[]")
    return folder


def sample(name: str, epoch: int = 1, **changes: object) -> dict[str, Any]:
    """Return a sample as inspect_evals' swe_bench leaves it."""
    score = {"value": 1.0, "explanation": "", "metadata": {"model_patch": patch(name)}, "history": []}
    return {
        "id": name,
        "epoch": epoch,
        "input": "fix it",
        "target": "",
        "output": {"model": "gpt-x", "choices": [], "completion": "done"},
        "scores": {"swe_bench_scorer": score},
        "metadata": {"patch": "the gold patch"},
        "attachments": {},
        **changes,
    }


def header() -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "swe_bench", "model": "openai/gpt-x"}}


def json_log(path: Path, *samples: Mapping[str, object]) -> Path:
    return write(path, json.dumps({**header(), "samples": samples}, indent=2))


def archive(
    path: Path, *samples: Mapping[str, object], compression: int = ZSTANDARD, says_bytes: int | None = None
) -> Path:
    """Write a log as Inspect does; its directory says the samples' sizes, or that each has so many bytes."""
    members: dict[str, object] = {"_journal/start.json": header()}
    members |= {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    return packed(path, {**members, "header.json": header()}, compression, says_bytes)


def packed(
    path: Path, members: Mapping[str, object], compression: int = ZSTANDARD, says_bytes: int | None = None
) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in members.items():
            content = json.dumps(member).encode()
            if compression == ZSTANDARD:
                archive.writestr(name, zstandard.compress(content))
                info = archive.filelist[-1]
                info.compress_type, info.file_size, info.CRC = ZSTANDARD, len(content), zlib.crc32(content)
            else:
                archive.writestr(name, content, compression)
            if says_bytes is not None and name.startswith("samples/"):
                archive.filelist[-1].file_size = says_bytes
    return path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
