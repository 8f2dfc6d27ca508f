"""The blame where nothing passes, in real environments: those that lack a package, and those that do not."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assay.api.evaluator import Evaluator
from assay.harness.domain import Environment, Outcome
from assay.harness.engines.base import Box, BoxSpec
from assay.harness.engines.docker import DockerEngine
from corpus.model import diff
from languages.hello import Hello, hellos

HELLOS = dict(hellos())
LACKING = {
    "python-pytest": ("def hello(", "import no_such_module\n\n\ndef hello("),
    "ruby-minitest": ("def hello(", 'require "no_such_gem"\n\ndef hello('),
    "ruby-rspec": ("def hello(", 'require "no_such_gem"\n\ndef hello('),
    "javascript-node-test": ("exports.second", 'require("no-such-package");\nexports.second'),
    "javascript-mocha": ("exports.", 'require("no-such-package");\nexports.'),
    "typescript-vitest": ("export ", 'import "no-such-package";\nexport '),
    "php-phpunit": ("class Hello\n", "\\NoSuch\\Package::load();\n\nclass Hello\n"),
    "rust-cargo": ("fastrand::Rng", "no_such_crate::Rng"),
    "c-make": ("const char *hello", "#include <no_such.h>\nconst char *hello"),
    "java-maven": ("public class Hello ", "import no.such.Library;\n\npublic class Hello "),
}
"""What in a project's sources becomes what needs a package that no image has."""
OFTEN = {"python-pytest", "ruby-minitest"}
ROWS = [
    pytest.param(name, marks=[HELLOS[name].toolchain, *[pytest.mark.exhaustive] * (name not in OFTEN)])
    for name in LACKING
]
pytestmark = [pytest.mark.docker, pytest.mark.network]


def without_package(name: str, files: Mapping[str, str]) -> dict[str, str]:
    before, after = LACKING[name]
    return {path: text if "test" in path else text.replace(before, after, 1) for path, text in files.items()}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, docker_engine: DockerEngine) -> list[str]:
    """The images of evaluations' containers."""
    images: list[str] = []
    own = DockerEngine.open

    def note(engine: DockerEngine, spec: BoxSpec) -> AbstractContextManager[Box]:
        images.extend([spec.image] * ("assay.instance" in spec.labels))
        return own(engine, spec)

    monkeypatch.setattr(DockerEngine, "open", note)
    return images


@pytest.mark.parametrize("name", ROWS)
def test_an_environment_that_lacks_a_package_is_at_fault(name: str, tmp_path: Path, opened: list[str]) -> None:
    whole = HELLOS[name]
    parts = {part: without_package(name, getattr(whole, part)) for part in ("files", "fix")}
    assert parts["files"] != whole.files
    lacking = whole.model_copy(update=parts)
    patches = [diff(lacking.files, lacking.files | {"NOTES": text}) for text in ("one\n", "two\n")]
    verdicts = judge(name, lacking, tmp_path, patches)
    assert {(each.outcome, each.reward) for each in verdicts} == {(Outcome.ENV_ERROR, None)}
    assert "with the gold patch too" in verdicts[0].reason
    assert len(opened) == 2 + 1


@pytest.mark.parametrize("name", ROWS)
def test_patches_that_ask_a_sound_environment_for_what_it_lacks_are_at_fault(
    name: str, tmp_path: Path, opened: list[str]
) -> None:
    hello = HELLOS[name]
    broken = without_package(name, hello.files)
    patches = [diff(hello.files, broken | {"NOTES": text}) for text in ("one\n", "two\n")]
    verdicts = judge(name, hello, tmp_path, patches)
    assert {each.outcome for each in verdicts} <= {Outcome.NOT_RUN, Outcome.UNRESOLVED}, verdicts[0]
    assert {each.environment for each in verdicts} == {Environment.RECIPE}
    assert len(opened) == 2 + 1


def judge(name, hello: Hello, folder: Path, patches):
    instance = hello.instance(name, hello.make_repository(folder / "mirror"))
    with Evaluator([instance], mirrors=[folder / "mirror"], jobs=1) as evaluator:
        return [evaluator.evaluate(instance, patch) for patch in patches]
