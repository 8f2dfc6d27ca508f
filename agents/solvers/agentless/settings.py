"""Settings of Agentless."""

from pydantic import Field

from assay.agents.solvers.agentless.locations import WINDOW
from assay.harness.domain import Model


class AgentlessSettings(Model):
    """The paper's constants by default; a reasoning model needs larger limits of tokens."""

    suggested_files: int = Field(default=5, gt=0)
    """Files that the model may name."""
    top_files: int = Field(default=3, gt=0)
    """Files to keep of the model's, of the retrieved ones, and of both combined."""
    retrieval: bool = True
    """Whether to retrieve files too, from folders that the model does not rule out."""
    whole_files: bool = False
    """Agentless Mini: the model is asked several times for files, and for no elements or lines; for patches it sees the
    files as a whole, and is asked in SWE-RL's form."""
    window: int = Field(default=WINDOW, ge=0)
    """Lines of context around a location."""
    location_sets: int = Field(default=4, gt=0)
    samples: int = Field(default=10, gt=0)
    """Patches for each location set; the first is greedy."""
    temperature: float = Field(default=0.8, ge=0)
    """Temperature of all samples except the greedy ones."""
    regression: bool = True
    """Whether to run the project's tests before and after each patch."""
    test_files: tuple[str, ...] = ()
    """Test files to run; all if empty. They run once for every distinct patch."""
    reproduction_tests: int = Field(default=40, ge=0)
    """Reproduction tests to sample, the first greedy; 0 for none."""
    file_tokens: int = Field(default=300, gt=0)
    folder_tokens: int = Field(default=2048, gt=0)
    place_tokens: int = Field(default=300, gt=0)
    """Limit of an answer that names elements or lines."""
    location_tries: int = Field(default=5, gt=0)
    """Requests for elements, and for lines, until an answer names a known location; the retries at temperature 1."""
    repair_tokens: int = Field(default=1024, gt=0)
    test_tokens: int = Field(default=1024, gt=0)
    """Limit of a reproduction test, or of an answer that names tests to skip."""
    tree_characters: int = Field(default=200_000, gt=0)
    """Limit of the list of files and of the list of tests; the prompt mentions the rest."""
    code_characters: int = Field(default=200_000, gt=0)
    """Limit of code in a prompt, shared among its files; the rest is left out, with a remark, and cannot be edited. Set
    it lower for a model with a short context: a token has three or four characters."""
