"""Multi-SWE-bench's evaluator: its configuration in, its files out.

    <output dir>/final_report.json
    <workdir>/<org>/<repo>/evals/pr-<number>/{fix.patch, fix-patch-run.log, report.json}

As there, a patch that is empty or does not apply is unresolved, and what has no result is incomplete and an error.
"""

import glob
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from assay.harness.domain import INFRASTRUCTURE, Instance, Model, Outcome, Prediction
from assay.harness.errors import UserError
from assay.harness.exports.base import RunToExport
from assay.harness.exports.multi_swe_bench import get_number, instance_files
from assay.harness.files import make_model, parse_json, parse_yaml, read_text, write_file
from assay.instances.dataset.load import load
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Pair, Workplace

IGNORED = (
    *("force_build", "need_clone", "clear_env", "max_workers", "max_workers_build_image"),
    *("log_dir", "log_level", "log_to_console", "human_mode"),
)
READERS: dict[str, Callable[[str], Any]] = {
    ".json": parse_json,
    ".toml": tomllib.loads,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
}


class EvaluatorConfig(Model):
    """The keys of a configuration that mean something here; a value that cannot be honoured is none of its type."""

    workdir: Path
    patch_files: list[str]
    dataset_files: list[str]
    output_dir: Path
    repo_dir: Path | None = None
    """Folder of clones."""
    mode: Literal["evaluation"] = "evaluation"
    specifics: list[str] | None = None
    skips: list[str] | None = None
    stop_on_error: bool = True
    max_workers_run_instance: int = 8
    fix_patch_run_cmd: Literal[""] = ""
    global_env: Literal[None] = None


def read_config(path: Path) -> tuple[EvaluatorConfig, list[str]]:
    """Read a configuration; return it and its keys that are ignored. Raises UserError, DataError."""
    if path.suffix not in READERS:
        raise UserError(f"{path}: a configuration ends in {', '.join(READERS)}")
    try:
        fields = READERS[path.suffix](read_text(path))
    except ValueError as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    used = {key: value for key, value in fields.items() if key not in IGNORED} if isinstance(fields, dict) else fields
    config = make_model(EvaluatorConfig, used, str(path), "correct the configuration")
    return config, [key for key in fields if key in IGNORED]


def find_pairs(config: EvaluatorConfig) -> list[Pair]:
    """Pair each row with its patch; a row or a patch without the other is left out. Raises UserError."""
    patches = dict(_read_patches(config.patch_files))
    found = (each for file in _find_files(config.dataset_files) for each in load(file).instances)
    pairs = [
        (each, Prediction(instance_id=each.id, model="predictions", patch=patches[name]))
        for each in found
        if (name := make_id(each)) in patches
        and (not config.specifics or _is_named(name, config.specifics))
        and not _is_named(name, config.skips or ())
    ]
    if not pairs:
        raise UserError(
            f"no patch of {', '.join(config.patch_files)} is for a row of {', '.join(config.dataset_files)}"
        )
    return pairs


def evaluate(config: EvaluatorConfig, pairs: Sequence[Pair], runs_dir: Path, place: Workplace) -> dict[str, Any]:
    """Evaluate and write all files; return the final report. Other rows or patches are another run of Assay's."""
    digest = sha256(json.dumps([[one.dataset.revision, given.patch] for one, given in pairs]).encode()).hexdigest()
    run = EvaluationRun(f"multi-swe-bench.{digest[:12]}", runs_dir, place)
    _, verdicts = run.evaluate(pairs, [each.id for each, _ in pairs])
    exported, patches = RunToExport(run.store), {each.instance_id: each.patch for _, each in pairs}
    for each in exported.evaluations():
        patch, failed = patches[each.instance.id].encode(errors="replace"), each.verdict.outcome in INFRASTRUCTURE
        for name, content in instance_files(exported, each, str(config.workdir)):
            if not (failed and name.endswith("/report.json")):
                write_file(Path(name), patch if name.endswith("/fix.patch") else content)
    final = make_report({make_id(one): each.outcome for (one, _), each in zip(pairs, verdicts, strict=True)})
    write_file(config.output_dir / "final_report.json", json.dumps(final, indent=4, ensure_ascii=False).encode())
    return final


def make_report(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    failed = sorted(name for name, outcome in outcomes.items() if outcome in INFRASTRUCTURE)
    done = sorted({*outcomes} - {*failed})
    resolved = [name for name in done if outcomes[name] is Outcome.RESOLVED]
    groups = {"submitted": done + failed, "completed": done, "incomplete": failed, "resolved": resolved}
    groups |= {"unresolved": [name for name in done if name not in resolved], "empty_patch": [], "error": failed}
    counts = {f"{group}_instances": len(ids) for group, ids in groups.items()}
    return {"total_instances": len(outcomes), **counts, **{f"{group}_ids": ids for group, ids in groups.items()}}


def make_id(instance: Instance) -> str:
    return f"{instance.repo}:pr-{get_number(instance)}"


def _is_named(name: str, chosen: Iterable[str]) -> bool:
    return any(name in each or each in name for each in chosen)


def _read_patches(patterns: Iterable[str]) -> Iterator[tuple[str, str]]:
    for file in _find_files(patterns):
        for number, line in enumerate(read_text(Path(file)).split("\n"), start=1):
            try:
                row = parse_json(line) if line.strip() else None
                if row is not None:
                    yield f"{row['org']}/{row['repo']}:pr-{row['number']}", "" + row["fix_patch"]
            except (ValueError, LookupError, TypeError):
                raise UserError(f"{file}:{number}: is no patch; write org, repo, number and fix_patch") from None


def _find_files(patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        files = sorted(glob.glob(pattern))  # noqa: PTH207 - it may begin with a slash
        if not files:
            raise UserError(f"{pattern}: there is no such file")
        yield from files
