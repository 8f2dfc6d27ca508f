from assay.harness.languages import c, cpp


def test_tests_and_their_runner_are_told_as_for_c() -> None:
    assert cpp.is_test_file("test/format-test.cc")
    assert cpp.is_test_file("src/core.tests.cpp")
    assert not cpp.is_test_file("src/core.cpp")
    assert cpp.runner_config("CMakeLists.txt")
    assert not cpp.runner_config("src/core.cpp")
    assert cpp.TEST_COMMAND == c.TEST_COMMAND
