"""Answers that have to be JSON of a given form, read from what models write around it; asked for again if they are not.

A failed try is an answer like any other: it is billed and stands in the trajectory.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from assay.agents.contract import AskOptions, SolverModel
from assay.agents.llm.chat import Message
from assay.harness.domain import Model

Answered = TypeVar("Answered", bound=Model)

TRIES = 5
"""Of SWE-Fixer (arXiv 2501.05040), and as many for AutoCodeRover's translation into JSON."""
FIRST, LATER = 0.0, 0.7
"""Temperatures of the first try and of those after it, of SWE-Fixer."""


class AnswerFormatError(ValueError):
    """An answer holds no JSON object of the form that was asked for; says what is wrong."""


def read_json(text: str, form: type[Answered]) -> Answered:
    """Return the first JSON object in a text that has a form; fences, prose and raw line feeds in it do not matter.

    Args:
        text: what the model wrote.
        form: the model of the object.

    Raises:
        NotOfThisFormError: there is none.
    """
    problem = "there is no JSON object in it"
    for value in _objects(text):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
    raise AnswerFormatError(problem)


def _objects(text: str) -> Iterator[dict[str, JsonValue]]:
    """Yield the outermost JSON objects of a text."""
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
    model: SolverModel, messages: Sequence[Message], form: type[Answered], *, purpose: str
) -> Iterator[Answered | str]:
    """Ask the same question up to ``TRIES`` times; yield each answer of the form, or what is wrong with it.

    Args:
        model: whom to ask; it is asked again only when the next try is wanted.
        messages: the question.
        form: of the answer.
        purpose: of the question.

    Raises:
        ModelError, BudgetExceeded: as ``SolverModel.ask``.
    """
    for number in range(TRIES):
        answer = model.ask(messages, AskOptions(temperature=LATER if number else FIRST), purpose=purpose)
        try:
            yield read_json(answer.content, form)
        except AnswerFormatError as error:
            yield str(error)


def ask_json(model: SolverModel, messages: Sequence[Message], form: type[Answered], *, purpose: str) -> Answered | str:
    """Return the first answer of the form, or what is wrong with the last of ``TRIES``; arguments as ``json_tries``."""
    read: Answered | str = ""
    for read in json_tries(model, messages, form, purpose=purpose):
        if not isinstance(read, str):
            break
    return read
