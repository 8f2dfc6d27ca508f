"""The application: routes, and every error as one line of JSON."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from assay.harness.errors import UserError
from assay.service import v1
from assay.service.core import RewardService
from assay.service.figures import Figures
from assay.service.guard import Asgi, ClientLeft, Guard, Refused
from assay.service.protocols import nemo_gym, open_reward
from assay.service.protocols.openenv import OpenEnv
from assay.service.routes import Handler, HttpRoute, answer_always, openapi, page

CLIENT_LEFT = 499  # counted for a client that left before its answer; nobody reads it
PAGE_CSP = "default-src 'none'; style-src 'unsafe-inline'"


def make_app(service: RewardService, token: str = "", max_body: int = 10_000_000) -> Asgi:
    openenv = OpenEnv(service)
    listed = [*v1.routes(service), *open_reward.routes(service), *nemo_gym.routes(service), *openenv.routes()]
    listing = HTMLResponse(page(listed), headers={"Content-Security-Policy": PAGE_CSP})
    listed += [
        HttpRoute("GET", "/openapi.json", answer_always(openapi(listed)), "This list, as OpenAPI."),
        HttpRoute("GET", "/docs", answer_always(listing), "This list, as a page."),
    ]
    routes = [Route(each.path, _catch_errors(each, service.figures), methods=[each.method]) for each in listed]
    handlers = {HTTPException: _no_such_path}
    return Guard(Starlette(routes=[*routes, openenv.socket()], exception_handlers=handlers), token, max_body)


def _catch_errors(route: HttpRoute, figures: Figures) -> Handler:
    """Return a route's handler with errors as answers, and with every answer counted."""

    async def handle(request: Request) -> Response:
        try:
            response = await route.handler(request)
        except ClientLeft:
            response = Response(status_code=CLIENT_LEFT)
        except Refused as refused:
            response = JSONResponse({"error": str(refused)}, refused.status, refused.headers)
        except UserError as error:
            response = JSONResponse({"error": str(error)}, 422)
        figures.requests.labels(f"{route.method} {route.path}", str(response.status_code)).inc()
        return response

    return handle


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    problem = f"{request.method} {request.url.path} is no route of this service; GET /docs lists them"
    return JSONResponse({"error": problem}, status)
