"""The date up to which packages are taken."""

from datetime import UTC, datetime, time, timedelta

from assay.harness.domain import Instance, Recipe, Service
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
    return tuple(dict.fromkeys(_format(max(moment, _find_first_use(recipe))) for moment in wanted))


def service_cutoff(service: Service, date: str, recipe: Recipe) -> str:
    """Return the time after which no package of a service may have been uploaded.

    ``date`` is that of the tests' packages, and ``recipe`` has the toolchain in which the service runs.
    """
    if service.as_of:
        return _format(datetime.combine(service.as_of, time.min, UTC))
    return _format(max(datetime.fromisoformat(date), _find_first_use(recipe)))


def _find_first_use(recipe: Recipe) -> datetime:
    """Return the time from which packages ran on a toolchain; the earliest there is if its release is not known."""
    known = load_versions(recipe.language)
    version = known.versions.get(recipe.toolchain or known.default)
    released = version.released if version else None
    return datetime.combine(released, time.min, UTC) + RIPENING if released else datetime.min.replace(tzinfo=UTC)


def _format(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
