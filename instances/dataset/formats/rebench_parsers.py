"""Log parsers that SWE-rebench V2 has beside SWE-bench's, divided by whether Assay can name tests as they do."""

from collections.abc import Iterable

from assay.instances.dataset.formats.log_parsers import LogParser, parser_named

MOCHA = LogParser("mocha_text", "title", "javascript")
CLASSES = "maven_classes_text", "class_of"
KOTLIN = LogParser(*CLASSES, "kotlin")
COVERED = {
    "parse_log_pytest_options": LogParser("pytest_text"),
    "parse_log_pytest_v2": LogParser("pytest_text"),
    "parse_log_pytest_nebo": LogParser("pytest_text"),
    "parse_log_cpp_v4": LogParser("ctest_text", "node", "cpp"),
    "parse_log_ruby_v1": LogParser("minitest_text", "node", "ruby"),
    "parse_log_ruby_v2": LogParser("minitest_text", "method", "ruby"),
    "parse_java_mvn": LogParser("maven_text", "method", "java"),
    "parse_log_java_mvn": LogParser("maven_text", "method", "java"),
    "parse_logs_kotlin_junit": KOTLIN,
    "parse_log_kotlin_junit": KOTLIN,
    "parse_log_jest_json": LogParser("jest_text", "arrow", "javascript"),
    "parse_log_js": MOCHA,
    "parse_log_js_2": MOCHA,
    "parse_log_js_4": MOCHA,
    "parse_log_npx": MOCHA,
}

OTHER_LANGUAGES = {
    "C#": "parse_log_csharp",
    "Clojure": "parse_log_lein",
    "Dart": "parse_log_dart parse_log_dart_v2 parse_log_dart_v3",
    "Elixir": "parse_log_elixir",
    "Haskell": "parse_log_haskell parse_log_haskell_v2",
    "Julia": "parse_log_julia",
    "Lua": "parse_lue_nvim parse_lua_nvim parse_log_lua_nvim",
    "OCaml": "parse_log_ocaml parse_log_ocaml_v2 parse_log_ocaml_v3 parse_log_ocaml_v4 parse_log_ocaml_v5",
    "R": "parse_log_r parse_log_r_v2 parse_logs_r_junit parse_log_r_junit",
    "Scala": "parse_log_scala parse_log_scala_v2 parse_log_scala_v3 parse_log_sbt",
    "Swift": "parse_log_swift",
}
"""Parsers by languages that Assay does not have."""

OTHER_NAMES = [
    "parse_combined_test_reports",
    "parse_log_minitest",
    "parse_log_cucumber",
    "parse_log_cpp",
    "parse_log_cpp_v2",
    "parse_log_cpp_v3",
    "parse_java_mvn_v2",
    "parse_log_java_mvn_v2",
    "parse_log_php_v1",
    "parse_log_js_3",
    "parse_log_gradlew_v1",
    "parse_log_junit",
]
"""Parsers that name tests as Assay cannot: after modules, steps or groups, or as several formats do."""


def find_parser(name: str, labels: Iterable[str]) -> LogParser:
    """Return the parser of a name; an unknown name is taken for a log format, an empty one for none.

    Maven prints classes, and methods only where a row's command runs them one by one: the labels show which.
    """
    found = COVERED.get(name) or parser_named(name)
    methods = found.test_id != "method" or found.language != "java" or any("#" in label for label in labels)
    return found if methods else LogParser(*CLASSES, found.language)


def why_not(name: str) -> str:
    """Return why Assay cannot read labels that a parser made; empty if it can."""
    language = next((each for each, parsers in OTHER_LANGUAGES.items() if name in parsers.split()), "")
    if language:
        return f"{name} reads tests of {language}, which is no language of Assay"
    return f"{name} names tests in a way that Assay does not know" if name in OTHER_NAMES else ""
