"""Candidates from elsewhere: what submissions, runs and other agents predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from assay.instances.dataset.imports import import_predictions


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """One source of candidates."""

    name: str
    patches: Mapping[str, str]
    """Instance id, in lower case, to patch."""


def read_members(sources: Sequence[str]) -> tuple[EnsembleMember, ...]:
    """Read files and folders of predictions; a member is named for its model, or its source if models repeat.

    Raises UserError or DataError.
    """
    found = [import_predictions(Path(source).expanduser()).predictions for source in sources]
    models = [next((each.model for each in predictions), "") for predictions in found]
    names = models if len({*models} - {""}) == len(models) else sources
    return tuple(
        EnsembleMember(name, {each.instance_id.lower(): each.patch for each in predictions})
        for name, predictions in zip(names, found, strict=True)
    )


def hash_members(members: Sequence[EnsembleMember]) -> str:
    """Return a short hash of all patches, by which a run notices that a source has changed."""
    text = repr([(member.name, sorted(member.patches.items())) for member in members])
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
