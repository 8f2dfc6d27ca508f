import re
from typing import Any

import pytest

from assay.harness.domain import Download, PatchedCommit, Recipe, TreeRef
from assay.harness.languages import LANGUAGES
from assay.instances.environments.image_specs import (
    find_cache_owner,
    make_image_chain,
    make_service_spec,
    manifest_packages,
    python_packages,
)
from assay.instances.environments.pins.build_system import BuildSystem
from assay.instances.environments.plan import make_plan
from assay.instances.toolchains.images import Toolchain
from toy import make_instance

TOOLCHAIN = Toolchain("assay/toolchain-python:3.11-x", "assay/toolchain-python:3.11-x")
SOURCES = Download(path="lib.tar.gz", url="https://example.org/lib.tar.gz", sha256="0" * 64)
DATE = "2023-02-02T00:00:00Z"
PLACEHOLDER = re.compile(r"@[A-Z_]+@")
LOCK = "pytest==7.2.0 \\\n    --hash=sha256:00\n"


@pytest.fixture
def chain():
    def make(recipe=None, toolchain=TOOLCHAIN, lock=LOCK, system=None, ancestors=(), **changes):
        instance, recipe_ = make_instance(**changes), recipe or Recipe()
        packages = python_packages(instance, recipe_, lock, system or BuildSystem(), DATE)
        return make_image_chain(instance, recipe_, toolchain, packages, ancestors=ancestors)

    return make


def test_each_image_names_the_one_below_as_parent(chain):
    environment, instance = chain()

    assert (environment.parent, instance.parent) == (TOOLCHAIN.name, environment.name)
    assert environment.dockerfile.count(f"FROM {TOOLCHAIN.name} AS") == 1
    assert instance.dockerfile.count(f"FROM {environment.name}\n") == 1
    assert environment.labels["assay.kind"] == "environment"
    assert (instance.labels["assay.kind"], instance.labels["assay.repo"]) == ("instance", "acme/calc")
    assert not PLACEHOLDER.search(environment.dockerfile + instance.dockerfile)


def test_instances_with_equal_inputs_share_images(chain):
    one = chain()
    same_commit = chain(id="acme__calc-2", gold_patch="", test_patch="", problem_statement="other")
    other_commit = chain(base_commit="1" * 40)

    assert [spec.name for spec in one] == [spec.name for spec in same_commit]
    assert one[0].name == other_commit[0].name
    assert one[1].name != other_commit[1].name


@pytest.mark.parametrize(
    "change",
    [
        {"lock": LOCK + "attrs==22.1.0\n"},
        {"toolchain": Toolchain(TOOLCHAIN.name, "sha256:1")},
        {"recipe": Recipe(system_packages=("graphviz",))},
        {"recipe": Recipe(downloads=(SOURCES,))},
    ],
    ids=["lock", "toolchain that moved", "system packages", "downloads"],
)
def test_inputs_of_the_environment_change_both_names(chain, change):
    assert all(new.name != old.name for new, old in zip(chain(**change), chain(), strict=True))


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": Recipe(install=("make",))},
        {"recipe": Recipe(pretend_version=True), "version": "1.2"},
        {"system": BuildSystem(backend="flit_core.buildapi")},
    ],
    ids=["install", "version", "backend"],
)
def test_inputs_of_the_installation_change_only_the_instances_name(chain, change):
    (old_env, old), (new_env, new) = chain(), chain(**change)

    assert new_env.name == old_env.name
    assert new.name != old.name


def test_ancestors_are_images_between_environment_and_instance(chain):
    first, second = TreeRef("acme/calc", "a" * 40), TreeRef("acme/calc", "b" * 40)
    environment, older, newer, instance = chain(ancestors=(first, second))

    assert [spec.parent for spec in (older, newer, instance)] == [environment.name, older.name, newer.name]
    assert [spec.over for spec in (older, newer, instance)] == [None, first, second]
    assert [spec.labels["assay.kind"] for spec in (older, newer, instance)] == ["tree", "tree", "instance"]
    # Installed in the first and in the instance's own.
    assert ["install.sh" in spec.files for spec in (older, newer, instance)] == [True, False, True]
    assert all("compile.sh" in spec.files for spec in (older, newer, instance))


def test_instances_with_the_same_ancestors_share_all_images_but_their_own(chain):
    ancestors = (TreeRef("acme/calc", "a" * 40),)
    one, other = chain(ancestors=ancestors), chain(ancestors=ancestors, base_commit="1" * 40)

    assert [a.name == b.name for a, b in zip(one, other, strict=True)] == [True, True, False]


@pytest.mark.parametrize("repo", ["Acme/Calc", "a_b/..weird--Name_", "x/é", "group/sub/project"])
def test_image_names_are_legal(chain, repo):
    component = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
    for spec in chain(repo=repo):
        assert re.fullmatch(rf"{component}/{component}:[0-9a-f]{{16}}", spec.name)


def test_a_build_context_has_no_patch_and_no_test_names(chain, instance):
    for spec in chain():
        given = "\n".join([spec.dockerfile, *spec.files.values(), *spec.labels.values()])
        for secret in (instance.gold_patch, instance.test_patch, *instance.fail_to_pass, instance.id):
            assert secret not in given


def test_dockerfiles_use_only_what_every_builder_supports(chain):
    for spec in chain(recipe=Recipe(system_packages=("graphviz", "it's"))):
        assert "<<" not in spec.dockerfile
        assert "# syntax" not in spec.dockerfile
        last_stage = spec.dockerfile[spec.dockerfile.rindex("FROM ") :]
        assert "--mount" not in last_stage


def test_an_instance_image_names_the_images_of_its_services():
    def instance_image(**services):
        instance = make_instance()
        packages = python_packages(instance, Recipe(), LOCK, BuildSystem(), DATE)
        return make_image_chain(instance, Recipe(), TOOLCHAIN, packages, services)[1]

    with_one = instance_image(web="assay/env-python:1")

    assert with_one.labels["assay.service.web"] == "assay/env-python:1"
    assert len({instance_image().name, with_one.name, instance_image(web="assay/env-python:2").name}) == 3


def test_a_service_image_has_its_own_packages_and_no_project(chain):
    recipe = Recipe(system_packages=("graphviz",), faketime="2014-05-01 00:00:00")
    spec = make_service_spec(recipe, TOOLCHAIN, LOCK, DATE, "acme/calc")

    assert spec.name == chain()[0].name
    assert "--no-install-recommends graphviz faketime" in chain(recipe=recipe)[0].dockerfile
    assert "graphviz" not in spec.dockerfile
    assert "faketime" not in spec.dockerfile


def test_package_caches_are_shared_by_commits_of_a_repository_alone(chain):
    patched = PatchedCommit(commit="0" * 40, patch="--- a/setup.py\n")
    changes: dict[str, dict[str, Any]] = {
        "one": {},
        "later": {"id": "acme__calc-2", "base_commit": "1" * 40},
        "other repository": {"repo": "acme/abacus"},
        "base patch": {"base": patched},
        "other base patch": {"base": patched.model_copy(update={"patch": "--- a/setup.cfg\n"})},
        "recipe of the row": {"environment": Recipe()},
    }
    owners = {name: chain(**each)[0].caches for name, each in changes.items()}
    assert owners.pop("one") == owners.pop("later") == "acme/calc"
    assert len({"acme/calc", *owners.values()}) == 5
    searched = [make_instance(environment=Recipe(packages=packages)) for packages in ((), ("pytest",))]
    assert len(set(map(find_cache_owner, searched))) == 1, "a search for a recipe would fetch all again in each round"


@pytest.mark.parametrize("language", sorted(LANGUAGES.keys() - {"python"}))
def test_instances_with_the_same_manifests_share_packages(language):
    def images(lock, **changes):
        instance, recipe = make_instance(language=language, **changes), Recipe(language=language)
        return make_image_chain(instance, recipe, TOOLCHAIN, manifest_packages(instance, recipe, lock, DATE))

    one, other_commit, other_lock = images("a"), images("a", base_commit="1" * 40), images("b")
    lacking = images("a", lacking=("data/large.bin",))
    assert not {each.name for each in one} & {each.name for each in lacking}

    assert one[0].name == other_commit[0].name != other_lock[0].name
    assert len({each[1].name for each in (one, other_commit, other_lock)}) == 3
    assert one[0].tree == one[1].tree
    assert (one[0].fetches, one[1].fetches) == (True, False)
    assert "network=none" in one[1].dockerfile
    assert not PLACEHOLDER.search(one[0].dockerfile + one[1].dockerfile)


def test_options_stand_where_the_build_tool_runs() -> None:
    recipe = Recipe(language="java", options=("-Da=b c", "-pl"))
    instance = make_instance(language="java")
    environment, image = make_image_chain(instance, recipe, TOOLCHAIN, manifest_packages(instance, recipe, "x", DATE))
    for text in (environment.files["fetch.sh"], image.files["install.sh"], make_plan(instance, recipe).command):
        assert "'-Da=b c' -pl" in text
        assert "{options}" not in text
    own = recipe.model_copy(update={"language": "c", "install": ("make {options} all",)})
    _, image = make_image_chain(instance, own, TOOLCHAIN, manifest_packages(instance, own, "", DATE))
    assert image.files["commands.sh"] == "make '-Da=b c' -pl all\n"
