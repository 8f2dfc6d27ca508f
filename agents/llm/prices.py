"""Prices of tokens: Assay's small table and the user's own file. An unknown price stops nothing but limits in money."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from assay.agents.llm.chat import TokenUsage
from assay.harness.domain import Model
from assay.harness.errors import UserError
from assay.harness.files import make_model, read_yaml

MILLION = 1_000_000

_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
"""Date of a snapshot at the end of a model's name; snapshots cost the same as the model."""


class Price(Model):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Price of prompt tokens in the endpoint's cache; None if they cost the same as others."""

    def cost(self, usage: TokenUsage) -> float:
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        cached_price = self.input if self.cached is None else self.cached
        return (fresh * self.input + cached * cached_price + usage.completion_tokens * self.output) / MILLION


class Prices(Model):
    models: Mapping[str, Price] = Field(default_factory=dict)

    def find(self, model: str) -> Price | None:
        """Return a model's price, by its full name or without its date, its provider, or both; None if unknown."""
        bare = model.rpartition("/")[2]
        names = (model, _DATE.sub("", model), bare, _DATE.sub("", bare))
        return next((self.models[name] for name in names if name in self.models), None)

    def check(self, model: str, limits: Sequence[str]) -> None:
        """Check that limits in money, named by their options, can be kept for a model; raises UserError if not."""
        if limits and self.find(model) is None:
            problem = f"the price of {model} is not known, so {' and '.join(limits)} would limit nothing"
            line = f"'models: {{\"{model}\": {{input: 0.5, output: 1.5}}}}'"
            remedy = f"give --prices FILE with a line such as {line} (US dollars per million tokens), or limit --tokens"
            raise UserError(f"{problem}; {remedy}")

    def cost(self, model: str, usage: TokenUsage) -> float | None:
        """Return the cost in US dollars; None if the price is unknown."""
        price = self.find(model)
        return None if price is None else price.cost(usage)


def load_prices(file: Path | None = None, own: Mapping[str, Price] | None = None) -> Prices:
    """Return Assay's prices, overridden by those of the user's file, and those by ``own``. Raises DataError."""
    bundled = _read(Path(__file__).with_name("prices.yaml"))
    read = _read(file).models if file else {}
    return Prices(models={**bundled.models, **read, **(own or {})})


def _read(file: Path) -> Prices:
    wanted = "write 'models:' and below it lines such as 'my-model: {input: 0.5, output: 1.5}'"
    return make_model(Prices, read_yaml(file) or {}, str(file), wanted)
