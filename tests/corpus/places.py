"""Where instances of the corpus are played: repositories and images, each made once."""

from functools import cached_property
from pathlib import Path

from assay.harness.domain import Instance, PublishedImage
from assay.harness.engines.docker import DockerEngine
from corpus.model import Row, corpus
from corpus.stage import Place, make_mirror
from lookalikes import END, START, build_lookalike, eval_script


class Places:
    """Images and plans of the corpus's instances on an engine.

    Args:
        engine: builds the images.
        root: folder of the projects' repositories.
        commits: base commit of each language's project.
    """

    def __init__(self, engine: DockerEngine, root: Path, commits: dict[str, str]) -> None:
        self.engine, self.root, self.commits = engine, root, commits
        self._own: dict[tuple[str, str], Place] = {}

    def prepare(self, language: str, name: str) -> Place:
        """Prepare an instance in an image of Assay's own."""
        if (language, name) not in self._own:
            self._own[language, name] = self._build(corpus().projects[language].instance(name, self.commits[language]))
        return self._own[language, name]

    def prepare_published(self, name: str, row: Row) -> Place:
        """Prepare an instance of the Python project in a look-alike of a published image."""
        own = self.prepare("python", name)
        image = f"assay-test/lookalike:{own.image.rpartition(':')[2]}"
        if self.engine.find_image(image) is None:
            repository = self.root / own.instance.repo
            build_lookalike(self.engine, image, own.image, repository, self.commits["python"])
        environment = PublishedImage(image=image, eval_script=write_script(own.instance, row))
        return self._build(own.instance.model_copy(update={"environment": environment}))

    @cached_property
    def _builder(self):
        from assay.instances.environments.image_builder import ImageBuilder
        from assay.instances.trees.sources import Sources

        return ImageBuilder(self.engine, Sources([self.root]))

    def _build(self, instance: Instance) -> Place:
        from assay.instances.environments.plan import make_plan
        from assay.instances.environments.recipes import find_recipe

        return Place(instance, self._builder.build_image(instance), make_plan(instance, find_recipe(instance)))


def make_mirrors(root: Path) -> dict[str, str]:
    """Make the repositories of all projects; return the base commit of each language's."""
    return {language: make_mirror(root, project) for language, project in corpus().projects.items()}


def write_script(instance: Instance, row: Row) -> str:
    """Return the script of a row."""
    script = eval_script(instance, row.tests, row.install, row.prepare)
    if not row.markers:
        script = script.replace(START, "").replace(END, "")
    return script.replace("\n", "\r\n") if row.dos else script
