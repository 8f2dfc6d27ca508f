"""A log of Inspect (``.eval``), written and read by inspect_ai itself (the extra ``inspect``).

A sample is scored C (resolved) or I. Where the environment or the engine failed, it has an error and no score, so no
metric counts it. Instances without a prediction are in the data set's ids and have no sample.
"""

import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.harness.domain import INFRASTRUCTURE, Prediction
from assay.harness.errors import DataError, PluginError
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.chat_messages import answer, make_messages, user_message
from assay.harness.exports.moments import moments
from assay.harness.exports.solving_record import SolvingRecord, read_record
from assay.harness.fences import fence
from assay.harness.runs.report import Graded

NAME = "inspect"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
SCORER = "assay"
TEST_OUTPUT = 8000  # characters kept of the end of what the tests printed


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield the log; raises PluginError if inspect_ai is not installed."""
    log = _inspect()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        whole = run.redaction.value(whole_log(run))  # a log is packed
        log.write_eval_log(log.EvalLog.model_validate(whole), str(path))
        began = run.manifest.started.replace(":", "-").replace("+", "-")
        yield f"{began}_{_task(run)}_{run.make_id('inspect:').replace('-', '')[:22]}.eval", path.read_bytes()


def check(folder: Path) -> Iterator[Problem]:
    """Yield faults of the log, as inspect_ai reads it; raises PluginError if that is not installed."""
    log = _inspect()
    paths = sorted(path for path in folder.rglob("*") if path.suffix == ".eval")
    if not paths:
        yield Problem("", "", "holds no log (.eval); inspect view shows nothing")
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            found = log.read_eval_log(str(path))
        except Exception as error:  # inspect_ai raises whatever its parts do
            raise DataError(f"inspect_ai cannot read it: {str(error).splitlines()[0]}", file=name) from None
        yield from _problems(name, found)


def whole_log(run: RunToExport) -> dict[str, Any]:
    """Return the log as JSON of Inspect's ``EvalLog``; texts that are no UTF-8 have ``?`` in place of what is not."""
    when = moments(run)
    predictions = {each.instance_id: each for each in run.predictions}
    samples = []
    for each in run.evaluations():
        name = each.instance.id
        record = read_record(run.trajectories.get(name))
        samples.append(_Sample(run, each, predictions[name], record, when.get(name)).render())
    ended = max((end for _, end in when.values()), default=None)
    whole = {
        "version": 2,
        "status": "success",
        "eval": _spec(run),
        "plan": {"name": "plan", "steps": [{"solver": run.manifest.model or "none", "params": {}}]},
        "results": _results(run, samples),
        "stats": {
            "started_at": run.manifest.started,
            "completed_at": ended.isoformat() if ended else run.manifest.started,
            "model_usage": _total_usage(samples),
        },
        "samples": samples,
    }
    found: dict[str, Any] = json.loads(json.dumps(whole, ensure_ascii=False).encode(errors="replace"))
    return found


@dataclass(frozen=True)
class _Sample:
    """One evaluation, as Inspect's ``EvalSample``."""

    run: RunToExport
    graded: Graded
    prediction: Prediction
    record: SolvingRecord
    when: tuple[datetime, datetime] | None

    def render(self) -> dict[str, Any]:
        instance, model = self.graded.instance, self.prediction.model
        said = answer(self.prediction.patch, model)
        issue = user_message(instance.problem_statement)
        steps = make_messages(self.record.steps, model)
        return {
            "id": instance.id,
            "epoch": 1,
            "uuid": self.run.make_id(f"inspect:{instance.id}"),
            "input": instance.problem_statement,
            "target": "",
            "messages": steps or [issue, answer(fence(self.prediction.patch.rstrip("\n"), "diff"), model)],
            "output": {"model": model, "choices": [{"message": said, "stop_reason": "stop"}]},
            "metadata": self._metadata(),
            "model_usage": self._usage(),
            **self._times(),
            **self._result(),
            **self._limit(),
        }

    def _metadata(self) -> dict[str, Any]:
        instance, evidence = self.graded.instance, self.graded.evidence
        return {
            "repo": instance.repo,
            "base_commit": instance.base_commit,
            "version": instance.version,
            "language": instance.language,
            "environment": evidence.environment,
            "image": evidence.image,
            "image_digest": evidence.image_digest,
            "model_name_or_path": self.prediction.model,
        }

    def _result(self) -> dict[str, Any]:
        """Return a score, or an error where the patch cannot be blamed."""
        verdict, evidence = self.graded.verdict, self.graded.evidence
        facts = {
            **verdict.model_dump(mode="json", exclude={"instance_id"}),
            "model_patch": self.prediction.patch,
            "test_output": self.run.output(verdict.instance_id).decode(errors="replace")[-TEST_OUTPUT:],
        }
        if verdict.outcome in INFRASTRUCTURE:
            message = f"{verdict.outcome}: {evidence.error or verdict.reason}"
            about = {**self._metadata(), "model_patch": self.prediction.patch}
            return {"error": {"message": message, "traceback": "", "traceback_ansi": ""}, "metadata": about}
        score = {"value": "C" if verdict.resolved else "I", "answer": verdict.outcome, "explanation": self._why()}
        return {"scores": {SCORER: {**score, "metadata": facts}}}

    def _why(self) -> str:
        verdict = self.graded.verdict
        lists = {"Not fixed": verdict.unfixed, "Broken": verdict.broken, "Flags": verdict.flags}
        parts = [f"{title}:\n" + "\n".join(f"- `{each}`" for each in names) for title, names in lists.items() if names]
        return "\n\n".join((f"{verdict.outcome}: {verdict.reason}", *parts))

    def _usage(self) -> dict[str, Any]:
        """Return tokens by model, the input's without cached ones; nothing if they are unknown."""
        totals = self.record.totals
        prompt, cached = totals.get("total_prompt_tokens"), totals.get("total_cached_tokens")
        completion = totals.get("total_completion_tokens")
        if prompt is None and completion is None:
            return {}
        usage = {
            "input_tokens": max((prompt or 0) - (cached or 0), 0),
            "output_tokens": completion or 0,
            "total_tokens": (prompt or 0) + (completion or 0),
            "input_tokens_cache_read": cached,
            "total_cost": totals.get("total_cost_usd"),
        }
        return {self.prediction.model or "none": usage}

    def _times(self) -> dict[str, Any]:
        times = {"total_time": round(self.record.seconds + self.graded.evidence.timings.total, 3)}
        if self.when is None:
            return times
        return {**times, "started_at": self.when[0].isoformat(), "completed_at": self.when[1].isoformat()}

    def _limit(self) -> dict[str, Any]:
        if self.record.limit is None:
            return {}
        kind, value = self.record.limit
        return {"limit": {"type": kind, "limit": value, "reason": self.record.status}}


def _spec(run: RunToExport) -> dict[str, Any]:
    manifest = run.manifest
    ids = sorted({*manifest.instance_ids, *(each.instance_id for each in run.predictions)})
    metrics = [{"name": f"inspect_ai/{name}", "options": {}} for name in ("accuracy", "stderr")]
    return {
        "eval_id": run.make_id("inspect:eval"),
        "run_id": run.make_id("inspect:run"),
        "created": manifest.started,
        "task": _task(run),
        "task_id": run.make_id("inspect:"),
        "task_attribs": {},
        "dataset": {"name": manifest.dataset.name, "samples": len(ids), "sample_ids": ids, "shuffled": False},
        "model": manifest.model or "none",
        "config": {"epochs": 1, "fail_on_error": False},
        "packages": {"assay-bench": manifest.assay_version},
        "scorers": [{"name": SCORER, "options": {}, "metrics": metrics, "metadata": {}}],
        "metadata": {
            "dataset_revision": manifest.dataset.revision,
            "rules": run.report.rules,
            "settings": manifest.settings,
            "engine": manifest.engine,
            "host": manifest.host,
        },
    }


def _results(run: RunToExport, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The metrics are over the samples that have a score."""
    values = [each["scores"][SCORER]["value"] == "C" for each in samples if "scores" in each]
    report = run.report
    facts = ("total_instances", "submitted_instances", "resolved_instances", "infra_failure_instances")
    score = {
        "name": SCORER,
        "scorer": SCORER,
        "scored_samples": len(values),
        "unscored_samples": 0,
        "metrics": {name: {"name": name, "value": value} for name, value in _metrics(values).items()},
    }
    return {
        "total_samples": len(samples) + len(run.missing),
        "completed_samples": len(values),
        "logged_samples": len(samples),
        "scores": [score] if values else [],
        "metadata": {**{name: getattr(report, name) for name in facts}, "resolved_rate": report.resolved_rate},
    }


def _metrics(values: Sequence[bool]) -> dict[str, float]:
    count = len(values)
    mean = sum(values) / count if count else 0.0
    error = math.sqrt(mean * (1 - mean) / (count - 1)) if count > 1 else 0.0
    return {"accuracy": mean, "stderr": error}


def _total_usage(samples: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    totals: dict[str, Counter[str]] = {}
    for each in samples:
        for model, usage in each["model_usage"].items():
            known = {name: value for name, value in usage.items() if value is not None}
            totals.setdefault(model, Counter()).update(known)
    return {model: dict(total) for model, total in totals.items()}


def _problems(name: str, log: Any) -> Iterator[Problem]:
    if log.status != "success":
        yield Problem(name, "status", f"is {log.status}; export a run that has finished")
    samples = log.samples or []
    for each in samples:
        if (each.error is None) == (not each.scores):
            problem = "must have a score or an error, and not both: an error with a score counts as a result"
            yield Problem(name, str(each.id), f"{problem}; export the run again")
    twice = [str(name) for name, count in Counter(each.id for each in samples).items() if count > 1]
    for sample in twice:
        yield Problem(name, sample, "is there twice; keep one, or write epochs")
    unknown = {each.id for each in samples} - set(log.eval.dataset.sample_ids or ())
    for sample in sorted(map(str, unknown)):
        yield Problem(name, sample, "is not among the ids of eval.dataset; export the run again")
    yield from _wrong_metrics(name, log, samples)


def _wrong_metrics(name: str, log: Any, samples: Sequence[Any]) -> Iterator[Problem]:
    for score in (log.results.scores if log.results else None) or ():
        values = [each.scores[score.name].value == "C" for each in samples if score.name in (each.scores or {})]
        for metric, expected in _metrics(values).items():
            said = score.metrics.get(metric)
            if said is None or not math.isclose(said.value, expected, abs_tol=1e-9):
                field = f"results.scores.{score.name}.{metric}"
                yield Problem(name, field, f"must be {expected:.6f} by the samples' scores; export the run again")


def _inspect() -> Any:
    try:
        import inspect_ai.log
    except ImportError:
        raise PluginError("the format inspect needs the extra `inspect`: pip install 'assay-bench[inspect]'") from None
    return inspect_ai.log


def _task(run: RunToExport) -> str:
    name = Path(run.manifest.dataset.name).stem
    return "-".join("".join(each if each.isalnum() else " " for each in name).split()) or "assay"
