"""Agentless (Xia et al., 2024): three phases in a fixed order, localise, repair and validate.

``localize`` narrows the repository from files to elements to lines; ``repair`` samples patches for several sets of
locations; ``patch_checks`` runs the tests that passed before and a reproduction test written by the model; the patches
then vote by their normalised form (``vote``, ``shared.normalise``).

Differences from the paper: all languages, through syntax trees; BM25 instead of embeddings; an ambiguous edit is
refused, not applied everywhere; every dropped sample has a reason.
"""
