from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import go


@pytest.mark.parametrize(
    "path",
    [
        "router_test.go",
        "internal/tree/tree_test.go",
        "internal/tree/testdata/deep/in.json",
        "testdata/config.yaml",
        "internal/testutil/server.go",
        "pkg/storage/storagetest/suite.go",
        "internal/testmocks/clock.go",
        "providers/testing/fake.go",
        "tests/e2e/run.go",
        "test/bufconn.go",
    ],
)
def test_test_files(path: str) -> None:
    assert go.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "router.go",
        "internal/tree/tree.go",
        "cmd/latest/main.go",
        "pkg/attest/sign.go",
        "test_helpers.go",
        "gen/handlertest.go",
        "discovery/fixtures/hosts.json",
        "contest.go",
    ],
)
def test_other_files(path: str) -> None:
    assert not go.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "go.mod",
        "go.sum",
        "tools/gen/go.mod",
        "go.work",
        "vendor/github.com/acme/assert/assert.go",
        "vendor/modules.txt",
        "tools/gen/vendor/modules.txt",
    ],
)
def test_runner_config(path: str) -> None:
    assert go.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "main.go",
        "modfile/go.mod.go",
        "vendors/list.go",
        "internal/vendoring/a.go",
        "Makefile",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not go.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "lib.syso",
        "internal/asm/blob_amd64.syso",
        "cgo/libx.a",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in go.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "promql/testdata/functions.test",
        "vendor/modules.txt",
        "build/build.go",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in go.BUILD_PRODUCTS)


def test_packages_to_run() -> None:
    paths = ["tree_test.go", "a/b_test.go", "a/c_test.go", "a/c.go", "x/y/testdata/z/in.json", "x/y/testdata/z_test.go"]
    assert go.test_targets(paths) == (".", "./a", "./x/y")


def test_data_in_test_folders_belong_to_a_package_above() -> None:
    paths = ["a/alltest/data/in.txt", "a/alltest/helper.go", "a/tests/in.json"]
    assert go.test_targets(paths) == ("./a/alltest/data", "./a/tests")


def test_data_in_the_root_folder_belong_to_the_root_package() -> None:
    assert go.test_targets(["testdata/in.json", "docs/in.json"]) == (".",)
