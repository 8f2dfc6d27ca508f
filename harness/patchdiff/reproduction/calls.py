"""A recorded call as a test file: shows a divergence of ``replay``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.harness.patchdiff.reproduction.writing import Check, frame

_BODY = '''\
import importlib
import io


def arguments():
{arguments}


def test_the_call_does_what_it_does_with_the_gold_patch():
    function = importlib.import_module({module!r})
    for name in {qualname!r}.split("."):
        function = getattr(function, name)
    assay_check(assay_seen(function, arguments())[{part!r}])


def assay_seen(function, given):
    """What a call returns or raises, leaves in its arguments, and prints."""
    describe, settle, type_name = assay_texts()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*given[0], **given[1])
            outcome = ("value", type_name(result), describe(result))
        except BaseException as error:
            outcome = ("error", type_name(error), "")
    return {{
        "return": outcome,
        "arguments": ("value", "", describe(given, inside=True)),
        "stdout": ("value", "", settle(printed.getvalue())),
    }}'''
_PLAIN = "    return {literal}"
_PICKLED = """\
    import base64
    import pickle

    return pickle.loads(base64.b64decode({pickled!r}))"""


@dataclass(frozen=True, slots=True)
class CallDraft:
    """A test file that makes one call."""

    call: Mapping[str, Any]
    """Module, qualname, part, arguments (a literal) or args (a pickle), mutations (path, old, new)."""
    folder: str = "."

    def write(self, check: Check) -> str:
        """Return the file; "" for changed arguments that are no plain data."""
        arguments = self._arguments()
        if not arguments:
            return ""
        names = {name: self.call[name] for name in ("module", "qualname", "part")}
        body = _BODY.format(arguments=arguments, **names)
        return frame(body, check, "Put it at the top of the repository", f"The call is of {self.call['qualname']}:")

    def _arguments(self) -> str:
        if self.call.get("arguments"):
            return _PLAIN.format(literal=self.call["arguments"])
        is_original = self.call.get("args") and not self.call.get("mutations")
        return _PICKLED.format(pickled=self.call["args"]) if is_original else ""


def call_draft(line: Mapping[str, Any], _sources: Mapping[str, str]) -> CallDraft | None:
    """Return the draft of a call that ``replay`` made again."""
    call = line.get("literal") or {}
    return CallDraft(call) if call.get("module") else None
