"""Builds the images of instances: looks every layer up by name and builds the missing ones."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from assay.harness.domain import ImageSpec, Instance, PublishedImage, Recipe, Service, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.evaluation.protection import ROOT
from assay.harness.images.shelf import Shelf
from assay.harness.images.uses import Hold, Uses
from assay.instances.environments.grading_image import make_grading_spec, patch_base
from assay.instances.environments.image_specs import (
    LOCK_FILE,
    Packages,
    find_cache_owner,
    make_image_chain,
    make_published_spec,
    make_service_spec,
)
from assay.instances.environments.images_lock import Layer, keep_layer, keep_toolchain
from assay.instances.environments.known_images import KnownImages, fetch_known, make_known_key, send_known
from assay.instances.environments.lacking import check_lacking
from assay.instances.environments.layer_builder import LayerBuilder
from assay.instances.environments.packages import PYTHON, PackageResolver
from assay.instances.environments.pins.cutoff import service_cutoff
from assay.instances.environments.recipes import find_recipe, read_recipe
from assay.instances.leaks.audit import ImageAudit, ImageReport
from assay.instances.toolchains.images import Toolchain, UserImages, find_toolchain
from assay.instances.trees.sources import Sources, fill_date, tree_ref

NOT_IMPORTED = (
    "the image of {0} is not here, and the {1} engine builds none: write it to a file where it can be built "
    "(`assay images export`), and add that here (`assay images import FILE --engine {1}`)"
)


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """An instance whose image is wanted, as it is or to test a patch in."""

    instance: Instance
    recipe: Recipe
    asking: Instance | None
    """The instance over the tree that asks for the packages with which the patch is graded; None if its own does."""
    key: str
    """Key under which ``KnownImages`` has the image's name."""


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
            sources: the repositories' trees; its cache also keeps locks and logs.
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
        self._layers = LayerBuilder(engine, sources, self.shelf, note)
        self._packages = PackageResolver(self._layers)
        self._alone = False
        self._audit = ImageAudit(engine, sources)

    def read_script(self, instance: Instance) -> Instance:
        """Return an instance with the script that its row's image holds, pulled if need be.

        It stays as it is if the row has the script, or if the image or the file cannot be had: ``image`` says why.
        """
        published = instance.environment
        if not isinstance(published, PublishedImage) or published.eval_script or not published.script_file:
            return instance
        try:
            script = self._layers.read_file(published.image, published.script_file)
        except EnvironmentFailure:
            return instance
        read = published.model_copy(update={"eval_script": script})
        return instance.model_copy(update={"environment": read})

    @contextmanager
    def image(self, instance: Instance, patch: str | None = None) -> Iterator[str]:
        """Give the name of the image in which a patch is tested, after building or pulling what the engine lacks of it.

        Without a patch it is the instance's own, in which solvers work; ``patch_base`` says which packages a
        patch adds. A published image is never added to. No process removes the image before the block ends.

        Raises:
            DataError: the instance's recipe file is wrong.
            EnvironmentFailure: the image cannot be built or pulled, gives the answer away, lacks a file that the
                evaluation needs, or the builder was aborted.
        """
        wanted = self._read_request(instance, patch)
        check_lacking(instance, wanted.recipe, patch or "")
        with self.shelf.uses.hold() as hold:
            yield self._find_known(wanted.key, hold) or self._build_missing(wanted, hold)

    def build_image(self, instance: Instance, patch: str | None = None) -> str:
        """Return the name of an image, as ``image`` gives it; from then on it may be removed."""
        with self.image(instance, patch) as name:
            return name

    def audit(self, instance: Instance) -> ImageReport:
        """Report what an instance's image leaks, built or pulled if needed; raises EngineError, or as ``image``."""
        if isinstance(instance.environment, PublishedImage):
            return self._audit.report(self._layers.pull(instance.environment.image).name, instance, strict=False)
        recipe = find_recipe(instance, self._recipes)
        with self.shelf.uses.hold() as hold:
            base = find_toolchain(recipe, self._toolchains, self._engine)
            image, _ = self._build_own(instance, recipe, base, hold)
            return self._audit.report(image, instance, self._sources.ancestors(tree_ref(instance)))

    def find_image(self, instance: Instance, patch: str | None = None) -> str:
        """Return the name of an image if it is known and here or in the registry, else ""; build nothing."""
        with self.shelf.uses.hold() as hold:
            return self._find_known(self.make_key(instance, patch), hold)

    def make_key(self, instance: Instance, patch: str | None = None) -> str:
        """Return the key under which ``known`` keeps the name of an image; raises DataError."""
        return self._read_request(instance, patch).key

    def read_files(self, instance: Instance, patch: str | None = None) -> dict[str, bytes]:
        """Return the files that another machine's cache needs to test a patch, by path; raises DataError."""
        wanted = self._read_request(instance, patch)
        return self.known.read_files(wanted.key, instance, wanted.recipe)

    def fetch_known(self, instance: Instance) -> None:
        """Ask the registry, if there is one, for what another machine knows of an instance; raises EngineError."""
        if self.shelf.registry:
            self._fetch_known(make_known_key(instance, read_recipe(instance, self._recipes), self._toolchains))

    def rebuild(self, chain: Sequence[Toolchain | ImageSpec]) -> None:
        """Build or pull what the engine lacks of a chain, given from the lowest up; raises EnvironmentFailure."""
        with self.shelf.uses.hold() as hold:
            hold.add(*(each.name for each in chain))
            for each in chain:
                if isinstance(each, ImageSpec) or each.is_made:
                    self._layers.build(each)
                elif (pulled := self._layers.pull(each.name)).digest != each.identity:
                    raise EnvironmentFailure(f"{each.name} is {pulled.digest} now; the lock has {each.identity}")

    def lone(self) -> "ImageBuilder":
        """Return this builder as one that builds no trees which only neighbours of an instance would share."""
        other = copy(self)
        other._alone = True
        return other

    def abort(self) -> None:
        """Start no further step; calls that need one raise EnvironmentFailure."""
        self._layers.abort()

    def _read_request(self, instance: Instance, patch: str | None) -> ImageRequest:
        recipe = find_recipe(instance, self._recipes)
        asking = patch_base(instance, recipe, patch)
        key = make_known_key(asking or instance, read_recipe(instance, self._recipes), self._toolchains)
        return ImageRequest(instance, recipe, asking, key)

    def _fetch_known(self, key: str) -> None:
        if self.shelf.registry and not self.known.find(key):
            self.known.adopt(fetch_known(self.shelf.registry, key))

    def _find_known(self, key: str, hold: Hold) -> str:
        """Return the image that a key is known to stand for, if the engine or the registry has all of it; else ""."""
        self._fetch_known(key)
        name = self.known.find(key)
        layers = self.known.read_layers(name) if name else []
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

    def _build_missing(self, wanted: ImageRequest, hold: Hold) -> str:
        """Build or pull what is missing of an image, and record its name."""
        if not self._engine.builds_images:
            raise ImageMissing(NOT_IMPORTED.format(wanted.instance.id, self._engine.name))
        if isinstance(wanted.instance.environment, PublishedImage):
            name = self._wrap_published(wanted.instance, wanted.instance.environment, hold)
        else:
            name = self._build_from_recipe(wanted, hold)
        self.known.keep(wanted.key, name)
        files = self.known.read_files(wanted.key, wanted.instance, wanted.recipe)
        self.shelf.send(lambda registry: send_known(registry, wanted.key, files))  # for other machines
        return name

    def _wrap_published(self, instance: Instance, published: PublishedImage, hold: Hold) -> str:
        """Build the image over a published one; tests run in it as an unprivileged user if possible, else as root."""
        if published.script_file and not published.eval_script:
            self._layers.read_file(published.image, published.script_file)
            raise EnvironmentFailure(f"{published.image} was not there when its tests were planned; run this again")
        hold.add(published.image)
        digest = self._layers.pull(published.image).digest
        keep_toolchain(Toolchain(published.image, digest), self._sources.cache)
        try:
            return self._build_layer(make_published_spec(instance, published, digest, TestPlan(command="").user), hold)
        except EnvironmentFailure as error:
            self._layers.note(f"tests in {published.image} run as root: {error}")
        return self._build_layer(make_published_spec(instance, published, digest, ROOT), hold)

    def _build_from_recipe(self, wanted: ImageRequest, hold: Hold) -> str:
        """Build an instance's own image and, over it, the packages for which a patch asks."""
        instance, recipe = wanted.instance, wanted.recipe
        base = find_toolchain(recipe, self._toolchains, self._engine)
        image, packages = self._build_own(instance, recipe, base, hold)
        if self._engine.layered:
            self._audit.require(image, instance, self._sources.ancestors(tree_ref(instance)))
        if wanted.asking is None:
            return image
        own_lock = packages.files.get(LOCK_FILE, "")
        _, asked = self._packages.resolve(wanted.asking, recipe, base, preferred=own_lock)
        if asked.files == packages.files:
            return image
        return self._build_layer(make_grading_spec(wanted.asking, recipe, image, asked), hold)

    def _build_own(self, instance: Instance, recipe: Recipe, base: Toolchain, hold: Hold) -> tuple[str, Packages]:
        """Return the name of an instance's own image and its packages, after building what is missing."""
        hold.add(base.name)
        self._sources.tree(tree_ref(instance))  # fetched first: a commit's time is known only once it is here
        instance = fill_date(instance, self._sources)
        date, packages = self._packages.resolve(instance, recipe, base)
        services = {
            service.name: self._build_service(instance, recipe, service, date, hold) for service in recipe.services
        }
        ancestors = () if self._alone else self._sources.ancestors(tree_ref(instance))
        trees = dict.fromkeys((ancestors, ()))
        chains = [make_image_chain(instance, recipe, base, packages, services, each) for each in trees]
        for specs in chains:
            hold.add(*(spec.name for spec in specs))
        there = (specs for specs in chains if self.shelf.has(specs[-1].name))
        chain = next(there, None) or self._layers.build_chain(base, chains)
        keep_toolchain(base, self._sources.cache)
        for spec in chain:
            keep_layer(spec, self._sources.cache)
        return chain[-1].name, packages

    def _build_service(self, instance: Instance, recipe: Recipe, service: Service, date: str, hold: Hold) -> str:
        recipe = recipe if recipe.language == PYTHON else Recipe(language=PYTHON)
        base, date = find_toolchain(recipe, self._toolchains, self._engine), service_cutoff(service, date, recipe)
        lock = self._packages.lock_service(service, base, date)
        hold.add(base.name)
        self._layers.build(base)
        keep_toolchain(base, self._sources.cache)
        spec = make_service_spec(recipe, base, lock, date, find_cache_owner(instance))
        return self._build_layer(spec, hold)

    def _build_layer(self, spec: ImageSpec, hold: Hold) -> str:
        hold.add(spec.name)
        self._layers.build(spec)
        keep_layer(spec, self._sources.cache)
        return spec.name
