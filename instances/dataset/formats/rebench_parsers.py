"""Log parsers that SWE-rebench V2 has beside SWE-bench's, divided by whether Assay can name tests as they do."""

from collections.abc import Iterable

from assay.instances.dataset.formats.log_parsers import TABLE, LogParser, parser_named

CLASSES = "maven_classes_text", "class_of"
COVERED: dict[str, LogParser] = {name: LogParser(*row) for name, row in TABLE["swe_rebench"].items()}

OTHER_LANGUAGES: dict[str, str] = TABLE["other_languages"]
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
