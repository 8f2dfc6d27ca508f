"""The application: routes, and every error as one line of JSON."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from assay.harness.errors import UserError
from assay.service import v1
from assay.service.desk import Gone, ServiceDesk
from assay.service.figures import Figures
from assay.service.guard import Asgi, Guard, Refused
from assay.service.protocols import nemo_gym, open_reward
from assay.service.protocols.openenv import OpenEnvDoors
from assay.service.routes import HttpRoute, openapi, page

CLIENT_LEFT = 499
"""Counted for a client that left before its answer; nobody reads it."""
PAGE_CSP = "default-src 'none'; style-src 'unsafe-inline'"


def make_app(desk: ServiceDesk, token: str = "", max_body: int = 10_000_000) -> Asgi:
    """Return the service as an ASGI application."""
    episodes = OpenEnvDoors(desk)
    listed = [*v1.routes(desk), *open_reward.routes(desk), *nemo_gym.routes(desk), *episodes.routes()]
    listed += [
        HttpRoute("GET", "/openapi.json", _constant(JSONResponse(openapi(listed))), "This list, as OpenAPI."),
        HttpRoute("GET", "/docs", _constant(_page(listed)), "This list, as a page."),
    ]
    starlette = Starlette(
        routes=[*as_starlette(listed, desk.figures), episodes.socket()],
        exception_handlers={HTTPException: _no_such_path},
    )
    return Guard(starlette, token, max_body)


def as_starlette(routes: Sequence[HttpRoute], figures: Figures) -> list[BaseRoute]:
    """Return routes whose errors are answers, and whose answers are counted."""
    return [Route(each.path, _counted(each, figures), methods=[each.method]) for each in routes]


def _counted(route: HttpRoute, figures: Figures) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            response = await route.handler(request)
        except Gone:
            response = Response(status_code=CLIENT_LEFT)
        except Refused as refused:
            response = JSONResponse({"error": str(refused)}, refused.status, refused.headers)
        except UserError as error:
            response = JSONResponse({"error": str(error)}, 422)
        figures.requests.labels(f"{route.method} {route.path}", str(response.status_code)).inc()
        return response

    return answered


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    problem = f"{request.method} {request.url.path} is no route of this service; GET /docs lists them"
    return JSONResponse({"error": problem}, status)


def _constant(response: Response) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return response

    return answer


def _page(routes: Sequence[HttpRoute]) -> HTMLResponse:
    return HTMLResponse(page(routes), headers={"Content-Security-Policy": PAGE_CSP})
