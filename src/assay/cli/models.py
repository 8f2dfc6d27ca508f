"""The models that ``[models.NAME]`` of the settings describes: endpoint, key, price and limits of each."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assay.cli.config import MODELS, read_settings
from assay.harness.errors import DataError

if TYPE_CHECKING:
    from assay.agents.llm.named import NamedModel

ADDRESSES = "ASSAY_KEY_ADDRESSES"
"""Variable with the addresses to which keys may be sent that only the file names."""
WANTED = (
    'write such as base_url = "http://host:8000/v1", key = "VARIABLE", price = {input = 0.5, output = 1.5}, cost = 2.0'
)


def read_models() -> dict[str, "NamedModel"]:
    """Raises DataError for a wrong table, and for a key that would go where only the file says."""
    settings, file = read_settings()
    tables = settings.get(MODELS, {})
    if not isinstance(tables, dict):
        raise DataError(f"is no table; write [models.NAME] and below it {WANTED}", file=str(file), field=MODELS)
    return {name: _read_model(name, table, file) for name, table in tables.items()}


def assign(given: Sequence[str]) -> "Mapping[str, NamedModel]":
    """Return role to model of ``--model`` texts; raises UserError and DataError."""
    from assay.agents.llm.named import assign_models

    return assign_models(given, read_models()) if given else {}


def _read_model(name: str, table: Any, file: Path) -> "NamedModel":
    from assay.agents.llm.named import NamedModel
    from assay.harness.files import make_model

    if not isinstance(table, dict) or "name" in table:
        raise DataError(f"is no model; {WANTED}", file=str(file), field=f"{MODELS}.{name}")
    try:
        model = make_model(NamedModel, {**table, "name": name}, str(file), WANTED)
    except DataError as error:
        raise DataError(error.problem, file=str(file), field=f"{MODELS}.{name}.{error.field}") from error
    problem = _find_problem(model)
    if problem:
        raise DataError(problem, file=str(file), field=f"{MODELS}.{name}.key")
    return model


def _find_problem(model: "NamedModel") -> str:
    from assay.agents.llm.ask import ADDRESS, KEY, OPENAI
    from assay.service.guard import is_loopback

    if not model.key:
        return ""
    if not model.base_url:
        return "is a key without an address; write base_url as well"
    own = {OPENAI, os.environ.get(ADDRESS, "")} if model.key == KEY else set()
    trusted = {*own, *os.environ.get(ADDRESSES, "").split()}
    if model.base_url in trusted or is_loopback(urlsplit(model.base_url).netloc) or not os.environ.get(model.key):
        return ""
    return f"would send {model.key} to {model.base_url}; if you mean that, set {ADDRESSES}={model.base_url}"
