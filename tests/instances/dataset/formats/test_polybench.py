from samples import read


def test_lists_are_python_literals() -> None:
    instance = read("polybench")
    assert instance.fail_to_pass == ('a.test.ts->a: it\'s "two"', "b")
    assert instance.language == "typescript"
