from assay.harness.languages import c, cpp


def test_cpp_classifies_files_as_c_does() -> None:
    assert cpp.is_test_file("test/format-test.cc")
    assert cpp.is_test_file("src/core.tests.cpp")
    assert not cpp.is_test_file("src/core.cpp")
    assert cpp.runner_config("CMakeLists.txt")
    assert not cpp.runner_config("src/core.cpp")
    assert cpp.TEST_COMMAND == c.TEST_COMMAND
