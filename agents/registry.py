"""Find a solver by name and make it with the user's ``key=value`` settings."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from assay.agents import AGENTS
from assay.agents.contract import Agent
from assay.harness.domain import Model
from assay.harness.errors import UserError
from assay.harness.plugins import resolve

ADAPTER = "adapter"
"""Setting of the agent ``command`` that names its adapter."""


def make_agent(name: str, given: Iterable[str] = ()) -> tuple[Agent, Model]:
    """Return a solver and its settings.

    Args:
        name: a short name, an adapter's name or file, an entry point or ``module:Class``.
        given: ``key=value`` each; a value is parsed as JSON, or else taken as text; dots separate nested settings.

    Raises:
        UserError: there is no such solver or setting; the message lists the known ones.
    """
    chosen, options = _find_class(name, _nest_settings(given))
    try:
        settings = chosen.Settings.model_validate(options)
    except ValidationError as error:
        raise UserError(_problem(name, chosen, error)) from error
    agent: Agent = chosen(settings)
    return agent, settings


def _find_class(name: str, options: dict[str, JsonValue]) -> tuple[Any, dict[str, JsonValue]]:
    from assay.agents.external.adapter import SUFFIXES, adapter_names

    if name not in AGENTS and (name in adapter_names() or name.endswith(SUFFIXES)):
        name, options = "command", {ADAPTER: name, **options}
    return resolve("agent", name, {**dict.fromkeys(adapter_names(), ""), **AGENTS}), options


def _nest_settings(given: Iterable[str]) -> dict[str, JsonValue]:
    options: dict[str, JsonValue] = {}
    for each in given:
        key, equals, text = each.partition("=")
        if not (equals and key):
            raise UserError(f"--set {each!r} is no setting; write --set key=value")
        *folders, last = key.split(".")
        place = options
        for folder in folders:
            below = place.setdefault(folder, {})
            if not isinstance(below, dict):
                raise UserError(f"--set {each!r}: {folder} is set already, and is no group of settings")
            place = below
        place[last] = _value(text)
    return options


def _value(text: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(text))
    except ValueError:
        return text


def _problem(name: str, chosen: Any, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "settings"
    known: Mapping[str, object] = chosen.Settings.model_fields
    return f"agent {name}: setting {place}: {first['msg']}; it knows {', '.join(known) or 'no settings'}"
