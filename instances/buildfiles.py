"""What images are built with: the texts of ``dockerfiles/``."""

from importlib import resources
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
    places = [resources.files("assay").joinpath("dockerfiles")]
    name = ""
    if language:
        module = languages.find(language)
        name = module.DOCKERFILES
        places.append(Path(getattr(module, "__file__", None) or "").parent / "dockerfiles")
    for place in places:
        file = place.joinpath(name, path)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise EnvironmentFailure(f"language {language!r} has no build file dockerfiles/{name}/{path}")
