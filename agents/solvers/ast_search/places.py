"""The model's next step as JSON, and the code of the places that it names. Pure."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field, field_validator, model_validator

from assay.agents.solvers.shared.code_search import SHOWN, CodeSearch, SearchResult
from assay.agents.solvers.shared.codebase import Snippet
from assay.harness.domain import Model


class BugLocation(Model, extra="ignore"):
    """A place to change as the model names it; unnamed parts are empty."""

    file: str = ""
    class_: str = Field(default="", alias="class")
    method: str = ""
    intended_behavior: str = ""

    @field_validator("*", mode="before")
    @classmethod
    def _nothing_is_empty(cls, value: Any) -> Any:
        return "" if value is None else value


class NextStep(Model, extra="ignore"):
    """What the model does next: search calls, or the places to change."""

    API_calls: tuple[str, ...] = ()
    bug_locations: tuple[BugLocation, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _has_a_list(cls, value: Any) -> Any:
        if isinstance(value, dict) and not {"API_calls", "bug_locations"} & value.keys():
            raise ValueError("neither API_calls nor bug_locations is there")
        return value


def find_places(search: CodeSearch, location: BugLocation) -> list[Snippet]:
    """Return the code of a location: its method, else its class, else its file; empty if none exists."""
    for found in _search_narrowest_first(search, location):
        within = [each for each in found.snippets if not location.file or _is_same_file(each, location.file)]
        if within:
            return within[:SHOWN]
    return []


def _search_narrowest_first(search: CodeSearch, location: BugLocation) -> Iterator[SearchResult]:
    if location.method and location.class_:
        yield search.search_method_in_class(location.method, location.class_)
    if location.method:
        yield search.search_method(location.method)
    if location.class_:
        yield search.get_class_full_snippet(location.class_)
    if location.file:
        yield search.get_file_content(location.file)


def _is_same_file(snippet: Snippet, file: str) -> bool:
    return f"/{file}".endswith(f"/{snippet.path}") or f"/{snippet.path}".endswith(f"/{file.removeprefix('./')}")


def describe_location(location: BugLocation) -> str:
    return " ".join(filter(None, [location.file, location.class_, location.method])) or "(no name)"
