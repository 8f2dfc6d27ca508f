"""Solvers by name, and how one is made with the user's ``key=value`` settings.

A solver is a class that satisfies ``contract.Agent``. To add one, name it here, register it under the entry-point group
``assay.agents``, or pass ``package.module:Class`` to ``assay solve --agent``.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from assay.agents.contract import Agent
from assay.harness.domain import Model
from assay.harness.errors import UserError
from assay.harness.plugins import Registry, check_part
from assay.harness.templates import read_table

AGENTS = Registry[type[Agent]](
    "agent",
    "assay.agents",
    {
        "gold": "assay.agents.solvers.controls:Gold",
        "null": "assay.agents.solvers.controls:Null",
        "replay": "assay.agents.solvers.replay_solver:ReplaySolver",
        "bash_loop": "assay.agents.solvers.bash_loop:BashLoop",
        "agentless": "assay.agents.solvers.agentless.solver:Agentless",
        "ast_search": "assay.agents.solvers.ast_search.solver:AstSearch",
        "retrieval": "assay.agents.solvers.retrieval.solver:RetrievalSolver",
        "best_of": "assay.agents.solvers.best_of.solver:BestOf",
        "staged": "assay.agents.solvers.staged.solver:Staged",
        "tree_search": "assay.agents.solvers.tree_search.solver:TreeSearch",
        "graph_search": "assay.agents.solvers.tree_search.graph_search:GraphSearch",
        "command": "assay.agents.external.command:Command",
    },
)
"""Short name to class. External agents (``external/adapters/*.yaml``) are found by their file names as well."""
PRESETS: Mapping[str, Mapping[str, JsonValue]] = read_table(__file__, "presets.toml")
"""Name to a solver and its settings."""
ADAPTER = "adapter"  # setting of the agent ``command`` that names its adapter


def make_agent(name: str, given: Iterable[str] = ()) -> tuple[Agent, Model]:
    """Return a solver and its settings.

    Args:
        name: a short name, a preset's, an adapter's name or file, an entry point or ``module:Class``.
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
    check_part(f"agent {name}", Agent, agent)
    return agent, settings


def _find_class(name: str, options: dict[str, JsonValue]) -> tuple[Any, dict[str, JsonValue]]:
    from assay.agents.external.adapter import SUFFIXES, adapter_names

    if name not in AGENTS and (name in adapter_names() or name.endswith(SUFFIXES)):
        name, options = "command", {ADAPTER: name, **options}
    elif name not in AGENTS and name in PRESETS:
        preset = dict(PRESETS[name])
        name, options = str(preset.pop("solver")), {**preset, **options}
    return AGENTS.resolve(name, (*adapter_names(), *PRESETS)), options


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
