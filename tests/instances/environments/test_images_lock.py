"""What images are made of, kept when it is worked out, and checked against the images' names."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import ImageSpec, TreeRef
from assay.harness.engines.base import SERVICE_LABEL
from assay.harness.errors import DataError
from assay.instances.environments.image_specs import content_hash
from assay.instances.environments.images_lock import (
    Layer,
    Lock,
    UsedImage,
    add_contents,
    check_lock,
    keep_layer,
    keep_lock,
    keep_toolchain,
    make_lock,
    make_locked_toolchain,
    make_spec,
    read_lock,
)
from assay.instances.toolchains.images import Toolchain
from assay.instances.trees.sources import tree_key

TOOLCHAIN = Toolchain("assay/toolchain-python:3.9-1", "assay/toolchain-python:3.9-1", {}, "bookworm", ("python3",))


def spec(kind: str, below: str, parent: str, **files: str) -> ImageSpec:
    named = {name: text for name, text in files.items() if name != "bounds"}
    dockerfile = f"FROM {parent} AS work\n"
    name = f"assay/{kind}:{content_hash(dockerfile, below, named)}"
    return ImageSpec(name, dockerfile, parent, files, below=below, unnamed=frozenset(files.keys() - named.keys()))


ENVIRONMENT = spec("env-python", TOOLCHAIN.identity, TOOLCHAIN.name, lock="flask==2.3.2", bounds="before 2023")
SERVICE = spec("env-python", TOOLCHAIN.identity, TOOLCHAIN.name, lock="httpbin==0.7")
TREE = TreeRef("pallets/flask", "0" * 40)
INSTANCE = spec("instance-flask", f"{TREE.repo}@{TREE.commit}", ENVIRONMENT.name, install="pip install")

GRADING = replace(spec("grading", "", INSTANCE.name, lock="werkzeug==2.3"), fetches=True, tree=TREE)


@pytest.fixture
def lock(tmp_path: Path) -> Lock:
    keep_toolchain(TOOLCHAIN, tmp_path)
    for each in (
        ENVIRONMENT,
        SERVICE,
        replace(INSTANCE, labels={f"{SERVICE_LABEL}web": SERVICE.name}, tree=TREE),
    ):
        keep_layer(each, tmp_path)
    return make_lock({"flask-1": UsedImage(image=INSTANCE.name), "flask-2": UsedImage(image="fake:1")}, tmp_path)


@pytest.fixture
def graded(lock: Lock, tmp_path: Path) -> Lock:
    """The same with an image for patches that change manifests."""
    keep_layer(GRADING, tmp_path)
    return make_lock(lock.instances, tmp_path, {"flask-1": (UsedImage(image=GRADING.name, key="00ff"),)})


def test_a_lock_holds_every_layer_down_to_the_toolchain_and_those_of_services(lock: Lock) -> None:
    assert set(lock.layers) == {INSTANCE.name, ENVIRONMENT.name, SERVICE.name, TOOLCHAIN.name}
    assert lock.texts[lock.layers[ENVIRONMENT.name].files["lock"]] == "flask==2.3.2"
    assert lock.texts[lock.layers[ENVIRONMENT.name].unnamed["bounds"]] == "before 2023"
    assert lock.layers[TOOLCHAIN.name].toolchain == TOOLCHAIN
    assert lock.undescribed == ("fake:1",)
    assert list(check_lock(lock)) == []


def test_a_lock_holds_images_that_are_for_some_patches_alone(graded: Lock, lock: Lock) -> None:
    assert graded.layers.keys() - lock.layers.keys() == {GRADING.name}
    assert [each.image for each in graded.list_used("flask-1")] == [INSTANCE.name, GRADING.name]
    assert [each.image for each in graded.used] == [INSTANCE.name, GRADING.name, "fake:1"]
    assert [layer.name for layer in graded.chain(GRADING.name)][-2:] == [INSTANCE.name, GRADING.name]
    assert list(check_lock(graded)) == []
    assert Lock.model_validate_json(graded.model_dump_json()) == graded


@pytest.mark.parametrize(
    ("grading", "problem"),
    [
        ({"flask-1": (UsedImage(image="a:1", key="../x"),)}, "the key of a:1 is no hash"),
        ({"other-1": (UsedImage(image="a:1"),)}, "other-1 has no image of its own"),
    ],
)
def test_an_image_for_some_patches_that_does_not_fit_is_found(
    grading: dict[str, tuple[UsedImage, ...]], problem: str, lock: Lock
) -> None:
    assert list(check_lock(lock.model_copy(update={"grading": grading}))) == [problem]


def test_a_text_that_was_changed_or_is_missing_is_found(lock: Lock) -> None:
    texts = {key: text.replace("2.3.2", "2.3.3") for key, text in lock.texts.items()}
    problems = list(check_lock(lock.model_copy(update={"texts": texts})))
    assert "has another hash" in problems[0]
    assert problems[1:] == [f"{ENVIRONMENT.name} is not named by the hash of its content"]
    assert any("files whose text is missing" in each for each in check_lock(lock.model_copy(update={"texts": {}})))


def change(lock: Lock, name: str, **fields: object) -> Lock:
    return lock.model_copy(update={"layers": {**lock.layers, name: lock.layers[name].model_copy(update=fields)}})


OTHER_NAME = "is not named by the hash of its content"
OUTSIDE = "has a file outside of its folder: "
OTHER_TREE = TreeRef("pallets/flask", "1" * 40)
LACKING = replace(TREE, lacking=("data/large.bin",))
NO_COMMIT = TreeRef("pallets/flask", "--output=x")


@pytest.mark.parametrize(
    ("spec", "fields", "problem"),
    [
        (INSTANCE, {"dockerfile": "other"}, OTHER_NAME),
        (INSTANCE, {"below": "other"}, OTHER_NAME),
        (INSTANCE, {"files": {}}, OTHER_NAME),
        (INSTANCE, {"parent": INSTANCE.name}, f"does not stand on {INSTANCE.name}"),
        (INSTANCE, {"tree": OTHER_TREE}, f"was not made from the tree pallets/flask@{'1' * 40}"),
        (INSTANCE, {"tree": LACKING}, f"was not made from the tree {tree_key(LACKING)}"),
        (INSTANCE, {"over": NO_COMMIT}, "has a tree without a full commit id: '--output=x'"),
        (GRADING, {"tree": NO_COMMIT}, "has a tree without a full commit id: '--output=x'"),
        *((ENVIRONMENT, {"unnamed": {path: ""}}, OUTSIDE + repr(path)) for path in ("/etc/a", "../a", "a/../../b")),
    ],
)
def test_a_layer_that_was_changed_is_found(spec: ImageSpec, fields: dict, problem: str, graded: Lock) -> None:
    if "unnamed" in fields:
        fields = {"unnamed": dict.fromkeys(fields["unnamed"], next(iter(graded.texts)))}
    assert list(check_lock(change(graded, spec.name, **fields))) == [f"{spec.name} {problem}"]


def test_another_toolchain_below_is_found(lock: Lock) -> None:
    problems = list(check_lock(change(lock, TOOLCHAIN.name, below="sha256:other")))
    assert len(problems) == 2
    assert all("was not made on the toolchain sha256:other" in each for each in problems)


def test_a_chain_has_every_layer_after_all_that_it_needs(lock: Lock) -> None:
    names = [layer.name for layer in lock.chain(INSTANCE.name)]
    assert names == [TOOLCHAIN.name, ENVIRONMENT.name, SERVICE.name, INSTANCE.name]


def test_a_chain_that_leads_back_to_itself_ends() -> None:
    layers = {name: Layer(name=name, parent=parent) for name, parent in (("a", "b"), ("b", "a"))}
    assert [layer.name for layer in Lock(layers=layers).chain("a")] == ["b", "a"]


def test_an_image_comes_out_of_the_lock_as_it_went_in(lock: Lock) -> None:
    found = make_spec(lock.layers[INSTANCE.name], lock)
    assert found == replace(INSTANCE, labels={f"{SERVICE_LABEL}web": SERVICE.name}, tree=TREE)
    assert make_locked_toolchain(lock.layers[TOOLCHAIN.name], lock) == TOOLCHAIN


def test_contents_go_into_a_build_as_far_as_clients_fetch_by_them(lock: Lock) -> None:
    held = {"debian": "libc6 2.36\n", "locked/Cargo.lock": "version = 4\n"}
    with_held = add_contents(lock, {ENVIRONMENT.name: ("sha256:1", held), TOOLCHAIN.name: ("sha256:2", held)})

    assert list(check_lock(with_held)) == []
    assert with_held.layers[ENVIRONMENT.name].digest == "sha256:1"
    built = make_spec(with_held.layers[ENVIRONMENT.name], with_held)
    assert built.files == {**ENVIRONMENT.files, "locked/Cargo.lock": "version = 4\n"}
    assert built.name == ENVIRONMENT.name
    assert "locked/Cargo.lock" in built.unnamed
    assert make_locked_toolchain(with_held.layers[TOOLCHAIN.name], with_held).versions == ("libc6 2.36",)


def test_a_lock_is_kept_so_that_the_same_lock_can_be_made_elsewhere(lock: Lock, tmp_path: Path) -> None:
    keep_lock(add_contents(lock, {ENVIRONMENT.name: ("sha256:1", {"debian": "libc6 2.36\n"})}), tmp_path / "other")
    assert make_lock(lock.instances, tmp_path / "other") == lock


def test_what_another_version_kept_is_replaced(tmp_path: Path) -> None:
    keep_layer(INSTANCE, tmp_path)
    kept = next((tmp_path / "images").iterdir())
    kept.write_text('{"name": "old"}')
    keep_layer(INSTANCE, tmp_path)
    assert make_lock({"a": UsedImage(image=INSTANCE.name)}, tmp_path).layers.keys() == {INSTANCE.name}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[]", "is no lock of this version of Assay"),
        ('{"layers": {"a": {"name": 1}}}', "layers.a.name"),
        (
            '{"instances": {"a": {"image": "b"}}, "texts": {"0": "x"}}',
            "the text 0 has another hash; make it again with: assay images lock",
        ),
    ],
)
def test_a_file_that_is_no_lock_is_one_problem_with_its_place(text: str | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "images.lock"
    if text is not None:
        file.write_text(text)
    with pytest.raises(DataError) as caught:
        read_lock(file)
    assert problem in str(caught.value)
    assert str(file) in str(caught.value)
