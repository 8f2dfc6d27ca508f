from samples import read


def test_a_row_without_parser_and_language_gets_the_language_of_its_files() -> None:
    go = "--- a/x.go\n+++ b/x.go\n"
    instance = read("swebench", patch=go, test_patch=go)
    assert (instance.language, instance.log_format) == ("go", "")
