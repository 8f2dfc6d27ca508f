"""What exports read of a trajectory in ATIF. The whole format is ``agents/trajectory.py``, on a higher floor."""

from typing import Any, Literal, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

PREFIX = "ATIF-v"


class MediaPath(TypedDict):
    """Place of a picture or sound."""

    path: str


class AtifPart(TypedDict, total=False):
    """Part of a content that is not one plain text."""

    type: Required[str]
    text: str | None
    source: MediaPath | None


AtifContent = str | list[AtifPart]


class AtifCall(TypedDict):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class AtifResult(TypedDict, total=False):
    source_call_id: str | None
    content: AtifContent | None


class AtifObservation(TypedDict):
    """Results of a step's actions."""

    results: list[AtifResult]


class AtifStep(TypedDict, total=False):
    """A message, and the actions that came with it."""

    source: Required[Literal["system", "user", "agent"]]
    message: Required[AtifContent]
    timestamp: str | None
    model_name: str | None
    reasoning_content: str | None
    tool_calls: list[AtifCall] | None
    observation: AtifObservation | None
    is_copied_context: bool | None
    llm_call_count: int | None
    extra: dict[str, Any] | None


class AtifAgent(TypedDict, total=False):
    name: Required[str]
    version: Required[str]
    tool_definitions: list[dict[str, Any]] | None


class AtifTotals(TypedDict, total=False):
    """Tokens and dollars of the whole trajectory."""

    total_prompt_tokens: int | None
    total_completion_tokens: int | None
    total_cached_tokens: int | None
    total_cost_usd: float | None


class AtifDocument(TypedDict, total=False):
    schema_version: Required[str]
    agent: Required[AtifAgent]
    steps: Required[list[AtifStep]]
    final_metrics: AtifTotals | None


DOCUMENT = TypeAdapter(AtifDocument)
