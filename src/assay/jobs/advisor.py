"""A language model as the advisor of a set-up, where no rule knows what to change."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import yaml
from pydantic import ValidationError

from assay.agents.llm.errors import ModelError
from assay.harness.domain import Recipe
from assay.harness.errors import DataError
from assay.harness.files import parse_yaml
from assay.harness.templates import read_table
from assay.instances.setup.project_facts import Facts

FIELDS = (
    *("toolchain", "system_packages", "extras", "requirements", "packages", "constraints", "cutoff_days"),
    *("pretend_version", "metadata", "env", "install", "memory_mb"),
)
"""Fields of a recipe that a model may change: none of them chooses which tests run."""
CHOOSES_TESTS = frozenset({"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "GOFLAGS", "CARGO_BUILD_FLAGS"})
"""Variables that could leave tests out."""
SHOWN = 12_000  # characters of the output that the model sees
QUESTION: str = read_table(__file__)["question"]

Ask = Callable[[Sequence[tuple[str, str]]], str]
"""Takes (role, text) messages and returns the text of an answer; raises ModelError."""


@dataclass(frozen=True, slots=True)
class ModelAdvisor:
    """Asks a model, once a round; see the Advisor Protocol."""

    name: str
    ask: Ask
    note: Callable[[str], None] = lambda _text: None

    def advise(self, facts: Facts, recipe: Recipe, output: str) -> Recipe | None:
        """Return the recipe with the fields that the model changes; None if its answer is of no use."""
        try:
            answer = self.ask([("user", _question(facts, recipe, output))])
        except ModelError as error:
            self.note(f"{self.name} gives no answer: {error}")
            return None
        return self._read(answer, facts, recipe)

    def _read(self, answer: str, facts: Facts, recipe: Recipe) -> Recipe | None:
        block = re.search(r"```(?:ya?ml)?\n(.*?)```", answer, re.DOTALL)
        try:
            wanted = parse_yaml(block[1]) if block else None
            if not isinstance(wanted, dict):
                return None
            changes = {name: value for name, value in wanted.items() if name in FIELDS}
            advised = Recipe.model_validate({**recipe.model_dump(), **changes})
        except (DataError, ValidationError) as error:
            self.note(f"the answer of {self.name} cannot be used: {str(error).splitlines()[0]}")
            return None
        if advised.toolchain not in {recipe.toolchain, *facts.available}:
            advised = advised.model_copy(update={"toolchain": recipe.toolchain})
        kept = {name: value for name, value in recipe.env.items() if name in CHOOSES_TESTS}
        free = {name: value for name, value in advised.env.items() if name not in CHOOSES_TESTS}
        return advised.model_copy(update={"env": {**free, **kept}})


def _question(facts: Facts, recipe: Recipe, output: str) -> str:
    project = facts.project
    return QUESTION.format(
        repo=project.repo,
        language=project.language,
        date=f"{project.date:%Y-%m-%d}",
        recipe=yaml.safe_dump(recipe.model_dump(mode="json", exclude_defaults=True), sort_keys=False),
        available=", ".join(facts.available),
        output=output[-SHOWN:],
        fields=", ".join(FIELDS),
    )
