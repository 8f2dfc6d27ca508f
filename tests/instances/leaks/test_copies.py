"""Which folders of an image count as a copy of the project, by their names and files alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import Archive
from assay.instances.leaks import copies

CRATE = {"src/lib.rs": "1", "src/error.rs": "2", "src/de/mod.rs": "3", "src/de/value.rs": "4", "Cargo.toml": "5"}
REGISTRY = "opt/cargo/registry/src/index"


def found(base: dict[str, str], layer: dict[str, str], archive: Archive, repo: str, language: str) -> list[str]:
    instance: Any = SimpleNamespace(archive=archive, repo=repo, language=language, version=archive.version)
    trees = SimpleNamespace(later_objects=lambda _ref, blobs: frozenset(blobs))
    answer: Any = SimpleNamespace(
        instance=instance,
        trees=trees,
        ref=None,
        base=SimpleNamespace(files=base),
        list_allowed=lambda: frozenset(base.values()),
    )
    image: Any = SimpleNamespace(
        config=SimpleNamespace(workdir="/testbed"),
        layers=[SimpleNamespace(facts=SimpleNamespace(files=layer))],
        finding=lambda _rule, _number, path, _what, _severity: path,
    )
    return [str(path) for path in copies.later_release(image, answer)]


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ({f"{REGISTRY}/serde-1.0.2/src/de/mod.rs": "8", f"{REGISTRY}/serde-1.0.2/src/de/value.rs": "9"}, []),
        (
            {f"{REGISTRY}/ron-0.9.1/src/lib.rs": "8", f"{REGISTRY}/ron-0.9.1/src/error.rs": "2"}
            | {f"{REGISTRY}/ron-0.9.1/src/de/mod.rs": "3"},
            [f"{REGISTRY}/ron-0.9.1/src/lib.rs"],
        ),
        (dict.fromkeys((f"{REGISTRY}/ron-0.8.0/{path}" for path in CRATE), "9"), []),
    ],
    ids=["another crate's module of the same name", "a later release", "an earlier release"],
)
def test_a_crate_is_found_by_the_name_of_its_release(layer: dict[str, str], expected: list[str]) -> None:
    archive = Archive(index="crates", name="ron", version="0.9.0", sha256="0" * 64)
    assert found(CRATE, layer, archive, "acme/workspace", "rust") == expected


def test_a_go_module_is_found_by_its_major_version() -> None:
    archive = Archive(index="go", name="github.com/acme/echo/v4", version="v4.1.0", sha256="0" * 64)
    cached = "go/pkg/mod/github.com/acme/echo/v4@v4.2.0"
    layer = {f"{cached}/echo.go": "8", f"{cached}/bind.go": "2"}
    assert found({"echo.go": "1", "bind.go": "2"}, layer, archive, "acme/echo", "go") == [f"{cached}/echo.go"]


@pytest.mark.parametrize(("language", "is_copy"), [("go", False), ("javascript", True)])
def test_one_file_of_a_part_is_a_copy_only_where_parts_are_distributed(language: str, is_copy: bool) -> None:
    archive = Archive(index="npm", name="hub", version="4.1.0", sha256="0" * 64)
    suffix = {"go": ".go", "javascript": ".js"}[language]
    base = {f"metrics/metrics{suffix}": "1", f"hub{suffix}": "2", f"main{suffix}": "3"}
    path = f"cache/cloud-sdk/private/metrics/metrics{suffix}"
    assert found(base, {path: "9"}, archive, "acme/hub", language) == [path] * is_copy


LANGUAGES = {f"src/locale/{name}.js": name for name in map(chr, range(ord("a"), ord("m")))}


@pytest.mark.parametrize(
    ("folder", "same", "is_copy"),
    [
        ("opt/node/node_modules/moment/locale", 0, False),
        ("opt/node/node_modules/other/locale", 1, True),
        ("opt/node/node_modules/dayjs/src/locale", 0, True),
    ],
    ids=[
        "another project's folder of the same name",
        "one with a file of the project",
        "a later release of the project",
    ],
)
def test_folder_with_nothing_of_the_project_but_names_is_no_copy(folder: str, same: int, is_copy: bool) -> None:
    archive = Archive(index="npm", name="dayjs", version="1.8.0", sha256="0" * 64)
    base = LANGUAGES | {"src/index.js": "index"}
    layer = {
        f"{folder}/{path.rpartition('/')[2]}": blob if n < same else f"changed {blob}"
        for n, (path, blob) in enumerate(LANGUAGES.items())
    }
    assert bool(found(base, layer, archive, "iamkun/dayjs", "javascript")) == is_copy
