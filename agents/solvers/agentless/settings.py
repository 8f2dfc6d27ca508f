"""The constants of Agentless, all of which can be set."""

from pydantic import Field

from assay.agents.solvers.agentless.locations import WINDOW
from assay.harness.domain import Model


class AgentlessSettings(Model):
    """The paper's constants; counts of tokens bound answers, so a model that thinks aloud needs larger ones."""

    suggested_files: int = Field(default=5, gt=0)
    """How many files the model may name."""
    top_files: int = Field(default=3, gt=0)
    """Of the model's, of the retrieved ones, and of both combined."""
    retrieval: bool = True
    """Whether files are also retrieved, from folders that the model does not call irrelevant."""
    window: int = Field(default=WINDOW, ge=0)
    """Lines of context around a place."""
    location_sets: int = Field(default=4, gt=0)
    samples: int = Field(default=10, gt=0)
    """Patches for each set of locations: the first is greedy."""
    temperature: float = Field(default=0.8, ge=0)
    """Of all samples but the greedy ones."""
    regression: bool = True
    """Whether the project's tests are run before and after each patch."""
    test_files: tuple[str, ...] = ()
    """Those that are run, if not all: the whole suite is run once for every distinct patch."""
    reproduction_tests: int = Field(default=40, ge=0)
    """Tests that the model writes to show the issue, the first of them greedy; 0 for none."""
    file_tokens: int = Field(default=300, gt=0)
    folder_tokens: int = Field(default=2048, gt=0)
    place_tokens: int = Field(default=300, gt=0)
    """Of an answer that names elements or lines."""
    location_tries: int = Field(default=5, gt=0)
    """How often elements, and lines, are asked for while no answer names a known place; at temperature 1 from the
    second time on."""
    repair_tokens: int = Field(default=1024, gt=0)
    test_tokens: int = Field(default=1024, gt=0)
    """Of a reproduction test, or of an answer that names tests that should not run."""
    tree_characters: int = Field(default=200_000, gt=0)
    """Of the list of files, and of the list of tests; what is beyond is left out, and said to be."""
    code_characters: int = Field(default=200_000, gt=0)
    """Of code in a question, shared among its files; what is beyond is left out, said to be, and cannot be edited. Far
    less for a model with a short context: a token is some three or four characters."""
