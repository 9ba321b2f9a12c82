"""Every route says who may use it. One that does not cannot be served.

A dependency with `roles` lets only these pass (none named: anyone); one with `checks_origin` lets no other site
change something in a person's name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter
    from fastapi.dependencies.models import Dependant

CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Everybody:
    """Lets anyone pass and asks the database nothing."""

    roles: frozenset[str] = frozenset()

    async def __call__(self) -> None:
        return None


@dataclass(frozen=True)
class DeclaredRoute:
    """A route, and the roles that may use it (none: anyone)."""

    path: str
    methods: frozenset[str]
    roles: frozenset[str]


def declared_routes(router: APIRouter) -> Iterator[DeclaredRoute]:
    """The routes of a part, each with its roles; refuses a route that names none, or that changes something without
    asking where the request comes from."""
    from fastapi.routing import APIRoute

    for route in router.routes:
        if not isinstance(route, APIRoute):
            raise TypeError(f"{route}: a part's router holds its routes directly, with the whole path")
        calls = list(_calls(route.dependant))
        roles = [found for call in calls if (found := getattr(call, "roles", None)) is not None]
        if not roles:
            raise TypeError(
                f"{route.path} does not say who may use it: Depends(person_with(Role...)) or anyone"
            )
        methods = frozenset(route.methods or ())
        if methods & CHANGING and not any(getattr(call, "checks_origin", False) for call in calls):
            raise TypeError(f"{route.path} changes something and is not guarded: Depends(form_of)")
        narrowest = (
            frozenset.intersection(*named) if (named := [each for each in roles if each]) else frozenset()
        )
        if named and not narrowest:
            raise TypeError(f"{route.path} asks for roles that nobody has together")
        yield DeclaredRoute(route.path, methods, narrowest)


def _calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield each.call
        yield from _calls(each)
