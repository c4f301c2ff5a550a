"""The application: pages, JSON routes, static files, behind the guard."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from wavefit.names import printable
from wavefit.web import api, openapi, pages
from wavefit.web.answers import MISTAKES
from wavefit.web.guard import Guard, Keys
from wavefit.web.uploads import Refused
from wavefit.web.worker import Bounds, Failed

_STATIC = {
    "style.css": ("wavefit.report.page", "style.css", "text/css; charset=utf-8"),
    "page.js": ("wavefit.web", "static/page.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("wavefit.web", "static/icon.svg", "image/svg+xml"),
}
WORKERS = 2
"""Drops that are read at once; more wait."""


def application(keys: Keys, bounds: Bounds | None = None) -> ASGIApp:
    """What a server runs. Needs the extra wavefit[web]."""
    app = FastAPI(
        title="wavefit", version=version("wavefit"), docs_url=None, redoc_url=None, openapi_url=None,
        description="How many waves of a compiled GPU kernel fit, what stops the next one, and by how much.",
    )  # fmt: skip
    app.state.bounds = bounds or Bounds()
    app.state.workers = asyncio.Semaphore(WORKERS)
    app.include_router(api.router)
    app.include_router(pages.router, include_in_schema=False)
    document = _document(app)
    app.add_api_route("/openapi.json", lambda: document, methods=["GET"], include_in_schema=False)
    app.add_api_route("/static/{name}", _static, methods=["GET"], include_in_schema=False)
    for kind in MISTAKES:
        app.add_exception_handler(kind, _mistake)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Failed, _mistake)
    return Guard(app, keys)


def _document(app: FastAPI) -> dict[str, Any]:
    found = app.openapi()
    schemas = found.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(openapi.components(list(api.DOCUMENTS)))
    return found


def _static(name: str) -> Response:
    if name not in _STATIC:
        return Response(status_code=404)
    package, path, kind = _STATIC[name]
    folder, *rest = path.split("/")
    content = files(package).joinpath(folder, *rest).read_bytes()
    return Response(content, media_type=kind)


def _mistake(_: Request, error: Exception) -> Response:
    return said(422, str(error))


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return said(error.status, str(error))


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    lines = (f"{each['loc'][-1]}: {each['msg']}" for each in error.errors())
    return said(422, "; ".join(dict.fromkeys(map(str, lines))))


def said(status: int, why: str) -> Response:
    """One line of error as the document `wavefit.error/1`."""
    return JSONResponse({"schema": "wavefit.error/1", "error": printable(why, longest=500)}, status)
