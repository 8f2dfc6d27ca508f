from dataclasses import replace

from assay.harness.domain import ImageSpec
from assay.instances.environments.drift import REBUILT
from assay.instances.environments.image_specs import APT
from assay.instances.environments.images_lock import Layer, Lock, add_contents
from assay.instances.environments.rebuild import make_rebuild_chain
from assay.instances.toolchains.bootstrap import preferences
from assay.instances.toolchains.images import Toolchain

TOOLCHAIN = Toolchain("assay/toolchain:1", "assay/toolchain:1", {}, "bookworm", ("git",))
BASE = Layer(name=TOOLCHAIN.name, below=TOOLCHAIN.identity, toolchain=TOOLCHAIN)
DOCKERFILE = f"FROM assay/toolchain:1 AS base\n{APT.format(packages='libxml2')}\nFROM base\n"
ENVIRONMENT = Layer(name="assay/env:1", parent=BASE.name, below=BASE.below, dockerfile=DOCKERFILE)
HELD = {
    BASE.name: ("sha256:1", {"debian": "git 2.39\n"}),
    ENVIRONMENT.name: ("sha256:2", {"debian": "git 2.39\nlibxml2 2.9.14+dfsg-1.3~deb12u1\n"}),
}


def chain(held: dict[str, tuple[str, dict[str, str]]]) -> tuple[Toolchain | ImageSpec, ...]:
    lock = add_contents(Lock(layers={each.name: each for each in (BASE, ENVIRONMENT)}), held)
    return make_rebuild_chain(lock, ENVIRONMENT.name)


def test_a_toolchain_is_made_first_with_the_versions_of_the_lock() -> None:
    toolchain, _ = chain(HELD)
    assert toolchain == replace(TOOLCHAIN, versions=("git 2.39",))


def test_debian_packages_that_an_image_adds_are_taken_in_the_versions_of_the_lock() -> None:
    _, spec = chain(HELD)

    assert isinstance(spec, ImageSpec)
    assert spec.name == ENVIRONMENT.name
    assert spec.labels == {REBUILT: "1"}
    line = spec.dockerfile.splitlines()[1]
    assert "Package: libxml2\\nPin: version 2.9.14+dfsg-1.3~deb12u1\\nPin-Priority: 1001" in line
    assert line.index("preferences.d/assay &&") < line.index("apt-get update")
    assert line.endswith("rm -rf /var/lib/apt/lists/* /etc/apt/preferences.d/assay")
    assert "git" not in line


def test_a_lock_without_contents_leaves_build_files_alone() -> None:
    _, spec = chain({})
    assert isinstance(spec, ImageSpec)
    assert spec.dockerfile == DOCKERFILE


def test_preferences_are_a_paragraph_for_each_package_and_nothing_else() -> None:
    assert preferences(["g++ 1.0-1", "b4 2:3~4", "git 1' ; rm -rf / #", "*"]) == (
        "Package: g++\nPin: version 1.0-1\nPin-Priority: 1001\n\n"
        "Package: b4\nPin: version 2:3~4\nPin-Priority: 1001\n\n"
    )
