"""A route of the service, and the OpenAPI document and the page that list all of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from assay.version import __version__

ANSWERS = {
    "200": "the answer; a reward of null says that the environment failed, not the patch",
    "202": "not finished yet: poll or stream the id",
    "401": "the bearer token is missing or wrong",
    "404": "there is no such instance, evaluation or path",
    "408": "the body did not arrive in time",
    "413": "the body is too large",
    "415": "the body is not declared as JSON",
    "422": "a field is wrong; the error names it",
    "429": "the queue is full; Retry-After says when to ask again",
    "503": "the infrastructure failed, or the service is ending; ask again after Retry-After seconds",
}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2128; background: #fff; }
code { font-family: ui-monospace, monospace; font-size: 0.92em; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.2rem; border-top: 1px solid #d0d7de; padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } a { color: #79b8ff; }
  h2 { border-color: #30363d; } }
"""


Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """One route, with its handler and the body that it takes."""

    method: str
    path: str
    handler: Handler
    summary: str
    body: type[BaseModel] | None = None


def answer_always(content: object) -> Handler:
    """Return a handler that gives one answer to every request."""
    response = content if isinstance(content, Response) else JSONResponse(content)

    async def handle(_request: Request) -> Response:
        return response

    return handle


def openapi(routes: Sequence[HttpRoute]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {}
    for route in routes:
        about: dict[str, Any] = {
            "summary": route.summary,
            "responses": {status: {"description": text} for status, text in ANSWERS.items()},
        }
        names = [part[1:-1].partition(":")[0] for part in route.path.split("/") if part.startswith("{")]
        if names:
            about["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
            ]
        if route.body is not None:
            schema = route.body.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= schema.pop("$defs", {}) | {route.body.__name__: schema}
            reference = {"$ref": f"#/components/schemas/{route.body.__name__}"}
            about["requestBody"] = {"required": True, "content": {"application/json": {"schema": reference}}}
        paths.setdefault(route.path, {})[route.method.lower()] = about
    bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Assay", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": bearer},
    }


def page(routes: Sequence[HttpRoute]) -> str:
    """Render routes as a page that fetches nothing."""
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Assay: the service</title><style>{STYLE}</style>"
    ]
    parts.append("<h1>Assay: the service</h1><p>The same as <a href=openapi.json>OpenAPI</a>.</p>")
    for route in routes:
        parts.append(f"<h2><code>{route.method} {escape(route.path)}</code></h2><p>{escape(route.summary)}</p>")
        if route.body is not None:
            parts.append("<table><tr><th>field<th>default<th>meaning</tr>")
            parts += [_row(name, each) for name, each in route.body.model_fields.items()]
            parts.append("</table>")
    rows = "".join(f"<tr><td>{status}<td>{escape(text)}</tr>" for status, text in ANSWERS.items())
    return "".join([*parts, f"<h2>Answers</h2><table>{rows}</table></html>"])


def _row(name: str, field: Any) -> str:
    default = "required" if field.is_required() else str(field.default or "")
    return f"<tr><td><code>{name}</code><td>{escape(default)}<td>{escape(field.description or '')}</tr>"
