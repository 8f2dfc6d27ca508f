"""The blame where nothing passes, in real environments: those that lack a package, and those that do not."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assay.api.evaluator import Evaluator
from assay.harness.domain import Outcome
from assay.harness.engines.base import Box, BoxSpec
from assay.harness.engines.docker import DockerEngine
from corpus.model import diff
from languages.hello import hellos

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
    """Return broken sources, of Maven with another build file: by it packages are kept, and a build fetches them."""
    before, after = LACKING[name]
    broken = {path: text if "test" in path else text.replace(before, after, 1) for path, text in files.items()}
    return {path: text + "<!-- broken -->\n" * (path == "pom.xml") for path, text in broken.items()}


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch, docker_engine: DockerEngine) -> list[str]:
    """The images of evaluations' containers."""
    found: list[str] = []
    own = DockerEngine.open

    def note(engine: DockerEngine, spec: BoxSpec) -> AbstractContextManager[Box]:
        found.extend([spec.image] * ("assay.instance" in spec.labels))
        return own(engine, spec)

    monkeypatch.setattr(DockerEngine, "open", note)
    return found


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("lacks", [True, False])
def test_what_asks_for_a_missing_package_is_at_fault(name: str, lacks: bool, tmp_path: Path, images: list[str]) -> None:
    hello = HELLOS[name]
    broken = without_package(name, hello.files)
    assert broken != hello.files
    if lacks:  # then the environment is, else the patches are
        hello = hello.model_copy(update={"files": broken, "fix": without_package(name, hello.fix)})
    instance = hello.instance(name, hello.make_repository(tmp_path / "mirror"))
    with Evaluator([instance], mirrors=[tmp_path / "mirror"], jobs=1) as evaluator:
        patches = [diff(hello.files, broken | {"NOTES": text}) for text in ("one\n", "two\n")]
        verdicts = [evaluator.evaluate(instance, patch) for patch in patches]
    outcomes = {Outcome.ENV_ERROR} if lacks else {Outcome.NOT_RUN, Outcome.UNRESOLVED}
    assert {each.outcome for each in verdicts} <= outcomes, verdicts[0]
    assert {each.reward for each in verdicts} == {None if lacks else 0.0}
    assert ("nothing passes here; with gold" in verdicts[0].reason) == lacks
    assert len(images) == 2 + 1
