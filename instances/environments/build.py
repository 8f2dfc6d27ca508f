"""Brings an instance's image into being: looks every layer up by name and builds what is missing."""

import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assay.harness.domain import ImageSpec, Instance, PublishedImage, Recipe, Service, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.files import locked, replace_file
from assay.instances.environments.images import Packages, image_chain, manifest_packages, python_packages, service_spec
from assay.instances.environments.pins import manifests
from assay.instances.environments.pins.project import read_build_system
from assay.instances.environments.pins.pypi import LockRequest, lock_request, resolve, service_lock_request
from assay.instances.environments.plan import make_plan
from assay.instances.environments.recipes import find_recipe
from assay.instances.toolchains.ensure import Make, ensure, scratch_folder
from assay.instances.toolchains.host import IN_BOX, linux_uv, write_secrets
from assay.instances.toolchains.images import Toolchain, UserImages, bootstrap, find_toolchain
from assay.instances.trees.sources import Sources, dated, tree_ref

SERVED = "python"
"""The language whose packages are resolved as of a date, one by one; services beside tests are written in it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An image that is there, the layers of ours that it is made of (lowest first), and how to run the tests in it."""

    image: str
    chain: tuple[str, ...]
    plan: TestPlan


class Builder:
    """Prepares images; safe to use from several threads and processes on one cache."""

    def __init__(
        self,
        engine: Engine,
        sources: Sources,
        *,
        toolchains: UserImages | None = None,
        recipes: Sequence[Path] = (),
        note: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Take the parts.

        Args:
            engine: where images are looked up and built.
            sources: where trees come from; its cache keeps locks and logs too.
            toolchains: the user's images by language and version.
            recipes: folders of the user's own recipes.
            note: told of every step that takes time, in one line each.
        """
        self._engine = engine
        self._sources = sources
        self._toolchains = toolchains or {}
        self._recipes = recipes
        self._note = note
        self._aborted = threading.Event()

    def image(self, instance: Instance) -> str:
        """Return the name of an instance's image, which is on the engine then; raises EnvironmentFailure."""
        if isinstance(instance.environment, PublishedImage):
            return self._published(instance.environment.image)
        return self._chain(instance, find_recipe(instance, self._recipes))[-1]

    def prepare(self, instance: Instance) -> Prepared:
        """Return an instance's image, which is on the engine then, and its plan; raises EnvironmentFailure."""
        recipe = find_recipe(instance, self._recipes)
        plan = make_plan(instance, recipe)
        if isinstance(instance.environment, PublishedImage):
            image = self._published(instance.environment.image)
            return Prepared(image, (image,), plan)
        chain = self._chain(instance, recipe)
        return Prepared(chain[-1], chain, plan)

    def abort(self) -> None:
        """Begin no further step."""
        self._aborted.set()

    def _published(self, name: str) -> str:
        if self._engine.find_image(name) is None:
            self._note(f"pulling {name}")
            try:
                self._engine.pull(name)
            except ImageMissing as error:
                raise EnvironmentFailure(str(error)) from error
        return name

    def _chain(self, instance: Instance, recipe: Recipe) -> tuple[str, ...]:
        base = find_toolchain(recipe, self._toolchains, self._engine)
        self._sources.tree(tree_ref(instance))
        instance = dated(instance, self._sources)
        packages = self._packages(instance, recipe, base)
        services = {service.name: self._service(instance, recipe, service) for service in recipe.services}
        specs = image_chain(instance, recipe, base, packages, services)
        if self._engine.find_image(specs[-1].name) is None:
            self._ensure_toolchain(base)
            for spec in specs:
                self._ensure(spec.name, partial(self._build, spec))
        return (base.name, *(spec.name for spec in specs))

    def _packages(self, instance: Instance, recipe: Recipe, base: Toolchain) -> Packages:
        """Return what an instance's lock adds to its images, the lock resolved."""
        if recipe.language == SERVED:
            system = read_build_system(self._sources.read_file(tree_ref(instance), "pyproject.toml"))
            lock = self._lock(lock_request(instance, recipe, base, system), base)
            return python_packages(instance, recipe, lock, system)
        lock = manifests.lock(instance, recipe, self._sources.tree(tree_ref(instance)))
        return manifest_packages(instance, recipe, lock)

    def _service(self, instance: Instance, recipe: Recipe, service: Service) -> str:
        """Return the name of a service's image, which is on the engine then; services are Python programs."""
        recipe = recipe if recipe.language == SERVED else Recipe(language=SERVED)
        base = find_toolchain(recipe, self._toolchains, self._engine)
        lock = self._lock(service_lock_request(instance, recipe, service, base), base)
        spec = service_spec(instance, recipe, base, lock)
        self._ensure_toolchain(base)
        self._ensure(spec.name, partial(self._build, spec))
        return spec.name

    def _lock(self, request: LockRequest, base: Toolchain) -> str:
        """Return a lock from the cache, or resolve and keep it."""
        kept = self._sources.cache / "locks" / f"{request.key}.txt"
        if not kept.is_file():
            self._ensure_toolchain(base)
            with locked(kept.with_suffix(".lock")):
                if not kept.is_file():
                    self._begin(f"resolving packages of {request.owner} as of {request.cutoff}")
                    text = self._resolve(request, base)
                    replace_file(kept, text.encode())
        return kept.read_text(encoding="utf-8")

    def _resolve(self, request: LockRequest, base: Toolchain) -> str:
        with scratch_folder(self._sources.cache) as scratch:
            files = {f"{IN_BOX}/{key}": path for key, path in write_secrets(Path(scratch)).items()}
            files["/run/uv"] = linux_uv(self._sources.cache)
            tree = self._sources.tree(request.tree) if request.tree else None
            return resolve(request, base.name, self._engine, tree, files)

    def _ensure_toolchain(self, base: Toolchain) -> None:
        if base.suite:
            self._ensure(base.name, partial(self._bootstrap, base))

    def _ensure(self, name: str, make: Make) -> None:
        ensure(name, self._engine, self._sources.cache, make, self._begin)

    def _begin(self, what: str) -> None:
        if self._aborted.is_set():
            raise EnvironmentFailure(f"interrupted before {what}")
        self._note(what)

    def _bootstrap(self, base: Toolchain, scratch: Path, log: Path) -> None:
        bootstrap(base, self._engine, scratch, log)

    def _build(self, spec: ImageSpec, scratch: Path, log: Path) -> None:
        context = scratch / "context"
        context.mkdir()
        (context / "Dockerfile").write_text(spec.dockerfile, encoding="utf-8")
        for name, text in spec.files.items():
            file = context / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if spec.tree is not None:
            shutil.copyfile(self._sources.tree(spec.tree), context / "tree.tar")
        if "requirements.txt" in spec.files:
            shutil.copy2(linux_uv(self._sources.cache), context / "uv")
        secrets = write_secrets(scratch) if spec.fetches else {}
        self._engine.build(spec.name, context, log, secrets=secrets, labels=spec.labels)
