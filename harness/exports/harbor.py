"""A job folder of Harbor (0.25), for ``harbor view`` and what reads its trials.

    <DIR>/<run>/{config.json, result.json,
                 <instance>/{config.json, lock.json, result.json, trial.log, exception.txt, agent/trajectory.json,
                             verifier/{test-stdout.txt, reward.json, ctrf.json, verdict.json},
                             artifacts/{manifest.json, logs/artifacts/model.patch}}}

Harbor counts a finished trial without a reward as 0. A trial that the environment or the engine failed therefore has
neither ``finished_at`` nor a reward; it has an exception of Harbor's class ``sandbox_failed``, and ``exception.txt``.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.harness.domain import INFRASTRUCTURE, Outcome, Prediction
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.ctrf import ctrf
from assay.harness.exports.harbor_check import check
from assay.harness.exports.moments import moments
from assay.harness.exports.solving_record import SolvingAgent, SolvingRecord, read_record, solving_agent
from assay.harness.exports.submission import json_text
from assay.harness.files import read_regular
from assay.harness.runs.manifest import ORACLE
from assay.harness.runs.report import Graded

__all__ = ["LEADERBOARD", "NAME", "REQUIRED", "Problem", "check", "files"]

NAME = "harbor"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
EXCEPTIONS = {Outcome.ENV_ERROR: "SandboxBuildFailedError", Outcome.INFRA_ERROR: "RuntimeRequestError"}
"""Harbor's names for what is not the patch's fault; both have its failure cause ``sandbox_failed``."""
PATCH = "/logs/artifacts/model.patch"  # the path in a container that Harbor's tasks declare for a patch


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    job = run.manifest.id
    when, agent = moments(run), solving_agent(run.trajectories.values())
    predictions = {each.instance_id: each for each in run.predictions}
    results = []
    for each in run.evaluations():
        name = each.instance.id
        trial = _Trial(run, each, predictions[name], agent, read_record(run.trajectories.get(name)), when.get(name))
        results.append(trial.result)
        for path, content in trial.files():
            yield f"{job}/{name}/{path}", content
    yield f"{job}/config.json", json_text(_job_config(run, results))
    yield f"{job}/result.json", json_text(_job_result(run, results))


@dataclass(frozen=True)
class _Trial:
    """One evaluation, as Harbor's files of a trial."""

    run: RunToExport
    graded: Graded
    prediction: Prediction
    agent: SolvingAgent
    record: SolvingRecord
    when: tuple[datetime, datetime] | None

    @property
    def name(self) -> str:
        return self.graded.instance.id

    @property
    def is_scored(self) -> bool:
        return self.graded.verdict.outcome not in INFRASTRUCTURE

    def files(self) -> Iterator[tuple[str, bytes]]:
        yield "config.json", json_text(self.config)
        yield "lock.json", json_text(self.lock)
        yield "trial.log", self._log().encode()
        yield from self._agent()
        if self.is_scored:
            yield "verifier/reward.json", json_text(self.rewards)
        else:
            yield "exception.txt", self._message().encode(errors="replace")
        yield "verifier/test-stdout.txt", self.run.output(self.name)
        yield "verifier/ctrf.json", json_text(ctrf(self.graded, self.run.manifest.assay_version))
        yield "verifier/verdict.json", self.graded.verdict.model_dump_json(indent=2).encode()
        yield f"artifacts{PATCH}", self.prediction.patch.encode(errors="surrogatepass")
        entry = {"source": PATCH, "destination": f"artifacts{PATCH}", "type": "file", "status": "ok"}
        yield "artifacts/manifest.json", json_text([entry])
        yield "result.json", json_text(self.result)

    @property
    def rewards(self) -> dict[str, float]:
        return {"reward": float(self.graded.verdict.resolved)}

    @cached_property
    def config(self) -> dict[str, Any]:
        agent, _, model = self._system()
        oracle = self.run.manifest.oracle  # so that the mark comes back with the patches
        return {
            "task": {"path": self.name, "source": _source(self.run)},
            "trial_name": self.name,
            "trials_dir": self.run.manifest.id,
            "agent": {"name": agent, "model_name": model or None, **({"kwargs": {ORACLE: oracle}} if oracle else {})},
            "environment": self._environment(),
            "verifier": {},
            "artifacts": [PATCH],
            "job_id": self.run.make_id(),
        }

    def _system(self) -> tuple[str, str, str]:
        """Return agent, version and model: the parts of the prediction's name, or else the whole of it as the agent."""
        model = self.agent.get_model(self.prediction)
        return (self.prediction.model, "", "") if model is None else (self.agent.name, self.agent.version, model)

    def _environment(self) -> dict[str, Any]:
        evidence = self.graded.evidence
        about = {"image": evidence.image, "image_digest": evidence.image_digest, "made_by": evidence.environment or ""}
        return {"import_path": f"assay.harness.engines:{evidence.engine or 'none'}", "kwargs": about}

    @property
    def lock(self) -> dict[str, Any]:
        task = {"name": self.name, "type": "local", "digest": f"sha256:{self._digest}", "path": self.name}
        config = self.config
        return {
            "schema_version": 2,
            "task": {**task, "source": _source(self.run)},
            "agent": config["agent"],
            "environment": config["environment"],
            "verifier": {"environment_mode": "separate"},
        }

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self.graded.instance.model_dump_json().encode()).hexdigest()

    @cached_property
    def result(self) -> dict[str, Any]:
        agent, version, model = self._system()
        began, ended = self._get_times()
        times = [str(step["timestamp"]) for step in self.record.steps if step.get("timestamp")]
        return {
            "id": self.run.make_id(self.name),
            "task_name": self.name,
            "trial_name": self.name,
            "trial_uri": f"{self.run.manifest.id}/{self.name}",
            "task_id": {"path": self.name},
            "source": _source(self.run),
            "task_checksum": self._digest,
            "config": self.config,
            "agent_info": {"name": agent, "version": version, "model_info": _model_info(model)},
            "agent_result": self._usage(),
            "verifier_result": {"rewards": self.rewards} if self.is_scored else None,
            "verifier_environment_mode": "separate",
            "exception_info": None if self.is_scored else self._exception(ended),
            "started_at": began,
            "finished_at": ended if self.is_scored else None,
            "agent_execution": {"started_at": next(iter(times), None), "finished_at": next(reversed(times), None)},
            "verifier": {"started_at": began, "finished_at": ended},
        }

    def _get_times(self) -> tuple[str, str]:
        """Return the times of the evaluation; the run's own if another run evaluated this."""
        if self.when is None:
            return self.run.manifest.started, self.run.manifest.started
        return self.when[0].isoformat(), self.when[1].isoformat()

    def _usage(self) -> dict[str, Any]:
        """Return tokens, the input's with cached ones, and cost in dollars."""
        totals = self.record.totals
        return {
            "n_input_tokens": totals.get("total_prompt_tokens"),
            "n_cache_tokens": totals.get("total_cached_tokens"),
            "n_output_tokens": totals.get("total_completion_tokens"),
            "cost_usd": totals.get("total_cost_usd"),
            "metadata": {"status": self.record.status} if self.record.status else None,
        }

    def _exception(self, when: str) -> dict[str, str]:
        return {
            "exception_type": EXCEPTIONS[self.graded.verdict.outcome],
            "exception_message": self._message(),
            "exception_traceback": "",
            "occurred_at": when,
        }

    def _message(self) -> str:
        return self.graded.evidence.error or self.graded.verdict.reason

    def _agent(self) -> Iterator[tuple[str, bytes]]:
        """Yield the trajectory: where Harbor looks for it if it is ATIF, else under its own name."""
        path = self.run.trajectories.get(self.name)
        if path is not None:
            yield f"agent/{'trajectory.json' if self.record.trajectory else path.name}", read_regular(path)

    def _log(self) -> str:
        verdict = self.graded.verdict
        facts = {
            "outcome": verdict.outcome,
            "reason": verdict.reason,
            "rule": verdict.rule,
            "flags": ", ".join(verdict.flags),
            "unfixed": "\n         ".join(verdict.unfixed),
            "broken": "\n         ".join(verdict.broken),
            "flaky": "\n         ".join(verdict.flaky),
        }
        return "".join(f"{name + ':':<9}{text}\n" for name, text in facts.items() if text)


def _job_config(run: RunToExport, results: list[dict[str, Any]]) -> dict[str, Any]:
    agents = {json.dumps(each["config"]["agent"]): each["config"]["agent"] for each in results}
    name = run.manifest.dataset.name
    return {
        "job_name": run.manifest.id,
        "n_concurrent_trials": int(run.manifest.settings.get("jobs", "1")),
        "agents": list(agents.values()),
        "environment": {"import_path": f"assay.harness.engines:{run.manifest.engine.get('Name', 'any')}"},
        "datasets": [{"path": name}] if name else [],
    }


def _job_result(run: RunToExport, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Instances without a prediction are pending trials."""
    ended = max((each["verifier"]["finished_at"] for each in results), default=run.manifest.started)
    totals = [each["agent_result"] for each in results]
    return {
        "id": run.make_id(),
        "started_at": run.manifest.started,
        "updated_at": ended,
        "finished_at": ended,
        "n_total_trials": len(results) + len(run.missing),
        "stats": {
            "n_completed_trials": len(results),
            "n_errored_trials": sum(each["exception_info"] is not None for each in results),
            "n_pending_trials": len(run.missing),
            "evals": _evals(results),
            **{name: _sum(total[name] for total in totals) for name in ("n_input_tokens", "n_cache_tokens")},
            **{name: _sum(total[name] for total in totals) for name in ("n_output_tokens", "cost_usd")},
        },
    }


def _evals(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean is of the trials with a reward."""
    evals: dict[str, Any] = {}
    for each in results:
        model = (each["agent_info"]["model_info"] or {}).get("name")
        key = "__".join(part for part in (each["agent_info"]["name"], model, each["source"]) if part)
        stats = evals.setdefault(
            key, {"n_trials": 0, "n_errors": 0, "metrics": [], "reward_stats": {}, "exception_stats": {}}
        )
        if each["exception_info"]:
            stats["n_errors"] += 1
            kind = each["exception_info"]["exception_type"]
            stats["exception_stats"].setdefault(kind, []).append(each["trial_name"])
        else:
            stats["n_trials"] += 1
            reward = each["verifier_result"]["rewards"]["reward"]
            stats["reward_stats"].setdefault("reward", {}).setdefault(str(reward), []).append(each["trial_name"])
    for stats in evals.values():
        rewarded = {float(reward): len(names) for reward, names in stats["reward_stats"].get("reward", {}).items()}
        if stats["n_trials"]:
            stats["metrics"] = [{"mean": sum(reward * count for reward, count in rewarded.items()) / stats["n_trials"]}]
    return evals


def _sum(values: Iterator[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _model_info(model: str) -> Mapping[str, str | None] | None:
    provider, slash, name = model.partition("/")
    if not model:
        return None
    return {"name": name, "provider": provider} if slash and name and provider else {"name": model, "provider": None}


def _source(run: RunToExport) -> str | None:
    return Path(run.manifest.dataset.name).name or None
