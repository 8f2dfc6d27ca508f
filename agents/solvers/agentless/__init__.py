"""Agentless (Xia et al., 2024): no agent, but three phases in a fixed order - localise, repair, validate.

``localize`` narrows the repository down from files to elements to lines; ``repair`` draws patches for several sets of
such places; ``checks`` runs the tests that passed before and a test that the model wrote to reproduce the issue; the
patches then vote, each by what it means and not how it is laid out (``tools.normalise``, ``tools.vote``).

Beyond the paper: every language, through syntax trees; BM25 in place of embeddings; an edit that could stand in more
than one place is refused, not applied to all; and no sample is dropped without a reason.
"""

from assay.agents.solvers.agentless.settings import AgentlessSettings
from assay.agents.solvers.agentless.solver import Agentless

__all__ = ["Agentless", "AgentlessSettings"]
