"""Tests that judge how code is written and not what it does: a patch that fails them behaves no worse."""

import re

_NAMES = re.compile(
    "test_code_quality|test_coding_style|test_codestyle|test_style[.]py|code_style|flake8|pyflakes|pycodestyle|pydocstyle"
    "|pylint_self|pep8|pep257|::black|::ruff|::isort|::mypy|test_mypy|test_lint|eslint|prettier|gofmt|golint|rustfmt|clippy"
    "|checkstyle|spotless|rubocop|php_cs|phpcs",
    re.IGNORECASE,
)


def is_style(test: str) -> bool:
    """Return whether a test checks conventions of writing only."""
    return bool(_NAMES.search(test))
