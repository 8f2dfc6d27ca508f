"""The first recipes of languages with build tools of their own, and trees of other repositories."""

from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import TreeDownload, TreeRef
from assay.harness.files import read_yaml
from assay.instances.setup.native_manifests import OtherTree, list_other_trees
from assay.instances.setup.other_trees import find_trees
from assay.instances.setup.project_facts import read_facts
from assay.instances.setup.proposals import propose
from assay.instances.toolchains.versions import load_versions
from assay.instances.trees.sources import Sources
from toys import Repository

CASES = read_yaml(Path(__file__).with_name("builds.yaml"))
FETCHED = """
set(FMT_TAG 9.1.0)
FetchContent_Declare(googletest GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.14.0)
FetchContent_Declare(fmt # the formatter
  GIT_REPOSITORY "https://github.com/fmtlib/fmt" GIT_TAG ${FMT_TAG})
FetchContent_Declare(json URL https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz)
FetchContent_Declare(own URL https://acme.org/own.tar.gz)
CPMAddPackage("gh:doctest/doctest@2.4.9")
"""


@pytest.mark.parametrize("case", CASES, ids=[each["name"] for each in CASES])
def test_a_recipe_is_proposed_from_the_build_files(project, case: dict[str, Any]) -> None:
    tree = project(case["texts"], language=case["language"])
    recipe = propose(read_facts(tree, list(load_versions(case["language"]).versions)))
    for field, value in case["recipe"].items():
        found = getattr(recipe, field)
        assert (list(found) if isinstance(found, tuple) else found) == value


def test_other_trees_are_read_from_cmake_and_submodules(project) -> None:
    modules = (
        '[submodule "a"]\n\tpath = deps/a\n\turl = ../a.git\n[submodule "b"]\n\tpath = b\n\turl = https://x.org/b\n'
    )
    wraps = {
        "subprojects/z.wrap": "[wrap-git]\nurl = https://github.com/acme/z.git\nrevision = v1\n",
        "subprojects/y.wrap": "[wrap-file]\nsource_url = https://github.com/acme/y/archive/2.zip\npatch_url = x\n",
    }
    found = list_other_trees(project({"CMakeLists.txt": FETCHED, ".gitmodules": modules, **wraps}, language="cpp"))
    assert found == [
        OtherTree("", "acme/a", "", "deps/a"),
        OtherTree("z", "acme/z", "v1", "subprojects/z"),
        OtherTree("y", "", "2", "subprojects/y"),
        OtherTree("googletest", "google/googletest", "v1.14.0"),
        OtherTree("fmt", "fmtlib/fmt", "9.1.0"),
        OtherTree("json", "nlohmann/json", "v3.11.2"),
        OtherTree("doctest", "doctest/doctest", "2.4.9"),
    ]


def test_trees_that_are_had_are_placed_and_debian_stands_for_the_others(project) -> None:
    tree = project({"CMakeLists.txt": f"enable_testing()\n{FETCHED}"}, language="cpp")
    had = TreeDownload(path="googletest.tar", repo="google/googletest", commit="a" * 40)
    recipe = propose(read_facts(tree, ["12"], [had]))
    assert recipe.downloads == (had,)
    assert recipe.install[0] == (
        "mkdir -p /opt/sources/googletest && tar -xf /opt/downloads/googletest.tar -C /opt/sources/googletest"
    )
    assert recipe.options == (
        "-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=/opt/sources/googletest",
        "-DCPM_googletest_SOURCE=/opt/sources/googletest",
        "-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS",
    )
    assert recipe.system_packages == ("libfmt-dev", "nlohmann-json3-dev", "doctest-dev")


def test_a_submodule_is_found_at_the_commit_that_its_parent_names(
    project, repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inner = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{inner},deps/a")
    repository.git("commit", "-qm", "with a submodule")
    outer = repository.git("rev-parse", "HEAD")
    monkeypatch.setattr("assay.instances.trees.sources.GIT_URL", "/nowhere/{repo}")
    for name in ("acme__calc", "acme__a"):
        (tmp_path / name).symlink_to(repository.folder / ".git")
    modules = '[submodule "a"]\n\tpath = deps/a\n\turl = https://github.com/acme/a\n'
    texts = {".gitmodules": modules, "CMakeLists.txt": FETCHED}
    found = find_trees(
        project(texts, language="c"), TreeRef("acme/calc", outer), Sources([tmp_path], tmp_path / "cache")
    )
    assert found == (TreeDownload(path="deps-a.tar", repo="acme/a", commit=inner),)


def test_a_tag_that_no_clone_knows_is_asked_of_the_host(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tagged = repository.commit()
    repository.git("tag", "-a", "-m", "first", "v1")
    repository.commit("later")
    monkeypatch.setattr("assay.instances.trees.sources.GIT_URL", f"file://{repository.folder}/.git")
    sources = Sources([], tmp_path)
    assert (sources.find_tag("acme/a", "v1"), sources.find_tag("acme/a", "v2")) == (tagged, "")


def test_the_script_that_fetches_packages_is_where_cmake_looks_for_it(project) -> None:
    own = "set(CPM_DOWNLOAD_VERSION 0.38.1)\nenable_testing()\n"
    tree = project({"CMakeLists.txt": own}, language="cpp")
    had = TreeDownload(path="cpm.cmake.tar", repo="cpm-cmake/CPM.cmake", commit="a" * 40)
    recipe = propose(read_facts(tree, ["12"], [had]))
    assert list_other_trees(tree) == [OtherTree("cpm.cmake", "cpm-cmake/CPM.cmake", "0.38.1")]
    assert recipe.install[0].endswith("cmake/CPM.cmake > /opt/sources/cpm/CPM_0.38.1.cmake")
    assert "-DCPM_SOURCE_CACHE=/opt/sources" in recipe.options
