"""Property-style inputs: Hypothesis draws arguments of the shapes that the suite calls the changed functions with.

Hypothesis runs on the host and draws plain data only, which travels as literals; so it is needed in no container, and
works for whatever Python an instance has. The property is that the two trees agree.
"""

import ast
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.harness.domain import GeneratorResult
from assay.harness.errors import PluginError
from assay.harness.patchdiff.contract import Context, Contribution, Generator
from assay.harness.patchdiff.generators.recording import record
from assay.harness.patchdiff.generators.replay import program
from assay.harness.patchdiff.probing import differences, is_literal

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NAME = "property"
EXAMPLES = 60
"""Calls of each function."""
_drawing = threading.Lock()


def _generate(context: Context) -> Contribution:
    """Draw calls of the functions whose recorded arguments are plain data, and replay them on every side.

    Raises:
        PluginError: Hypothesis is not installed.
    """
    began = time.monotonic()
    recorded = record(context)
    calls = [
        {"module": module, "qualname": name, "args": text}
        for (module, name), seen in _plain_calls(recorded.calls).items()
        for text in draw(seen, EXAMPLES, context.settings.seed)
    ]
    if not calls:
        why = recorded.note or "no recorded call has plain arguments only"
        return Contribution(GeneratorResult(name=NAME, seconds=round(time.monotonic() - began, 3), note=why))
    return differences(context, NAME, program(context, NAME, replace(recorded, calls=()), literal_calls=calls))


def _plain_calls(calls: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """Return the argument values of each function's recorded calls, where all arguments are plain data."""
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for call in calls:
        shape = call.get("shape")
        if not isinstance(shape, list) or call.get("private") or not all(isinstance(each, str) for each in shape):
            continue
        try:
            values = tuple(ast.literal_eval(each) for each in shape)
        except (ValueError, SyntaxError):
            continue
        found.setdefault((str(call["module"]), str(call["qualname"])), []).append(values)
    return {name: seen for name, seen in found.items() if len({len(values) for values in seen}) == 1 and seen[0]}


def draw(seen: Sequence[tuple[Any, ...]], examples: int, seed: int) -> list[str]:
    """Draw argument lists like those that were seen; the same seed draws the same.

    Args:
        seen: the arguments of each call, all of one length.
        examples: how many at most.
        seed: of the draw.

    Returns:
        ``(args, kwargs)`` as literals, each once.

    Raises:
        PluginError: Hypothesis is not installed.
    """
    try:
        import hypothesis
        from hypothesis import configuration, strategies
    except ImportError as error:
        raise PluginError("the generator property needs Hypothesis; it comes with assay-bench[property]") from error
    drawn: dict[str, None] = {}
    arguments = strategies.tuples(*(_like(column) for column in zip(*seen, strict=True)))

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples, database=None, deadline=None, phases=[hypothesis.Phase.generate], print_blob=False
    )
    @hypothesis.given(arguments)
    def collect(values: tuple[Any, ...]) -> None:
        text = repr((values, {}))
        if is_literal(text):
            drawn[text] = None

    with _drawing, tempfile.TemporaryDirectory() as home:
        configuration.set_hypothesis_home_dir(home)  # or it leaves a folder where the user stands
        try:
            collect()
        finally:
            configuration.set_hypothesis_home_dir(None)
    return list(drawn)


def _like(values: Sequence[Any]) -> "SearchStrategy[Any]":
    """Return a strategy for more values of the kinds that were seen, and for those themselves."""
    from hypothesis import strategies

    kinds = {type(value): value for value in values}
    made = [_of_kind(kind, [value for value in values if type(value) is kind]) for kind in kinds]
    return strategies.one_of(strategies.sampled_from(list(values)), *made)


def _of_kind(kind: type, values: Sequence[Any]) -> "SearchStrategy[Any]":
    from hypothesis import strategies as st

    plain: dict[type, SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(-1000, 1000) | st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: st.text(sorted(set("".join(map(str, values)))) or "a", max_size=30) | st.text(max_size=12),
        bytes: st.binary(max_size=20),
        type(None): st.none(),
    }
    if kind in plain:
        return plain[kind]
    items = [item for value in values for item in (value.items() if kind is dict else value)]
    if not items:
        return st.sampled_from(list(values))
    if kind is dict:
        keys, contents = zip(*items, strict=True)
        return st.dictionaries(_like(keys), _like(contents), max_size=5)
    lists = st.lists(_like(items), max_size=6)
    return lists if kind is list else lists.map(kind)


GENERATOR = Generator(_generate, languages=frozenset({"python"}))
