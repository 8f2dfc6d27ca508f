"""The roles of each native solver: the table that help texts, ``docs/solvers.md`` and the check of ``--model`` read."""

from collections.abc import Mapping
from enum import StrEnum

from assay.harness.templates import read_table


class Role(StrEnum):
    """Which model does which part of a solver; a solver of another package may name further ones."""

    ACTOR = "actor"
    DEBATER = "debater"
    EDITOR = "editor"
    LOCATOR = "locator"
    READER = "reader"
    RETRIEVER = "retriever"
    SELECTOR = "selector"
    TESTER = "tester"
    TRANSLATOR = "translator"
    VALUE = "value"


ROLES: Mapping[str, Mapping[str, str]] = {
    solver: {Role(name): does for name, does in roles.items()} for solver, roles in read_table(__file__).items()
}
"""Solver to role to what it does; solvers that ask no model, and external agents, have none."""


def list_roles() -> str:
    """Return one line with every solver and its roles, for a help text."""
    return "; ".join(f"{solver}: {', '.join(roles)}" for solver, roles in ROLES.items())
