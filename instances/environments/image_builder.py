"""Builds the images of instances: looks every layer up by name and builds the missing ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path

from assay.harness.domain import ImageSpec, Instance, PublishedImage, Recipe, Service, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.engines.layers import Layered
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.evaluation.protection import ROOT
from assay.harness.images.shelf import Shelf
from assay.harness.images.uses import Hold, Uses
from assay.instances.environments.grading_image import grading_spec, with_asking_base
from assay.instances.environments.image_specs import (
    LOCK_FILE,
    Packages,
    image_chain,
    published_spec,
    service_spec,
)
from assay.instances.environments.images_lock import Layer, keep_layer, keep_toolchain
from assay.instances.environments.known_images import KnownImages, fetch_known, known_key, send_known
from assay.instances.environments.layer_builder import LayerMaker
from assay.instances.environments.packages import PYTHON, PackageResolver
from assay.instances.environments.recipes import find_recipe
from assay.instances.leaks.audit import ImageAudit, ImageReport
from assay.instances.toolchains.images import Toolchain, UserImages, find_toolchain
from assay.instances.trees.sources import Sources, dated, tree_ref

NOT_IMPORTED = (
    "the image of {0} is not here, and the {1} engine builds none: write it to a file where it can be built "
    "(`assay images export`), and add that here (`assay images import FILE --engine {1}`)"
)


class ImageBuilder:
    """Builds images; safe to use from several threads and processes on one cache.

    A lock or a layer that fails is not tried again by the same builder: instances that share it share its failure.
    """

    def __init__(
        self,
        engine: Engine,
        sources: Sources,
        *,
        toolchains: UserImages | None = None,
        recipes: Sequence[Path] = (),
        shelf: Shelf | None = None,
        note: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Create a builder; it starts nothing.

        Args:
            engine: where images are looked up and built.
            sources: of repository trees; its cache also keeps locks and logs.
            toolchains: the user's images by language and version.
            recipes: folders of the user's own recipes.
            shelf: where images are found; by default the engine's own, without a registry and without a limit.
            note: called with one line before and after every slow step.
        """
        self.known = KnownImages(sources.cache)
        self.shelf = shelf or Shelf(engine, Uses(sources.cache / "uses"))
        self._engine = engine
        self._sources = sources
        self._toolchains = toolchains or {}
        self._recipes = recipes
        self._layers = LayerMaker(engine, sources, self.shelf, note)
        self._packages = PackageResolver(self._layers)
        self._alone = False
        self._audit = ImageAudit(engine, sources)

    @contextmanager
    def image(self, instance: Instance, patch: str | None = None) -> Iterator[str]:
        """Give the name of the image in which a patch is tested after building or pulling what the engine lacks of it.

        Without a patch it is the instance's own, in which solvers work; ``with_asking_base`` says which packages a
        patch adds. A published image is never added to. No process removes the image before the block ends.

        Raises:
            DataError: the instance's recipe file is wrong.
            EnvironmentFailure: the image cannot be built or pulled, gives the answer away, or the builder was aborted.
        """
        recipe = find_recipe(instance, self._recipes)
        asking = with_asking_base(instance, recipe, patch)
        key = known_key(asking or instance, recipe, self._toolchains)
        with self.shelf.uses.hold() as hold:
            yield self._found(key, hold) or self._worked_out(instance, asking, recipe, key, hold)

    def image_of(self, instance: Instance, patch: str | None = None) -> str:
        """Return the name of an image, as ``image`` gives it; from then on it may be removed."""
        with self.image(instance, patch) as name:
            return name

    def audit(self, instance: Instance) -> ImageReport:
        """Return what an instance's image gives away, after building or pulling it; a published one as it is.

        Raises:
            EngineError: the engine does not show the layers of images. Others as for ``image``.
        """
        if isinstance(instance.environment, PublishedImage):
            return self._audit.report(self._layers.pulled(instance.environment.image).name, instance, strict=False)
        recipe = find_recipe(instance, self._recipes)
        with self.shelf.uses.hold() as hold:
            image = self._own(instance, recipe, find_toolchain(recipe, self._toolchains, self._engine), hold)[0]
            return self._audit.report(image, instance, self._sources.ancestors(tree_ref(instance)))

    def key_of(self, instance: Instance, patch: str | None = None) -> str:
        """Return the key under which ``known`` keeps the name of an image; raises DataError."""
        recipe = find_recipe(instance, self._recipes)
        return known_key(with_asking_base(instance, recipe, patch) or instance, recipe, self._toolchains)

    def files_of(self, instance: Instance, patch: str | None = None) -> dict[str, bytes]:
        """Return what another machine's cache needs of this one to test a patch, by path; raises DataError."""
        return self.known.files(self.key_of(instance, patch), instance, find_recipe(instance, self._recipes))

    def rebuild(self, chain: Sequence[Toolchain | ImageSpec]) -> None:
        """Build or pull what the engine lacks of a chain of images, given from the lowest up.

        Raises:
            EnvironmentFailure: an image cannot be built or pulled, or the builder was aborted.
        """
        with self.shelf.uses.hold() as hold:
            hold.add(*(each.name for each in chain))
            for each in chain:
                if isinstance(each, ImageSpec):
                    self._layers.layer(each)
                elif each.is_made:
                    self._layers.toolchain(each)
                elif (found := self._layers.pulled(each.name)).digest != each.identity:
                    raise EnvironmentFailure(f"{each.name} is {found.digest} now; the lock has {each.identity}")

    def lone(self) -> "ImageBuilder":
        """Return this builder as one that builds no trees which only neighbours of an instance would share."""
        other = copy(self)
        other._alone = True
        return other

    def learn(self, instance: Instance) -> None:
        """Ask the registry, if there is one, for what another machine knows of an instance; raises EngineError."""
        if self.shelf.registry:
            self._learn(self.key_of(instance))

    def found(self, instance: Instance, patch: str | None = None) -> str:
        """Return the name of an image if it is known and here or in the registry, else ""; build nothing."""
        with self.shelf.uses.hold() as hold:
            return self._found(self.key_of(instance, patch), hold)

    def abort(self) -> None:
        """Start no further step; calls that need one raise EnvironmentFailure."""
        self._layers.abort()

    def _learn(self, key: str) -> None:
        if self.shelf.registry and not self.known.find(key):
            self.known.adopt(fetch_known(self.shelf.registry, key))

    def _found(self, key: str, hold: Hold) -> str:
        """Return the image that a key is known to stand for, if the engine or the registry has all of it; else ""."""
        self._learn(key)
        name = self.known.find(key)
        layers = self.known.layers(name) if name else []
        hold.add(*(layer.name for layer in layers))
        needed = [name, *(service for layer in layers for service in layer.services)]
        return name if layers and self._is_current(layers) and all(map(self.shelf.has, needed)) else ""

    def _is_current(self, layers: Sequence[Layer]) -> bool:
        """Return whether no image of other origin below these layers has got another content under its name."""
        ours = {layer.name for layer in layers}
        others = {layer.name: layer.below for layer in layers if not layer.dockerfile and not layer.toolchain}
        others |= {layer.parent: layer.below for layer in layers if layer.parent and layer.parent not in ours}
        found = {name: self._engine.find_image(name) for name in others}
        return all(info is None or info.digest == others[name] for name, info in found.items())

    def _worked_out(self, instance: Instance, asking: Instance | None, recipe: Recipe, key: str, hold: Hold) -> str:
        """Return the image of an instance, or of it over ``asking``, after building what is missing."""
        if not self._engine.builds_images:
            raise ImageMissing(NOT_IMPORTED.format(instance.id, self._engine.name))
        if isinstance(instance.environment, PublishedImage):
            name = self._handed_over(instance, instance.environment, hold)
        else:
            name = self._built(instance, asking, recipe, hold)
        self.known.keep(key, name)
        self.shelf.send(partial(send_known, key=key, files=self.known.files(key, instance, recipe)))
        return name

    def _handed_over(self, instance: Instance, published: PublishedImage, hold: Hold) -> str:
        """Return the image over a published one in which tests run, if possible as an unprivileged user, else as root.

        Raises:
            EnvironmentFailure: it cannot be pulled, or its repository cannot be reduced to the base commit.
        """
        hold.add(published.image)
        digest = self._layers.pulled(published.image).digest
        keep_toolchain(Toolchain(published.image, digest), self._sources.cache)
        spec = published_spec(instance, published, digest, TestPlan(command="").user)
        hold.add(spec.name)
        try:
            self._layers.layer(spec)
        except EnvironmentFailure as error:
            self._layers.note(f"tests in {published.image} run as root: {error}")
            spec = published_spec(instance, published, digest, ROOT)
            hold.add(spec.name)
            self._layers.layer(spec)
        keep_layer(spec, self._sources.cache)
        return spec.name

    def _built(self, instance: Instance, asking: Instance | None, recipe: Recipe, hold: Hold) -> str:
        base = find_toolchain(recipe, self._toolchains, self._engine)
        image, packages = self._own(instance, recipe, base, hold)
        if isinstance(self._engine, Layered):
            self._audit.require(image, instance, self._sources.ancestors(tree_ref(instance)))
        if asking is None:
            return image
        _, asked = self._packages.of_instance(asking, recipe, base, preferred=packages.files.get(LOCK_FILE, ""))
        return image if asked.files == packages.files else self._added(grading_spec(asking, recipe, image, asked), hold)

    def _own(self, instance: Instance, recipe: Recipe, base: Toolchain, hold: Hold) -> tuple[str, Packages]:
        """Return the name of an instance's own image and its packages, after building what is missing."""
        hold.add(base.name)
        self._sources.tree(tree_ref(instance))  # fetched first: a commit's time is known only once it is here
        instance = dated(instance, self._sources)
        date, packages = self._packages.of_instance(instance, recipe, base)
        services = {service.name: self._service(recipe, service, date, hold) for service in recipe.services}
        ancestors = () if self._alone else self._sources.ancestors(tree_ref(instance))
        ways = [image_chain(instance, recipe, base, packages, services, way) for way in dict.fromkeys((ancestors, ()))]
        for specs in ways:
            hold.add(*(spec.name for spec in specs))
        made = next((specs for specs in ways if self.shelf.has(specs[-1].name)), None)
        return self._kept(base, made or self._made(base, ways)), packages

    def _added(self, spec: ImageSpec, hold: Hold) -> str:
        """Return the name of an image over another one after building it if need be."""
        hold.add(spec.name)
        keep_layer(spec, self._sources.cache)
        self._layers.layer(spec)
        return spec.name

    def _made(self, base: Toolchain, ways: Sequence[tuple[ImageSpec, ...]]) -> tuple[ImageSpec, ...]:
        """Build the first chain of images that can be built; an older tree may not go with the packages of a newer."""
        *shared, alone = ways
        for specs in shared:
            try:
                self._layers.chain(base, specs)
            except EnvironmentFailure as error:
                if self._layers.is_aborted or specs[0].name in self._layers.failures:
                    raise
                self._layers.note(f"{specs[-1].name} cannot share the trees of its neighbours: {error}")
            else:
                return specs
        self._layers.chain(base, alone)
        return alone

    def _kept(self, base: Toolchain, specs: tuple[ImageSpec, ...]) -> str:
        """Keep what images are made of, and return the last one's name."""
        keep_toolchain(base, self._sources.cache)
        for spec in specs:
            keep_layer(spec, self._sources.cache)
        return specs[-1].name

    def _service(self, recipe: Recipe, service: Service, date: str, hold: Hold) -> str:
        """Return the name of a service's image after building what the engine lacks of it."""
        recipe = recipe if recipe.language == PYTHON else Recipe(language=PYTHON)
        base = find_toolchain(recipe, self._toolchains, self._engine)
        spec = service_spec(recipe, base, self._packages.of_service(service, base, date), date)
        hold.add(base.name, spec.name)
        keep_toolchain(base, self._sources.cache)
        keep_layer(spec, self._sources.cache)
        self._layers.toolchain(base)
        self._layers.layer(spec)
        return spec.name
