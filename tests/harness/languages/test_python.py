from assay.harness.languages import python


def test_mistake_is_what_python_says_of_a_py_file() -> None:
    assert python.mistake("a.py", "x = 1\nreturn x\n") == "line 2: 'return' outside function"
    assert python.mistake("a.pyi", "return x\n") == ""
