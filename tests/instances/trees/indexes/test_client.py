"""The package clients of this machine, asking indexes of our own, and once each in a container the real ones."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.harness import engines
from assay.harness.domain import Archive, TreeRef
from assay.harness.engines.docker import DockerEngine
from assay.harness.errors import EngineUnavailable, EnvironmentFailure
from assay.instances.trees.indexes import WrongArchive, client, download
from assay.instances.trees.sources import Sources
from toys import CrateIndex, GoProxy

MODULE = "example.org/Upper/calc/v2"
SLAB = Archive(
    index="crates",
    name="slab",
    version="0.4.11",
    sha256="7a2ae44ef20feb57a68b23d846850f861394c2e02dc425a50098ae8c90267589",
)
SEMVER = Archive(
    index="go",
    name="github.com/Masterminds/semver/v3",
    version="v3.3.1",
    sha256="e1b204876a92f8aae3488670395d8ee0813fc775cd883727f47768e9040905eb",
)


def test_tree_of_a_module_has_no_top_folder(go_proxy: GoProxy, sources: Sources) -> None:
    archive = go_proxy.add(MODULE, "v2.0.1", {"calc.go": "package calc\n", "testdata/one@two/a.txt": "a"})
    ref = TreeRef("o/calc", archive=archive)
    assert not sources.exists(ref)
    assert sources.read_file(ref, "calc.go") == b"package calc\n"
    assert sources.read_file(ref, "testdata/one@two/a.txt") == b"a"
    shutil.rmtree(go_proxy.folder)
    assert sources.exists(ref)


@pytest.mark.parametrize("yanked", [False, True])
def test_tree_of_a_crate_yanked_or_not_has_no_top_folder(
    crate_index: CrateIndex, sources: Sources, yanked: bool
) -> None:
    files = {"tests/calc.rs": "", "run.sh": "#!/bin/sh\n"}
    archive = crate_index.add("calc_rs", "1.0.0-rc.1+x", files, yanked=yanked)
    crate_index.add("calc_rs", "1.0.1", {"tests/calc.rs": "// later\n"})
    assert sources.read_file(TreeRef("o/calc", archive=archive), "tests/calc.rs") == b""


def test_a_release_with_another_hash_is_refused_and_not_kept(
    go_proxy: GoProxy, crate_index: CrateIndex, tmp_path: Path
) -> None:
    for archive in (go_proxy.add(MODULE, "v2.0.1", {}), crate_index.add("calc-rs", "1.0.0", {})):
        wrong = archive.model_copy(update={"sha256": "0" * 64})
        with pytest.raises(WrongArchive, match=archive.sha256) as caught:
            download(wrong, tmp_path / "cache", {})
        assert caught.value.field == "sha256"
        assert "\n" not in str(caught.value)
    assert list((tmp_path / "cache" / "archives").iterdir()) == []
    assert list((tmp_path / "cache" / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("registry", "change", "words"),
    [
        ("crate_index", {"version": "1.9.9"}, r"cargo cannot fetch calc-rs 1.9.9: error: .*1\.0\.0"),
        ("crate_index", {"version": "9.0.0"}, r"cargo cannot fetch calc-rs 9.0.0: error: .*1\.0\.0"),
        ("crate_index", {"name": "other-rs"}, "no matching package named `other-rs` found"),
        ("go_proxy", {"version": "v2.9.9"}, rf"go cannot fetch {MODULE} v2\.9\.9: error: .*no such file"),
    ],
)
def test_a_release_that_is_missing_is_said_in_one_line(
    request: pytest.FixtureRequest, tmp_path: Path, registry: str, change: dict[str, str], words: str
) -> None:
    release = (MODULE, "v2.0.1") if registry == "go_proxy" else ("calc-rs", "1.0.0")
    archive = request.getfixturevalue(registry).add(*release, {})
    with pytest.raises(EnvironmentFailure, match=words) as caught:
        download(archive.model_copy(update=change), tmp_path / "cache", {})
    assert "\n" not in str(caught.value)


def test_an_index_that_does_not_answer_is_an_environment_failure(
    tmp_path: Path, go_proxy: GoProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = go_proxy.add(MODULE, "v2.0.1", {})
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(EnvironmentFailure, match="refused"):
        download(archive, tmp_path / "cache", {})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"index": "go", "name": "example.org/x y"}, "name"),
        ({"index": "go", "name": "-x.org/y"}, "name"),
        ({"index": "go", "version": "v1;touch evil"}, "version"),
        ({"index": "crates", "name": 'calc"\npath = "/etc'}, "name"),
        ({"index": "crates", "name": "../calc"}, "name"),
        ({"index": "crates", "version": '1"/; 1e touch evil'}, "version"),
        ({"index": "crates", "version": "1.0.0\n"}, "version"),
        ({"index": "crates", "version": "--help"}, "version"),
    ],
)
def test_names_with_shell_syntax_are_refused(tmp_path: Path, change: dict[str, str], field: str) -> None:
    archive = Archive.model_validate({"name": "calc", "version": "1.0.0", "sha256": "0" * 64, **change})
    with pytest.raises(WrongArchive) as caught:
        download(archive, tmp_path, {})
    assert caught.value.field == field
    assert not list(tmp_path.rglob("evil"))


@pytest.fixture
def broken_clients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Put a `go` and a `cargo` on PATH that do not work, such as rustup's without a toolchain."""
    for name in ("go", "cargo"):
        program = tmp_path / "broken" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho 'error: rustup could not choose a version' >&2\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'broken'}:{os.environ['PATH']}")
    client._works.cache_clear()
    yield
    client._works.cache_clear()


@pytest.mark.usefixtures("broken_clients")
def test_a_machine_without_client_and_engine_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unavailable(_name: str) -> None:
        raise EngineUnavailable("no container engine answers (nothing there); set DOCKER_HOST")

    monkeypatch.setattr(engines, "open_engine", unavailable)
    with pytest.raises(EnvironmentFailure, match=r"no cargo on this machine, nor an engine.*DOCKER_HOST") as caught:
        download(SLAB, tmp_path, {})
    assert "\n" not in str(caught.value)


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.usefixtures("broken_clients")
@pytest.mark.parametrize("archive", [SEMVER, SLAB], ids=lambda archive: archive.index)
def test_a_machine_without_the_client_uses_that_of_the_toolchain_image(
    docker_engine: DockerEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, archive: Archive
) -> None:
    monkeypatch.setattr(engines, "open_engine", lambda _name: docker_engine)
    fetched = download(archive, tmp_path, {})
    assert fetched.stat().st_size > 10_000
    wrong = archive.model_copy(update={"version": archive.version + "9999", "sha256": "0" * 64})
    with pytest.raises(EnvironmentFailure, match=f"cannot fetch {archive.name} .*9999: error"):
        download(wrong, tmp_path, {})


@pytest.mark.network
@pytest.mark.parametrize("archive", [SEMVER, SLAB], ids=lambda archive: archive.index)
def test_a_release_of_the_real_index_is_fetched(sources: Sources, archive: Archive) -> None:
    assert sources.read_file(TreeRef("o/r", archive=archive), "CHANGELOG.md")
