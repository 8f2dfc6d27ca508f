"""The date as of which packages are taken: the same on every machine, whatever its cache holds."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.harness.domain import Recipe
from assay.harness.errors import EngineError, EnvironmentFailure
from assay.instances.environments.packages import PackageResolver
from assay.instances.environments.pins.cutoff import cutoffs
from assay.instances.toolchains.images import Toolchain
from toy import make_instance

BASE = Toolchain("assay/toolchain-python:3.11-x", "assay/toolchain-python:3.11-x")
RECIPE = Recipe(toolchain="3.11")


class Index:
    """Resolves packages as of some dates; ``asked`` has each date that was tried."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.refused: set[str] = set()
        self.silent = False
        self.committed: datetime | None = None
        layers = SimpleNamespace(
            sources=SimpleNamespace(
                cache=folder, read_file=lambda _ref, _path: None, commit_time=lambda _ref: self.committed
            ),
            build=lambda _base: None,
            begin=lambda _what: None,
            note=lambda _text: None,
            is_aborted=False,
            failures=SimpleNamespace(step=lambda _name: nullcontext()),
        )
        self.resolver = PackageResolver(layers)  # type: ignore[arg-type]
        monkeypatch.setattr(
            PackageResolver, "_run_resolver", lambda _self, request, _base, _preferred: self.resolve(request)
        )

    def resolve(self, request) -> str:
        self.asked.append(request.cutoff)
        if self.silent:
            raise EngineError("no answer")
        if request.cutoff in self.refused:
            raise EnvironmentFailure("no solution")
        return f"flask==1 # as of {request.cutoff}\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    return Index(tmp_path, monkeypatch)


@pytest.fixture
def instance():
    return make_instance(created_at=datetime(2023, 5, 17, tzinfo=UTC))


def test_first_date_that_resolves_is_taken_and_the_refused_are_asked_once(index: Index, instance):
    quarter, month, *_ = cutoffs(instance, RECIPE)
    index.refused = {quarter}
    for _ in range(2):
        assert index.resolver.resolve(instance, RECIPE, BASE)[0] == month
    assert index.asked == [quarter, month]


def test_lock_of_a_later_date_in_the_cache_changes_nothing(index: Index, instance):
    quarter = cutoffs(instance, RECIPE)[0]
    exact = RECIPE.model_copy(update={"cutoff_days": 0})
    index.resolver.resolve(instance, exact, BASE)
    assert index.resolver.resolve(instance, RECIPE, BASE)[0] == quarter


@pytest.mark.parametrize(
    ("committed", "quarter"),
    [
        (datetime(2024, 8, 2, 23, tzinfo=timezone(timedelta(hours=-5))), "2024-07-01T00:00:00Z"),
        (datetime(2021, 8, 2, tzinfo=UTC), "2023-04-01T00:00:00Z"),
    ],
)
def test_packages_are_of_the_base_commits_time_where_it_is_later(
    index: Index, instance, committed: datetime, quarter: str
):
    index.committed = committed
    assert index.resolver.resolve(instance, RECIPE, BASE)[0] == quarter


def test_index_that_does_not_answer_refuses_nothing(index: Index, instance):
    index.silent = True
    with pytest.raises(EngineError):
        index.resolver.resolve(instance, RECIPE, BASE)
    index.silent = False
    assert index.resolver.resolve(instance, RECIPE, BASE)[0] == cutoffs(instance, RECIPE)[0]
