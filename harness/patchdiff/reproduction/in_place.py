"""A test of the project up to one call in it, made with other arguments: shows a divergence of ``inplace``."""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from assay.harness.patchdiff.reproduction.amplified import NamedTest
from assay.harness.patchdiff.reproduction.sources import Source, changed, function_at, without_other_tests
from assay.harness.patchdiff.reproduction.writing import Check, carried, frame, in_a_docstring, seen_of_a_call

_LEFT = '[each for each in [*given[0], *given[1].values()] if type(each).__module__ == "builtins"]'
"""Arguments that are compared after a call: those of built-in types."""

_BODY = '''\
import ast
import builtins
import importlib
import io
import types

{tests}


class AssayDone(BaseException):
    """The call has been looked at; the test has no more to show."""


def assay_changed(given):
    """The arguments of the call, (positional, by keyword), with what is changed in them."""
    for path, new in {changes}:
        given = assay_replaced(given, path, new)
    return given


def assay_replaced(root, path, new):
    """An object with another value at a place inside it."""
    if not path:
        return new
    kind, where = path[0]
    where = ast.literal_eval(where) if kind == "key" else where
    inner = assay_replaced(root[where], path[1:], new)
    if isinstance(root, (list, dict)):
        root[where] = inner
        return root
    items = (*root[:where], inner, *root[where + 1 :])
    return items if type(root) is tuple else type(root)(*items)


{seen}


def assay_in_place(test):
    """Run a test up to a call of a function, make it with other arguments, and look at what comes of it."""

    @functools.wraps(test)
    def looked_at(*args, **kwargs):
        found = [each for each in assay_lookup()({module!r}, {qualname!r}) if not each.__code__.co_freevars]
        function, calls = found[{which}], []
        code = function.__code__
        made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
        made.__kwdefaults__ = function.__kwdefaults__

        def instead(given, named):
            calls.append(given)
            if len(calls) == {number}:
                function.__code__ = code
                assay_check(assay_seen(made, assay_changed((given, named)))[{part!r}])
                raise AssayDone
            return made(*given, **named)

        builtins.assay_instead = instead
        function.__code__ = (lambda *args, **kwargs: assay_instead(args, kwargs)).__code__
        try:
            test(*args, **kwargs)
        except AssayDone:
            pass
        finally:
            function.__code__ = code

    return looked_at


def assay_lookup():
{lookup}
    return functions_at'''


@dataclass(frozen=True, slots=True)
class InPlaceDraft:
    """A test file in the making."""

    call: Mapping[str, Any]
    """The probe's report: test, module, qualname, which, number, part, mutations."""
    text: str
    """The test file's."""

    @property
    def test(self) -> NamedTest:
        """The test that makes the call."""
        return NamedTest(str(self.call["test"]))

    @property
    def folder(self) -> str:
        """Folder that the file has to be in."""
        return self.test.folder

    @property
    def changes(self) -> int:
        """The number of changed places in the arguments."""
        return len(self.call["mutations"])

    def write(self, without: Collection[int], check: Check) -> str:
        """Return the file; "" if its test is not found."""
        try:
            source = Source.read(self.text)
        except SyntaxError:
            return ""
        function, call = function_at(source.tree, self.test.names), self.call
        if function is None:
            return ""
        kept = [each for number, each in enumerate(call["mutations"]) if number not in without]
        body = _BODY.format(
            tests=changed(source.text, without_other_tests(source, function)),
            changes=repr([(each["path"], ast.literal_eval(each["new"])) for each in kept]),
            seen=seen_of_a_call(_LEFT),
            lookup=carried("lookup"),
            **{name: call[name] for name in ("module", "qualname", "which", "number", "part")},
        )
        what = f"The test is {'::'.join(self.test.names)}, up to call {call['number']} of {call['qualname']}, with"
        changes = [in_a_docstring(f"{each['old']} -> {each['new']}") for each in kept] or ["nothing changed"]
        says = "\n".join([what, *(f"    {each}" for each in changes)])
        return frame(body, check, f"Put it beside {self.test.path}", says, self.test.inside, "assay_in_place")


def in_place_draft(line: Mapping[str, Any], sources: Mapping[str, str]) -> InPlaceDraft | None:
    """Return the draft of a call that ``inplace`` made again."""
    call = line.get("literal") or {}
    text = sources.get(str(call.get("test", "")).partition("::")[0], "")
    return InPlaceDraft(call, text) if text and call.get("module") else None
