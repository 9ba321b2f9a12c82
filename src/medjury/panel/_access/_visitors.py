"""Who is asking, and may they? A route says it with `Depends(person_with(Role.RATER))` or `Depends(anyone)`. What
a form sent is read only where it came from one of our own pages."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import quote, urlsplit

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartParser

from medjury.panel._access._people import Person, Role
from medjury.panel._access._sessions import (
    begin_visit,
    find_session,
    form_secret,
    form_token,
    note_seen,
    session_secret,
)
from medjury.panel._language import ENGLISH, _, speak
from medjury.panel._panel import Panel

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection


MOST_FIELDS = 2000
LARGEST_BODY = 2 * 1024 * 1024


class SentFile(NamedTuple):
    """A file that a form brought along, under the name that it had there."""

    name: str
    content: bytes


class Form(Mapping[str, str]):
    """The fields of a form; of a name that appears several times, `all` gives every value and `[]` the last."""

    def __init__(self, fields: list[tuple[str, str]], files: Mapping[str, SentFile] | None = None) -> None:
        self._fields = fields
        self._last = dict(fields)
        self.files = files or {}

    def __getitem__(self, name: str) -> str:
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Every field in the order of the form."""
        return self._fields

    def all(self, name: str) -> list[str]:
        return [value for each, value in self._fields if each == name]

    def number(self, name: str) -> int:
        """What a field counts, such as the version that the form was opened with; what is no number is older than
        anything."""
        text = self.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


class _FormOf:
    """Reads a form, and refuses one that another site sent in a person's name (403)."""

    checks_origin: bool = True

    async def __call__(self, request: Request) -> Form:
        refuse_other_sites(request)
        form = request.state.form = await read_fields(request)
        secret = form_secret(request)
        given = request.headers.get("x-csrf-token") or form.get("csrf", "")
        if secret is None or not hmac.compare_digest(given.encode(), form_token(secret).encode()):
            if (claim := getattr(request.state, "claim", None)) is not None:
                await run_in_threadpool(claim.check)  # whoever is not signed in learns that first
            raise HTTPException(
                403, _("This form is no longer valid. Open the page again and send it once more.")
            )
        return form


form_of = _FormOf()
SentForm = Annotated[Form, Depends(form_of)]  # how a route that changes something reads its body


class _InMemory(MultiPartParser):
    """What is sent may hold clinical text: it is not written to a temporary file, however large it is."""

    spool_max_size = LARGEST_BODY + 1


async def read_fields(request: Request) -> Form:
    """The form as it was sent, whoever sent it."""
    kind = request.headers.get("content-type", "")
    try:
        if kind.startswith("multipart/form-data"):
            sent = await _InMemory(
                request.headers, request.stream(), max_files=4, max_fields=MOST_FIELDS
            ).parse()
        else:
            sent = await request.form(max_fields=MOST_FIELDS)
    except HTTPException:
        raise
    except Exception:  # whatever was sent is no form
        raise HTTPException(400) from None
    fields: list[tuple[str, str]] = []
    files: dict[str, SentFile] = {}
    for name, value in sent.multi_items():
        if isinstance(value, UploadFile):
            files[name] = SentFile(_storable(value.filename or ""), await value.read())
        else:
            fields.append((name, _storable(value)))
    await sent.close()
    return Form(fields, files)


def refuse_other_sites(request: Request) -> None:
    """A browser says which site a request comes from; one that is not ours changes nothing here."""
    origin = request.headers.get("origin")
    own = {urlsplit(request.app.state.panel.public_url).netloc, request.headers.get("host", "")}
    # "null" is what browsers send where a page asks, as ours do, that its address is not passed on.
    if origin not in (None, "null") and urlsplit(origin).netloc not in own:
        raise HTTPException(403, _("This request came from another site. Open the page here and try again."))
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise HTTPException(403, _("This request came from another site. Open the page here and try again."))


def _storable(text: str) -> str:
    """Without what no database can keep: a zero byte, half a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


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
