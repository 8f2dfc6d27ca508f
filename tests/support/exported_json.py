"""Documents of other tools with one value in them replaced by any other."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def damaged(document: Any) -> st.SearchStrategy[Any]:
    """Draw the document with one value anywhere in it replaced, or left out."""
    return st.builds(_replaced, st.just(document), st.sampled_from(list(_places(document))), VALUES, st.booleans())


def _places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from _places(each, *path, key)


def _replaced(document: Any, path: tuple[Any, ...], value: Any, is_left_out: bool) -> Any:
    if not path:
        return value
    whole = deepcopy(document)
    place = whole
    for key in path[:-1]:
        place = place[key]
    if is_left_out:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return whole
