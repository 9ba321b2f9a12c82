"""Who is asking, and may they? A route says it with `Depends(person_with(Role.RATER))` or `Depends(anyone)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request

from medjury.panel._access._people import Person, Role
from medjury.panel._access._secrets import begin_visit, form_secret, form_token, session_secret
from medjury.panel._access._sessions import find_session, note_seen
from medjury.panel._language import ENGLISH, speak
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection


class SignInFirst(Exception):  # noqa: N818 - no error: the answer is the way to the sign-in
    """Nobody is signed in; the answer leads to the sign-in page and back."""

    def __init__(self, back_to: str) -> None:
        super().__init__(back_to)
        self.location = "/sign-in" + (f"?next={quote(back_to)}" if back_to not in ("", "/") else "")


class person_with:  # noqa: N801 - read in a route: Depends(person_with(Role.RATER))
    """Lets only people with one of these roles pass, and gives the person."""

    def __init__(self, *roles: Role) -> None:
        if not roles:
            raise TypeError("name the roles that may use the route; `anyone` needs no sign-in")
        self.roles: frozenset[str] = frozenset(roles)

    def __call__(self, request: Request) -> Person:
        return signed_in(request, *(Role(role) for role in self.roles))


@dataclass(frozen=True)
class Claim:
    """Somebody with a session that may or may not hold. Who it is comes out in the transaction that does what they
    ask for, so a route that saves looks at the database once."""

    request: Request
    roles: frozenset[str]

    def person(self, connection: Connection, now: datetime) -> Person | SignInFirst | HTTPException:
        """The person, where the session holds and they have one of the roles; else what to raise."""
        secret = session_secret(self.request)
        found = find_session(connection, secret, now) if secret else None
        if found is None:
            return _sign_in_first(self.request)
        person, should_note = found
        if secret and should_note:
            note_seen(connection, secret, now)
        _make_known(self.request, person)
        return person if person.role in self.roles else HTTPException(403)

    def check(self) -> None:
        """Refuse whoever is not who they claim to be, before anything else is said to them."""
        signed_in(self.request, *(Role(role) for role in self.roles))


class claimed_by:  # noqa: N801 - read in a route: Depends(claimed_by(Role.RATER))
    """Like `person_with`, for a route that asks for the person in its own transaction."""

    def __init__(self, *roles: Role) -> None:
        self.roles = person_with(*roles).roles

    async def __call__(self, request: Request) -> Claim:
        if session_secret(request) is None:
            raise _sign_in_first(request)
        claim = request.state.claim = Claim(request, self.roles)
        return claim


class _Anyone:
    roles: frozenset[str] = frozenset()

    def __call__(self, request: Request) -> Person | None:
        return visitor(request)


anyone = _Anyone()

# How a route names who it is for.
Anyone = Annotated[Person | None, Depends(anyone)]
Whoever = Annotated[Person, Depends(person_with(*Role))]
Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]
Rater = Annotated[Person, Depends(person_with(Role.RATER))]
Adjudicator = Annotated[Person, Depends(person_with(Role.ADJUDICATOR))]


def signed_in(request: Request, *roles: Role) -> Person:
    """The person who is signed in, where they have one of the roles (none named: whoever it is)."""
    person = visitor(request)
    if person is None:
        raise _sign_in_first(request)
    if roles and person.role not in roles:
        raise HTTPException(403)
    return person


def visitor(request: Request) -> Person | None:
    """The person who is signed in, or None; pages and forms learn of it."""
    person = _person(request, request.app.state.panel)
    _make_known(request, person)
    return person


def _make_known(request: Request, person: Person | None) -> None:
    request.state.person = person
    if person is not None and person.role is not Role.RATER:
        speak(ENGLISH)
    elif person is not None and person.language:
        speak(person.language)
    request.state.csrf = form_token(form_secret(request) or begin_visit(request))


def _sign_in_first(request: Request) -> SignInFirst:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return SignInFirst(path if request.method == "GET" else "/")


def address_of(request: Request) -> str:
    """Where the request came from, as far as the proxies that we trust tell."""
    return request.client.host if request.client else ""


def _person(request: Request, panel: Panel) -> Person | None:
    secret = session_secret(request)
    if secret is None:
        return None
    now = panel.now()
    with panel.database.reading() as connection:
        found = find_session(connection, secret, now)
    if found is None:
        return None
    person, should_note = found
    if should_note:
        with panel.database.writing() as connection:
            note_seen(connection, secret, now)
    return person
