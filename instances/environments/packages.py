"""Resolves the packages of an instance: their date and their lock."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from assay.harness.domain import Instance, Recipe, Service
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import hold_lock, replace_file, write_file
from assay.instances.environments.image_specs import Packages, manifest_packages, python_packages
from assay.instances.environments.layer_builder import LayerBuilder
from assay.instances.environments.pins import pypi_lock
from assay.instances.environments.pins.build_system import find_build_system
from assay.instances.environments.pins.cutoff import cutoffs
from assay.instances.environments.pins.manifest_lock import make_manifest_lock
from assay.instances.environments.pins.pypi_lock import LockRequest
from assay.instances.toolchains.ensure import scratch_folder
from assay.instances.toolchains.host import IN_BOX, linux_uv, write_secrets
from assay.instances.toolchains.images import Toolchain
from assay.instances.toolchains.optional_index import index_answers
from assay.instances.trees.sources import tree_ref

PYTHON = "python"
"""The language whose packages are resolved one by one, as of a date; services beside tests are Python programs too."""


class PackageResolver:
    """Resolves packages, and keeps their locks in the cache; safe to use from several threads and processes."""

    def __init__(self, layers: LayerBuilder) -> None:
        self._layers = layers
        self._sources = layers.sources

    def resolve(self, instance: Instance, recipe: Recipe, base: Toolchain, preferred: str = "") -> tuple[str, Packages]:
        """Return the cut-off date of an instance's packages, and the files that their lock adds to its images.

        The date is the first that works of the dates that it may have in common with its neighbours. Python's versions
        are taken from ``preferred``, a lock of the same base tree. Raises EnvironmentFailure if no date works.
        """
        dates = cutoffs(instance, recipe, self._sources.commit_time(tree_ref(instance)))
        if recipe.language != PYTHON:
            lock = make_manifest_lock(recipe, self._sources.tree(tree_ref(instance)), dates[0])
            index = index_answers(recipe.language) if recipe.uses_index is None else recipe.uses_index
            return dates[0], manifest_packages(instance, recipe, lock, dates[0], index=bool(index))
        system = find_build_system(partial(self._sources.read_file, tree_ref(instance)))
        requests = [pypi_lock.lock_request(instance, recipe, base, system, date) for date in dates]
        request = self._choose_request(requests, base, preferred)
        lock = self._lock(request, base, preferred)
        return request.cutoff, python_packages(instance, recipe, lock, system, request.cutoff)

    def lock_service(self, service: Service, base: Toolchain, date: str) -> str:
        """Return the lock of a service's packages as of a date; raises EnvironmentFailure."""
        return self._lock(pypi_lock.service_lock_request(service, base, date), base)

    def _choose_request(self, requests: Sequence[LockRequest], base: Toolchain, preferred: str) -> LockRequest:
        """Return the first request that resolves, else the last. Failed dates are cached."""
        *shared, own = requests
        for request in shared:
            if self._refusal_file(request).is_file():
                continue
            try:
                self._lock(request, base, preferred)
            except EnvironmentFailure as error:
                if self._layers.is_aborted:
                    raise
                self._layers.note(f"{error}; trying a later date")
                replace_file(self._refusal_file(request), str(error).encode())
            else:
                return request
        return own

    def _lock(self, request: LockRequest, base: Toolchain, preferred: str = "") -> str:
        kept = self._lock_file(request)
        if not kept.is_file():
            self._layers.build(base)
            with hold_lock(kept.with_suffix(".lock")), self._layers.failures.step(request.key):
                if not kept.is_file():
                    self._layers.begin(f"resolving packages of {request.owner} as of {request.cutoff}")
                    replace_file(kept, self._run_resolver(request, base, preferred).encode())
                    self._layers.note(f"resolved packages of {request.owner}")
        return kept.read_text(encoding="utf-8")

    def _lock_file(self, request: LockRequest) -> Path:
        return self._sources.cache / "locks" / f"{request.key}.txt"

    def _refusal_file(self, request: LockRequest) -> Path:
        return self._lock_file(request).with_suffix(".refused")

    def _run_resolver(self, request: LockRequest, base: Toolchain, preferred: str) -> str:
        with scratch_folder(self._sources.cache) as scratch:
            files = {f"{IN_BOX}/{key}": path for key, path in write_secrets(Path(scratch)).items()}
            files["/run/uv"] = linux_uv(self._sources.cache)
            tree = self._sources.tree(request.tree) if request.tree else None
            try:
                return pypi_lock.resolve_lock(request, base.name, self._layers.engine, tree, files, preferred)
            except EnvironmentFailure as error:
                log = self._sources.cache / "logs" / f"lock-{request.key}.log"
                write_file(log, error.tail.encode())
                raise EnvironmentFailure(error.problem, log_path=str(log), tail=error.tail, cause=error.cause) from None
