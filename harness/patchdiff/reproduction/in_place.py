"""A test of the project up to one call in it, made with other arguments: what shows a divergence of ``inplace.py``."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from assay.harness.patchdiff.reproduction.amplified import Told, row_changes
from assay.harness.patchdiff.reproduction.excerpt import Source, excerpt, function_at
from assay.harness.patchdiff.reproduction.reproduce import (
    Difference,
    Draft,
    Reduction,
    frame,
    in_a_docstring,
    seen_of_a_call,
)

_LOOKUP = ("_INSIDE", "functions_at", "_member", "_unwrapped")
"""Of ``calls.py``: finds a function by its name."""

_LEFT = '[each for each in [*given[0], *given[1].values()] if type(each).__module__ == "builtins"]'
"""Of a call's ``given``, what is compared after the call besides its answer: arguments of built-in types."""

_BODY = '''\
import ast
import builtins
import importlib
import io
import types
from typing import Any

{excerpt}


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
        found = [each for each in functions_at({module!r}, {qualname!r}) if not each.__code__.co_freevars]
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


{lookup}'''


@dataclass(frozen=True)
class InPlace:
    """A test file in the making; its parts "e0", ... are the changes of the arguments."""

    told: Mapping[str, Any]
    """What the program told of the call: test, module, qualname, which, number, part, mutations."""
    text: str
    """The test file's."""
    everything: bool = False
    """Keep all of the file but other tests, needed or not."""

    @property
    def test(self) -> Told:
        """The test that makes the call."""
        return Told(str(self.told["test"]), 0, "", "", ())

    @property
    def folder(self) -> str:
        """Where the file has to lie."""
        return self.test.folder

    @property
    def row(self) -> str:
        """The end of the name of the one test that is meant."""
        return self.test.row

    @property
    def parts(self) -> tuple[str, ...]:
        """The changes."""
        return tuple(f"e{number}" for number in range(len(self.told.get("mutations") or ())))

    def inside(self, _part: str) -> frozenset[str]:
        """Return nothing: no change hangs on another."""
        return frozenset()

    def write(self, reduction: Reduction, told: Difference) -> str:
        """Return the file; "" if its test is not found."""
        try:
            source = Source.read(self.text)
        except SyntaxError:
            return ""
        test, call = self.test, self.told
        function = function_at(source.tree, test.names)
        if function is None:
            return ""
        rows = [each for name, number in reduction.rows.items() for each in row_changes(source, function, name, number)]
        kept = [each for part, each in zip(self.parts, call["mutations"], strict=True) if part not in reduction.without]
        body = _BODY.format(
            excerpt=excerpt(source, test.names, rows, self.everything),
            changes=repr([(each["path"], ast.literal_eval(each["new"])) for each in kept]),
            seen=seen_of_a_call(_LEFT),
            lookup=_lookup(),
            **{name: call[name] for name in ("module", "qualname", "which", "number", "part")},
        )
        what = f"The test is {'::'.join(test.names)}, up to call {call['number']} of {call['qualname']}, there with"
        changes = [in_a_docstring(f"{each['old']} -> {each['new']}") for each in kept] or ["nothing changed"]
        says = "\n".join([what, *(f"    {each}" for each in changes)])
        return frame(body, told, f"Lay it beside {test.path}", says, (".".join(test.names), "assay_in_place"))


def _lookup() -> str:
    """Return the source of what finds a function."""
    folder = resources.files("assay.harness.patchdiff.probe")
    text = folder.joinpath("calls.py").read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(text).body:
        name = getattr(node, "name", "") or getattr(getattr(node, "targets", [None])[0], "id", "")
        found[name] = ast.get_source_segment(text, node) or ""
    return "\n\n\n".join(found[name] for name in _LOOKUP)


def in_place_drafts(line: Mapping[str, Any], sources: Mapping[str, str]) -> list[Draft]:
    """Return the drafts of a call that ``inplace.py`` told of: with what the test needs of its file, and with all."""
    told = line.get("literal") or {}
    text = sources.get(str(told.get("test", "")).partition("::")[0], "")
    return [InPlace(told, text, everything) for everything in (False, True)] if text and told.get("module") else []
