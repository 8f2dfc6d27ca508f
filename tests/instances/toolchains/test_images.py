import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, open_engine
from assay.harness.errors import EnvironmentFailure, UserError
from assay.harness.languages import LANGUAGES
from assay.instances.toolchains import images
from assay.instances.toolchains.images import find_toolchain
from assay.instances.toolchains.versions import versions_of


@pytest.fixture
def engine() -> FakeEngine:
    return open_engine()


def test_each_python_has_its_debian_release_and_its_own_name(engine: FakeEngine):
    found = [find_toolchain(Recipe(toolchain=version), {}, engine) for version in ("3.9", "3.11", "3.13")]

    assert [each.suite for each in found] == ["bullseye", "bookworm", "trixie"]
    assert len({each.name for each in found}) == 3
    assert found[1].name.startswith("assay/toolchain-python:3.11-")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_default_version_of_each_language_comes_from_debian(engine: FakeEngine, language: str):
    usual = find_toolchain(Recipe(language=language), {}, engine)

    assert usual.suite
    assert {"git", "patch", *versions_of(language).versions[versions_of(language).default].packages} == {
        *usual.packages
    } - {"procps", "ca-certificates"}


def test_an_unknown_language_is_refused(engine: FakeEngine):
    with pytest.raises(UserError, match="cobol"):
        find_toolchain(Recipe(language="cobol"), {}, engine)


def test_a_version_that_no_distribution_has_needs_a_users_image(engine: FakeEngine):
    with pytest.raises(EnvironmentFailure, match=r"python 3.5 .*\[toolchains.python\]"):
        find_toolchain(Recipe(toolchain="3.5"), {}, engine)


def test_a_patch_level_is_a_version_of_its_own(engine: FakeEngine):
    usual, exact = (find_toolchain(Recipe(toolchain=version), {}, engine) for version in ("3.9", "3.9.5"))

    assert (usual.distribution, usual.suite) == ("debian", "bullseye")
    assert (exact.distribution, exact.suite) == ("ubuntu", "focal")
    assert usual.identity != exact.identity


def test_names_of_debian_toolchains_are_stable(engine: FakeEngine):
    assert find_toolchain(Recipe(toolchain="3.11"), {}, engine).name == "assay/toolchain-python:3.11-d70e907059e7"


@pytest.mark.docker
def test_a_users_image_is_used_unchanged(docker_engine: DockerEngine, toolchain_image: str):
    chosen = find_toolchain(Recipe(toolchain="3.6"), {"python": {"3.6": toolchain_image}}, docker_engine)

    assert (chosen.name, chosen.suite) == (toolchain_image, "")
    assert chosen.identity.startswith("sha256:")


@pytest.mark.docker
@pytest.mark.parametrize("image", ["assay-test/absent:1", "localhost:1/absent@sha256:" + "0" * 64])
def test_a_missing_users_image_is_an_environment_failure(docker_engine: DockerEngine, image: str):
    with pytest.raises(EnvironmentFailure, match="toolchain image"):
        find_toolchain(Recipe(), {"python": {"3.11": image}}, docker_engine)


def test_identity_of_an_archive_holds_its_hash_and_its_script(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images.platform, "machine", lambda: "x86_64")
    before = find_toolchain(Recipe(toolchain="3.9.6"), {}, engine)
    monkeypatch.setattr(images, "build_text", lambda *_names: "exit 1\n")
    after = find_toolchain(Recipe(toolchain="3.9.6"), {}, engine)

    assert before.archive is not None
    assert before.archive.path.startswith("org/bytedeco/cpython/3.9.6-")
    assert before.identity != after.identity


def test_an_archive_for_another_machine_needs_a_users_image(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(images.platform, "machine", lambda: "aarch64")

    with pytest.raises(EnvironmentFailure, match=r"3.9.6 is an archive for x86_64, and .* aarch64; .*\[toolchains"):
        find_toolchain(Recipe(toolchain="3.9.6"), {}, engine)
