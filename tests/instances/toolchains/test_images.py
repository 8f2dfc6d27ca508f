import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.base import ImageInfo
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine, FakeImage, open_engine
from assay.harness.errors import EngineError, EnvironmentFailure, UserError
from assay.harness.languages import LANGUAGES
from assay.instances.toolchains import images
from assay.instances.toolchains.images import find_toolchain, offers
from assay.instances.toolchains.versions import load_versions

DIGEST = "sha256:" + "a" * 64


@pytest.fixture
def engine() -> FakeEngine:
    return open_engine()


def test_each_python_has_its_debian_release_and_its_own_name(engine: FakeEngine):
    found = [find_toolchain(Recipe(toolchain=version), {}, engine) for version in ("3.9", "3.11", "3.13")]

    assert [each.suite for each in found] == ["bullseye", "bookworm", "trixie"]
    assert len({each.name for each in found}) == 3
    assert found[1].name.startswith("assay/toolchain-python:3.11-")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_a_default_from_debian_and_names_official_images_by_version(
    engine: FakeEngine, language: str
):
    usual, known = find_toolchain(Recipe(language=language), {}, engine), load_versions(language)
    assert usual.suite
    own = {"git", "patch", *known.versions[known.default].packages}
    assert own == {*usual.packages} - {"procps", "ca-certificates"}
    assert known.official.image.format(version="7").endswith("7") if known.official else language in {"php", "ruby"}


ELSEWHERE = r"3.9.6 .*an archive for x86_64, and .* aarch64\).*\[toolchains"


@pytest.mark.parametrize(
    ("recipe", "error", "words"),
    [
        (Recipe(language="cobol"), UserError, "cobol"),
        (Recipe(toolchain="3.5"), EnvironmentFailure, r"python 3.5 .*\[toolchains.python\]"),
        (Recipe(toolchain="3.9.6"), EnvironmentFailure, ELSEWHERE),
    ],
    ids=["unknown language", "version of no distribution", "archive for another machine"],
)
def test_what_is_not_to_be_had_is_said_with_the_setting_that_helps(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, recipe: Recipe, error: type[Exception], words: str
):
    monkeypatch.setattr(images.platform, "machine", lambda: "aarch64")
    with pytest.raises(error, match=words):
        find_toolchain(recipe, {}, engine)


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


def test_a_patch_level_has_an_archive_and_its_identity_holds_hash_and_script(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(images.platform, "machine", lambda: "x86_64")
    before = find_toolchain(Recipe(toolchain="3.9.6"), {}, engine)
    monkeypatch.setattr(images, "build_text", lambda *_names: "exit 1\n")
    after = find_toolchain(Recipe(toolchain="3.9.6"), {}, engine)

    usual = find_toolchain(Recipe(toolchain="3.9"), {}, engine)
    assert before.archive is not None
    assert usual.archive is None
    assert usual.identity != before.identity
    assert before.archive.path.startswith("org/bytedeco/cpython/3.9.6-")
    assert before.identity != after.identity


def test_official_image_by_digest_comes_before_packages(engine: FakeEngine):
    engine.registry["docker.io/library/python:3.9"] = FakeImage(ImageInfo("python:3.9", DIGEST, 1, "", {}))

    chosen = find_toolchain(Recipe(toolchain="3.9"), {}, engine)
    other = find_toolchain(Recipe(toolchain="3.13"), {}, engine)

    assert (chosen.image, chosen.suite, chosen.is_made) == (f"docker.io/library/python@{DIGEST}", "", True)
    assert f"FROM docker.io/library/python@{DIGEST}\n" in chosen.script
    assert chosen.name.startswith("assay/toolchain-python:3.9-")
    assert (other.image, other.suite) == ("", "trixie")


def test_another_digest_is_another_toolchain(engine: FakeEngine):
    found = []
    for digest in (DIGEST, DIGEST.replace("a", "b")):
        engine.registry["docker.io/library/python:3.9"] = FakeImage(ImageInfo("python:3.9", digest, 1, "", {}))
        found.append(find_toolchain(Recipe(toolchain="3.9"), {}, engine))

    assert found[0].identity != found[1].identity


def test_order_and_registry_of_sources_are_settable(engine: FakeEngine):
    engine.registry["registry.test/python:3.9"] = FakeImage(ImageInfo("python:3.9", DIGEST, 1, "", {}))
    engine.registry["docker.io/library/python:3.11"] = FakeImage(ImageInfo("python:3.11", DIGEST, 1, "", {}))

    mine = find_toolchain(Recipe(toolchain="3.9"), {"sources": {"registry": "registry.test"}}, engine)
    packages = find_toolchain(Recipe(), {"sources": {"order": "bootstrap official"}}, engine)

    assert mine.image == f"registry.test/python@{DIGEST}"
    assert packages.suite == "bookworm"
    with pytest.raises(EnvironmentFailure, match=r"no toolchain for python 3.6 .*the registry has no"):
        find_toolchain(Recipe(toolchain="3.6"), {"sources": {"order": "official"}}, engine)


def test_registry_that_does_not_answer_is_named_among_the_reasons(engine: FakeEngine):
    def silent(call: str, _image: str) -> None:
        if call == "remote_digest":
            raise EngineError("the container engine failed: dial tcp: no such host")

    engine.fault = silent
    found = list(offers("python", "3.11", {}, engine))

    assert [(each.source, each.why) for each in found] == [
        ("image", "none named in the settings"),
        ("official", "docker.io does not answer (no such host)"),
        ("bootstrap", "Debian bookworm"),
    ]


@pytest.mark.parametrize("machine", ["aarch64", "arm64", "x86_64"])
def test_names_of_debian_toolchains_are_stable_and_the_same_on_every_machine(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, machine: str
):
    monkeypatch.setattr(images.platform, "machine", lambda: machine)
    found = [find_toolchain(Recipe(toolchain=version), {}, engine).name for version in ("3.9", "3.11")]

    assert found == ["assay/toolchain-python:3.9-529f9d908c1b", "assay/toolchain-python:3.11-d70e907059e7"]
