"""The date up to which packages are taken."""

from datetime import UTC, datetime, time, timedelta

from assay.harness.domain import Instance, Recipe
from assay.instances.toolchains.versions import versions_of

RIPENING = timedelta(days=90)
"""Wheels for a new Python take some weeks to appear."""


def cutoff(instance: Instance, recipe: Recipe) -> str:
    """Return the time, as ISO text in UTC, after which no package may have been uploaded.

    It is the instance's own time, but not before the toolchain was in use: older packages do not run on it.
    """
    created = instance.created_at if instance.created_at.tzinfo else instance.created_at.replace(tzinfo=UTC)
    wanted = created + timedelta(days=recipe.cutoff_days)
    known = versions_of(recipe.language)
    version = known.versions.get(recipe.toolchain or known.default)
    moment = wanted
    if version and version.released:
        moment = max(wanted, datetime.combine(version.released, time.min, UTC) + RIPENING)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
