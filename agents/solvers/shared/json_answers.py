"""Ask a model for JSON of a given schema, again if the answer does not match.

A failed try is an answer like any other: it costs money and is in the trajectory.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from assay.agents.contract import AskOptions, SolverModel
from assay.agents.llm.chat import Message
from assay.harness.domain import Model

Answered = TypeVar("Answered", bound=Model)

TRIES = 5  # tries in SWE-Fixer (arXiv 2501.05040); used for AutoCodeRover's translation into JSON as well
FIRST, LATER = 0.0, 0.7  # temperatures of the first and the later tries in SWE-Fixer


class AnswerFormatError(ValueError):
    """An answer holds no JSON object of the schema."""


def read_json(text: str, schema: type[Answered]) -> Answered:
    """Return the first JSON object in a text that matches a schema; fences, prose and raw line feeds are skipped.

    Raises AnswerFormatError if there is none.
    """
    problem = "there is no JSON object in it"
    for value in _objects(text):
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
    raise AnswerFormatError(problem)


def _objects(text: str) -> Iterator[dict[str, JsonValue]]:
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = None, start + 1
        if isinstance(value, dict):
            yield value
        start = text.find("{", end)


def json_tries(
    model: SolverModel, messages: Sequence[Message], schema: type[Answered], *, purpose: str, role: str
) -> Iterator[Answered | str]:
    """Make the same request up to ``TRIES`` times; yield each parsed answer, or the reason why it has none.

    The model is asked again only when the next item is taken. Raises as ``SolverModel.ask``.
    """
    for number in range(TRIES):
        how = AskOptions(temperature=LATER if number else FIRST)
        answer = model.ask(messages, how, purpose=purpose, role=role)
        try:
            yield read_json(answer.content, schema)
        except AnswerFormatError as error:
            yield str(error)


def ask_json(
    model: SolverModel, messages: Sequence[Message], schema: type[Answered], *, purpose: str, role: str
) -> Answered | str:
    """Return the first parsed answer, or the reason why the last of ``TRIES`` has none; arguments as ``json_tries``."""
    read: Answered | str = ""
    for read in json_tries(model, messages, schema, purpose=purpose, role=role):
        if not isinstance(read, str):
            break
    return read
