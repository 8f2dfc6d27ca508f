"""What images are built with: the texts of ``dockerfiles/``."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.harness import languages
from assay.harness.errors import EnvironmentFailure


def build_text(path: str, language: str = "") -> str:
    """Return a text of ``dockerfiles/``: of a language's folder there, or without one of the files that all share.

    The author of a language from elsewhere ships such a folder in ``dockerfiles/`` beside its module.

    Raises:
        EnvironmentFailure: there is no such text.
        UserError: there is no such language.
    """
    for folder in _folders(language):
        file = folder.joinpath(path)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    name = f"{languages.find(language).DOCKERFILES}/" if language else ""
    raise EnvironmentFailure(f"language {language!r} has no build file dockerfiles/{name}{path}")


def runner_texts(language: str) -> dict[str, str]:
    """Return the files of a language's folder ``runner``, by name: programs that start and report tests.

    An instance's image has them in ``/opt/assay``, where no patch can reach them.

    Raises:
        UserError: there is no such language.
    """
    folders = [folder.joinpath("runner") for folder in _folders(language)]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir() if file.is_file()]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def _folders(language: str) -> list[Traversable]:
    shared = resources.files("assay").joinpath("dockerfiles")
    if not language:
        return [shared]
    module = languages.find(language)
    beside = Path(getattr(module, "__file__", None) or "").parent / "dockerfiles"
    return [place.joinpath(module.DOCKERFILES) for place in (shared, beside)]
