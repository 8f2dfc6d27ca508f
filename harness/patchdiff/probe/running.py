"""Running test files under the project's own pytest, one test at a time; `hosting` knows all other runners."""

import os
import re
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from . import wire

SKIPS = frozenset(("SkipTest", "Skipped", "Exit", "XFailed"))
USAGE_ERROR = 4  # pytest's exit status
OPTIONS = """
    -q -p no:cacheprovider -p no:xdist -p no:randomly -p no:random_order
    -o addopts= -o filterwarnings= -o xfail_strict=false
"""
_ADDED = re.compile(r"^addopts\s*=.*(?:\n[ \t]+.*)*", re.MULTILINE)  # options of a project's configuration
_LOADED = re.compile(r"(?<![\w-])-p['\", =]*([\w.]+)(?![\w.:])")


class Driver:
    """Decides which tests run in which order and hears how they go; the base class runs, once, what has not run."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
        self.job, self.channel = job, channel
        self.finished = set(job.get("finished") or ())

    def collecting(self) -> None:
        """Hear that test files are about to be imported."""

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        """Yield lists of items to run; each list is asked for when the one before has run."""
        yield [item for item in items if item.nodeid not in self.finished]

    def before(self, item: Any) -> None:
        """Hear that an item is about to run, its fixtures included."""
        self.channel.send({"start": item.nodeid})

    def after(self, item: Any) -> None:
        self.channel.send({"stop": item.nodeid})

    def ready(self) -> None:
        """Hear that all is set up and tests can run: the budget begins to be spent."""
        self.channel.send({"ready": True})

    def is_spent(self) -> bool:
        return False

    def end(self) -> str:
        return wire.BUDGET if self.is_spent() else wire.DONE

    def not_passed(self, error: BaseException, when: str) -> None:
        """Hear that the present item failed or was skipped, in its ``setup`` or, where pytest runs it, later."""

    def not_collected(self, name: str, why: str) -> None:
        """Hear that a test file could not be read; `why` is the exception's name or a report."""

    def note_collected(self, name: str) -> None:
        """Hear that a test file, or a part of one, was read."""


def iterate_items(driver: Driver, items: "list[Any]") -> "Iterator[tuple[Any, Any]]":
    """Yield the items that a driver wants, each to be run at once, with the following one."""
    for batch in driver.rounds(items):
        for item, following in zip(batch, [*batch[1:], None]):  # noqa: B905 - not before Python 3.10
            if driver.is_spent():
                return
            driver.before(item)
            yield item, following
            driver.after(item)


def bare_name(test: str) -> str:
    """Return the name of a test's function, however its runner spells the test."""
    return test.partition("|")[0].partition("[")[0].rpartition("::")[2].partition(" ")[0]


def split_own(
    items: "list[Any]", own: "Iterable[str]", targets: "Iterable[wire.Line]" = ()
) -> "tuple[list[Any], list[Any]]":
    """Return the tests of the issue itself, and the others; in each group, tests that name a target come first."""
    names, called = {bare_name(test) for test in own}, {row["name"].rpartition(".")[2] for row in targets}
    codes = {item.nodeid: getattr(getattr(item, "function", None), "__code__", None) for item in items if called}
    near = sorted(items, key=lambda item: called.isdisjoint(getattr(codes.get(item.nodeid), "co_names", ())))
    mine = [item for item in near if bare_name(item.nodeid) in names]
    return mine, [item for item in near if bare_name(item.nodeid) not in names]


def get_job_files(job: wire.Line) -> "list[str]":
    """Return a job's test files; if it asks for some probes only, the files of these."""
    only = job.get("only") or ()
    return select_files(only, job["files"]) if only else list(job["files"])


def select_files(names: "Iterable[str]", files: "Iterable[str]") -> "list[str]":
    return [file for file in files if any(name.startswith(file) for name in names)]


def is_skip(error: BaseException) -> bool:
    return any(kind.__name__ in SKIPS for kind in type(error).__mro__)


def run_tests(driver: Driver, files: "list[str]") -> None:
    """Run the tests of files, paths relative to the project, by the project's own pytest."""
    import pytest

    os.environ.pop("PYTEST_ADDOPTS", None)
    _mark_hooks(pytest)
    plugin = _Plugin(driver)
    status = pytest.main(OPTIONS.split() + list(files), plugins=[plugin]) if files else 0
    if plugin.items or not files:
        return
    if len(files) == 1 and int(status) == USAGE_ERROR:
        driver.not_collected(files[0], "UsageError")
    for file in files if len(files) > 1 else []:
        # one folder's conftest that cannot be imported takes all files along: by itself, each may have tests
        if not driver.is_spent() and file not in plugin.broken:
            run_tests(driver, [file])


class _Plugin:
    """Stands between pytest and a driver."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.items = 0
        self.broken: set[str] = set()  # files that could not be read, by the names of their reports

    def pytest_load_initial_conftests(self, early_config: Any) -> None:
        """Load the plugins that the project's own options name; its other options are left out."""
        path = getattr(early_config, "inipath", None) or getattr(early_config, "inifile", None)
        added = _ADDED.search(path.read_text("utf-8")) if path else None
        for name in _LOADED.findall(added.group() if added else ""):
            early_config.pluginmanager.import_plugin(name)

    def pytest_collection(self) -> None:
        self._driver.collecting()

    def pytest_pycollect_makeitem(self, name: str) -> "Generator[None, Any, None]":
        """Let a changed copy whose parametrization is void vanish alone, not with its module."""
        outcome = yield
        try:
            outcome.get_result()
        except BaseException:
            if "__assay" in name:
                outcome.force_result([])

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.add(report.nodeid)
            self._driver.not_collected(report.nodeid, _last_error(str(report.longrepr)))
        elif report.passed:
            self._driver.note_collected(report.nodeid)

    def pytest_runtest_makereport(self, call: Any) -> None:
        if call.excinfo is not None:
            self._driver.not_passed(call.excinfo.value, call.when)

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = len(session.items)
        self._driver.ready()
        for item, following in iterate_items(self._driver, list(session.items)):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return True


def _mark_hooks(pytest: Any) -> None:
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_load_initial_conftests)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_collection)
    pytest.hookimpl(hookwrapper=True)(_Plugin.pytest_pycollect_makeitem)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_runtest_makereport)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_runtestloop)


def _last_error(report: str) -> str:
    """Return the name of the exception at the end of pytest's report."""
    marked = [line[1:].strip() for line in report.splitlines() if line.startswith("E ")]
    name = marked[-1].split(":")[0] if marked else ""
    return name if name.replace(".", "").isidentifier() else "CollectError"
