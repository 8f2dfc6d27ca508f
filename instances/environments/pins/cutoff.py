"""The date up to which packages are taken."""

from datetime import UTC, datetime, time, timedelta

from assay.harness.domain import Instance, Recipe
from assay.instances.toolchains.versions import load_versions
from assay.instances.trees.epochs import epochs

RIPENING = timedelta(days=90)  # wheels for a new Python take some weeks to appear


def cutoffs(instance: Instance, recipe: Recipe, committed: datetime | None = None) -> tuple[str, ...]:
    """Return times, as ISO text in UTC, after which no package may have been uploaded; the first that works counts.

    They are the starts of the instance's quarter, month and week, so that neighbours share packages, and its own time;
    with the recipe's ``cutoff_days``, only its own time and these days more. Its time is that of its row, or of its
    base commit where that is later: pull requests are brought up to date for years. No cut-off is before the toolchain
    was in use: older packages do not run on it.
    """
    created = instance.created_at if instance.created_at.tzinfo else instance.created_at.replace(tzinfo=UTC)
    created = max(created, committed or created)
    exact = created + timedelta(days=recipe.cutoff_days or 0)
    wanted = [*epochs(created), exact] if recipe.cutoff_days is None else [exact]
    known = load_versions(recipe.language)
    version = known.versions.get(recipe.toolchain or known.default)
    if version and version.released:
        in_use = datetime.combine(version.released, time.min, UTC) + RIPENING
        wanted = [max(moment, in_use) for moment in wanted]
    return tuple(dict.fromkeys(moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for moment in wanted))
