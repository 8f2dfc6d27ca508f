"""Fixtures for all tests of PatchDiff."""

import pytest


@pytest.fixture(autouse=True)
def _no_plugins_where_tests_run_pytest_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those installed beside Assay take two seconds at each start, and none of these runs uses any."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
