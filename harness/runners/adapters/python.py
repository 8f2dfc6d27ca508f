"""Run tests of unittest or of SymPy's runner, under whatever program starts them, and report each result at once.

    python adapter REPORT PROGRAM [ARGUMENT]...
    python adapter REPORT -m MODULE [ARGUMENT]...

Every result is one JSON object on a line of REPORT: ``names``, which are the test's id and perhaps the first line of
its docstring, and ``status``. Runs that a test starts are not reported. What is needed here is kept before code under
test runs.
"""

import json
import os
import runpy
import sys
import unittest
from importlib.machinery import PathFinder
from typing import Any

OF_UNITTEST = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "error",
    "addSkip": "skipped",
    "addExpectedFailure": "xfail",
    "addUnexpectedSuccess": "failed",
}
OF_SYMPY = {
    "test_pass": "passed",
    "test_xpass": "passed",
    "test_xfail": "xfail",
    "test_skip": "skipped",
    "test_fail": "failed",
    "test_exception": "error",
}
"""Status that the call of a method of the runner's own reporter means."""
RUNNERS_OF_SYMPY = ("sympy.testing.runtests", "sympy.utilities.runtests")


def open_report(path: str) -> Any:
    file, write, dumps = os.open(path, os.O_WRONLY | os.O_APPEND), os.write, json.dumps

    def add(names: Any, status: str) -> None:
        write(file, dumps({"names": names, "status": status}).encode() + b"\n")

    return add


def wrap_calls(base: Any, calls: Any) -> Any:
    """Return a subclass that makes each of the calls before the method of its name."""

    def method(name: str) -> Any:
        def both(self: Any, *args: Any) -> Any:
            calls[name](self, *args)
            return getattr(base, name)(self, *args)

        return both

    return type("Reporting", (base,), {name: method(name) for name in calls})


def report_unittest(add: Any) -> None:
    make_result = unittest.TextTestRunner._makeResult
    running = []  # type: Any

    def add_test(result: Any, test: Any, status: str) -> None:
        test = getattr(test, "test_case", test)  # of a subtest
        described = getattr(result, "descriptions", True)
        add([str(test), (described and test.shortDescription()) or ""], status)

    def subtest(result: Any, test: Any, _: Any, error: Any) -> None:
        if error is not None:
            add_test(result, test, "failed" if issubclass(error[0], test.failureException) else "error")

    calls = {"addSubTest": subtest}  # type: Any
    for name, status in OF_UNITTEST.items():
        calls[name] = lambda result, test, *_, status=status: add_test(result, test, status)
    calls["startTest"] = lambda _, test: running.append(test)
    calls["stopTest"] = lambda *_: running.clear()

    def make(runner: Any) -> Any:
        result = make_result(runner)  # type: Any
        if not running:
            result.__class__ = wrap_calls(type(result), calls)
        return result

    unittest.TextTestRunner._makeResult = make  # type: ignore[assignment, method-assign]


class SymPyFinder:
    """Finds the module of SymPy's runner when it is imported, and lets its reporter report."""

    def __init__(self, add: Any) -> None:
        def call(reporter: Any, status: str) -> None:
            if reporter._active_f is not None:  # else a file cannot be imported
                add([reporter._active_f.__name__], status)

        self.calls = {name: lambda each, *_, status=status: call(each, status) for name, status in OF_SYMPY.items()}

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Return the spec of the module under one of its two names; None for any other module."""
        spec = PathFinder.find_spec(name, path, target) if name in RUNNERS_OF_SYMPY else None  # type: Any
        if spec:
            execute = spec.loader.exec_module

            def execute_and_report(module: Any) -> None:
                execute(module)
                if hasattr(module, "PyTestReporter"):
                    module.PyTestReporter = wrap_calls(module.PyTestReporter, self.calls)

            spec.loader.exec_module = execute_and_report
        return spec


def run_program(program: str, *arguments: str) -> None:
    """Run a program, or with ``-m`` a module, as ``python`` itself would."""
    if program == "-m":
        sys.argv, sys.path[0] = list(arguments), os.getcwd()  # noqa: PTH109
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = [program, *arguments], os.path.dirname(os.path.abspath(program))  # noqa: PTH100, PTH120
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    add_result = open_report(sys.argv[1])
    report_unittest(add_result)
    sys.meta_path.insert(0, SymPyFinder(add_result))
    run_program(*sys.argv[2:])
