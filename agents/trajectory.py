"""What a solver did, step by step, in the Agent Trajectory Interchange Format (ATIF 1.8).

A ``Recorder`` keeps the file on disk complete after every step, so that whatever ends the process, even ``kill -9``,
leaves a valid document.
"""

import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue

from assay.harness.domain import Model

VERSION = "ATIF-v1.8"
KNOWN = tuple(f"ATIF-v1.{minor}" for minor in range(9))


class MediaSource(Model):
    """Where the picture or sound of a content part lies."""

    media_type: str
    path: str
    duration_sec: float | None = None


class ContentPart(Model):
    """A part of a message or an observation that is more than one text."""

    type: Literal["text", "image", "audio"]
    text: str | None = None
    source: MediaSource | None = None


Content = str | tuple[ContentPart, ...]


class RecordedToolCall(Model):
    """An action of the agent."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, JsonValue]
    extra: dict[str, JsonValue] | None = None


class SubagentRef(Model):
    """Another trajectory that a result stands for."""

    trajectory_id: str | None = None
    session_id: str | None = None
    trajectory_path: str | None = None
    extra: dict[str, JsonValue] | None = None


class ObservationResult(Model):
    """What came of one action."""

    source_call_id: str | None = None
    content: Content | None = None
    subagent_trajectory_ref: tuple[SubagentRef, ...] | None = None
    extra: dict[str, JsonValue] | None = None


class Observation(Model):
    """What the actions of a step came to."""

    results: tuple[ObservationResult, ...]


class Metrics(Model):
    """What a step's inference took; cost in US dollars."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    extra: dict[str, JsonValue] | None = None


class Step(Model):
    """One step: something said, and what was done with it."""

    step_id: int = Field(default=1, ge=1)
    """From 1 on; a ``Recorder`` gives it."""
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    message: Content
    reasoning_content: str | None = None
    tool_calls: tuple[RecordedToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = Field(default=None, ge=0)
    """0: nothing was asked of a model, and there are no metrics then; None: nobody counted."""
    extra: dict[str, JsonValue] | None = None


class AgentInfo(Model):
    """Who worked."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: tuple[dict[str, JsonValue], ...] | None = None
    extra: dict[str, JsonValue] | None = None


class FinalMetrics(Model):
    """What the whole took; cost in US dollars."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = None
    extra: dict[str, JsonValue] | None = None


class Trajectory(Model):
    """A whole document."""

    schema_version: str = VERSION
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: AgentInfo
    steps: tuple[Step, ...] = Field(min_length=1)
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: tuple["Trajectory", ...] | None = None
    extra: dict[str, JsonValue] | None = None


class Recorder:
    """Appends steps to a document and keeps its file complete; safe to use from several threads.

    Attributes:
        agent: who works.
    """

    def __init__(self, path: Path | None, agent: AgentInfo, *, session_id: str = "") -> None:
        """Begin a document; without a path it is kept in memory only."""
        self.agent = agent
        self._path = path
        self._session_id = session_id
        self._steps: list[Step] = []
        self._written = bytearray()
        self._lock = threading.Lock()

    def add(self, step: Step) -> Step:
        """Append a step and save the document; return it with the number and the time that it got."""
        with self._lock:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            told = step.model_copy(update={"step_id": len(self._steps) + 1, "timestamp": step.timestamp or now})
            self._steps.append(told)
            self._save(told)
            return told

    def trajectory(self, **ending: Any) -> Trajectory | None:
        """Return the document so far, with fields of its end such as ``final_metrics``; None before the first step."""
        with self._lock:
            return self._document(ending)

    def finish(self, **ending: Any) -> Trajectory | None:
        """Save the document with fields of its end and return it."""
        with self._lock:
            document = self._document(ending)
            if document is not None and self._path is not None:
                _replace(self._path, document.model_dump_json(exclude_none=True).encode(), is_last=True)
            return document

    def _document(self, ending: Mapping[str, Any]) -> Trajectory | None:
        if not self._steps:
            return None
        return Trajectory(session_id=self._session_id or None, agent=self.agent, steps=tuple(self._steps), **ending)

    def _save(self, step: Step) -> None:
        """Write the whole document anew beside the old one; the steps before are kept as bytes, so it costs little."""
        if self._path is None:
            return
        told = step.model_dump_json(exclude_none=True).encode()
        self._written += (b",\n" if self._written else b"") + told
        head = Trajectory(session_id=self._session_id or None, agent=self.agent, steps=(step,))
        begin, end = head.model_dump_json(exclude_none=True).encode().split(told)
        _replace(self._path, begin + bytes(self._written) + end, is_last=False)


def _replace(path: Path, content: bytes, *, is_last: bool) -> None:
    """Put a document in the place of an older one.

    The last one is on the disk when this returns; of those before, a dead machine may lose the latest, a dead process
    none. Waiting for the disk after every step would cost more than all else of the step.
    """
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        if is_last:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)
