"""Reads the files of ``dockerfiles/``, from which images are built."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.harness import languages
from assay.harness.errors import EnvironmentFailure


def all_build_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file of ``dockerfiles/``, in a fixed order."""
    folders = [resources.files("assay").joinpath("dockerfiles")]
    while folders:
        for entry in sorted(folders.pop().iterdir(), key=lambda each: each.name):
            if entry.is_dir():
                folders.append(entry)
            elif not entry.name.endswith(".pyc"):
                yield entry.name, entry.read_bytes()


def build_text(path: str, language: str = "") -> str:
    """Read a file of a language's folder in ``dockerfiles/``, or a shared file if no language is given.

    A plug-in's folder is in ``dockerfiles/`` beside its module. Raises EnvironmentFailure, or UserError.
    """
    if text := find_text(path, language):
        return text
    name = f"{languages.find(language).DOCKERFILES}/" if language else ""
    raise EnvironmentFailure(f"language {language!r} has no build file dockerfiles/{name}{path}")


def compile_texts(language: str) -> dict[str, str]:
    """Return the script that compiles the modules of a new tree, by its name, if the language has one."""
    files = [folder.joinpath("compile.sh") for folder in _folders(language)]
    return {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}


def find_text(path: str, language: str = "") -> str:
    """Return a file as ``build_text`` does, or "" if there is none."""
    files = (folder.joinpath(path) for folder in _folders(language))
    return next((file.read_text(encoding="utf-8") for file in files if file.is_file()), "")


def runner_texts(language: str) -> dict[str, str]:
    """Read a language's folder ``runner``, name to text: programs that start tests or report their results.

    They are installed in ``/opt/assay``, where a patch cannot change them.
    """
    return _read_texts("runner", language)


def fetch_texts(language: str) -> dict[str, str]:
    """Read a language's folder ``fetch``, name to text: programs that its script ``fetch.sh`` uses."""
    return _read_texts("fetch", language)


def _read_texts(name: str, language: str) -> dict[str, str]:
    folders = [folder.joinpath(name) for folder in _folders(language)]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir() if file.is_file()]
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def _folders(language: str) -> list[Traversable]:
    shared = resources.files("assay").joinpath("dockerfiles")
    if not language:
        return [shared]
    module = languages.find(language)
    beside = Path(getattr(module, "__file__", None) or "").parent / "dockerfiles"
    return [place.joinpath(module.DOCKERFILES) for place in (shared, beside)]
