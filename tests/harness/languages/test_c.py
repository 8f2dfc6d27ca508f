from fnmatch import fnmatchcase

import pytest

from assay.harness.languages import c


@pytest.mark.parametrize(
    "path",
    [
        "tests/fuzzer.c",
        "test/format-test.cc",
        "tests/CMakeLists.txt",
        "test/Makefile",
        "tests/unit/type/zset.tcl",
        "src/jq_test.c",
        "projects/SelfTest/Baselines/out.txt",
        "tests/run-tests.py",
        "run-tests.sh",
        "runtest",
        "test.c",
        "Tests/UnitTests/a.c",
        "src/unit_tests/a.c",
        "fuzz-test/a.c",
        "t/t0001.sh",
    ],
)
def test_test_files(path: str) -> None:
    assert c.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main.c",
        "src/test.c",
        "include/calc/core.h",
        "src/latest.c",
        "src/protest.h",
        "lib/attest/a.c",
        "src/contest.cpp",
        "doc/tests.md.in",
        "src/config.c",
    ],
)
def test_other_files(path: str) -> None:
    assert not c.is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "CMakeLists.txt",
        "Makefile",
        "Makefile.am",
        "GNUmakefile",
        "configure.ac",
        "configure",
        "meson.build",
        "cmake/Flags.cmake",
        "m4/check.m4",
        "CTestConfig.cmake",
        "CMakePresets.json",
        "include/gtest/gtest.h",
        "third_party/googletest/src/gtest.cc",
        "build.sh",
        "BUILD.bazel",
        "src/CMakeLists.txt",
        "src/Makefile",
        "src/Makefile.am",
        "py/py.mk",
        "src/meson.build",
    ],
)
def test_runner_config(path: str) -> None:
    assert c.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main.c",
        "include/calc/test.h",
        "CMakeLists.txt.md",
        "src/makefile.c",
    ],
)
def test_no_runner_config(path: str) -> None:
    assert not c.runner_config(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main.o",
        "lib/libcalc.a",
        "lib/libcalc.so.1",
        "include/core.h.gch",
        "assay-build/Makefile",
        "CMakeCache.txt",
        "out/CMakeFiles/calc.dir/link.txt",
        "build/CTestTestfile.cmake",
    ],
)
def test_build_products(path: str) -> None:
    assert any(fnmatchcase(path, pattern) for pattern in c.BUILD_PRODUCTS)


@pytest.mark.parametrize(
    "path",
    [
        "build/cmake/CMakeLists.txt",
        "src/main.c",
        "include/core.h",
        "data/model.obj",
    ],
)
def test_no_build_products(path: str) -> None:
    assert not any(fnmatchcase(path, pattern) for pattern in c.BUILD_PRODUCTS)


def test_test_targets_are_the_test_files() -> None:
    paths = ["tests/fuzzer.c", "tests/unit/zset.tcl", "src/main.c", "tests/fuzzer.c"]
    assert c.test_targets(paths) == ("tests/fuzzer.c", "tests/unit/zset.tcl")


@pytest.mark.parametrize(
    ("printed", "name"),
    [("calc-test 0.03 sec", "calc-test"), ("Calc.Adds (0 ms)", "Calc.Adds"), ("Calc.Waits12", "Calc.Waits12")],
)
def test_durations_are_not_part_of_a_name(printed: str, name: str) -> None:
    assert c.normalise(printed) == name
