"""Routes of an application, read once for all applications of a session.

FastAPI reads the signature of every function it serves, which takes longer than most tests. Functions of one piece
of code with the same defaults have the same signature: the second application takes over what was read for the
first, and only what is called is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute, request_response

_add = APIRouter.add_api_route
_known: dict[Any, APIRoute] = {}


def add(router: APIRouter, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
    """In place of `APIRouter.add_api_route`; a route with dependencies of its own is read each time."""
    own = settings.get("dependencies") or router.dependencies or router.dependency_overrides_provider
    key = (
        path,
        *(settings["methods"] or ()),
        router.include_in_schema,
        endpoint.__code__,
        endpoint.__defaults__,
    )
    if not own and key in _known:
        route = copy(_known[key])
        route.endpoint = endpoint
        route.dependant = replace(route.dependant, call=endpoint)
        route.app = request_response(route.get_route_handler())
        router.routes.append(route)
        return
    _add(router, path, endpoint, **settings)
    read = router.routes[-1]
    if not own and isinstance(read, APIRoute):
        _known[key] = read
