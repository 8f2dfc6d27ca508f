"""How a language's tests record what they compare. Each recorder is one source, for the end of a hidden test file."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, with_config

from assay.harness.languages.recorders.python import ASSAY_RECORDS

RECORDS = ASSAY_RECORDS
"""File in the container. Everybody may write it: nothing in it is secret, and a forged record has to be right."""
STRICT = ConfigDict(extra="forbid")
"""An unknown field of a grammar's table is an error."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Sealing:
    """How what a test compares with is taken out of it: an assertion becomes a call that records what is compared."""

    recorder: str
    """File in ``recorders`` whose source comes at the end of the test file."""
    record: str
    """The call. It has ``{seal}``, a number, ``{actual}``, the source of what is compared, and ``{expected}``: what
    it is compared with, where that is to be recorded as well."""
    nothing: str
    """Statement that does nothing, in the place of what makes the expected value."""
    blank: str
    """A value, in the place of a cell of a table."""
    statements: frozenset[str]
    """Nodes with a whole assignment."""
    loops: frozenset[str]
    rows: frozenset[str]
    """Tables of literals, and rows of them."""
    equal: str
    """Calls that pass only if their first two arguments are equal, whatever their types."""
    alike: str
    """The same but for the types of sequences."""
    known: str
    """Names of functions, methods and modules that are no part of any product."""
    unknown: frozenset[str]
    """Nodes in a value that may stand for anything."""
    assigning: frozenset[str]
    """Nodes that give a value to a name."""
    guards: frozenset[str]
    """Nodes whose failed assertions may be no failed test: ``try``."""
    branches: frozenset[str]
    """Nodes whose content may not be reached."""
    functions: frozenset[str]
    """Nodes that run at another time than what is around them, or in another thread."""
    repeated: str
    """Found above a test that is run with drawn values, or again if it fails."""


def read_recorder(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
