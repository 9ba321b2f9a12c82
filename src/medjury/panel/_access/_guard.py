"""What every answer passes: the host that was asked for, the size of what was sent, the headers that keep a page to
itself, and errors that tell a reader what to do and nobody anything else."""

from __future__ import annotations

import asyncio
import sys
import traceback
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as StarletteHTTPException

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._sessions import cookie_of, set_cookie
from medjury.panel._access._visitors import LARGEST_BODY, Form, SignInFirst, read_fields, visitor
from medjury.panel._language import _, begin, marked
from medjury.panel._look import error_page, page

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from medjury.panel._panel import Panel


# While the database is out of reach, as when it is restarted, a page says so and keeps what was typed: it holds
# the form that was sent, with a button that sends it again.

WAIT_SECONDS = 5
UNREACHABLE = marked("The panel cannot reach its database just now. Try again in a moment.")


def is_out_of_reach(error: Exception) -> bool:
    """Whether the database failed, and not what was asked of it."""
    return isinstance(error, InterfaceError | OperationalError | PoolTimeoutError)


async def out_of_reach_page(request: Request) -> Response:
    """What happened, and the way to send the form again, with or without JavaScript."""
    sent: Form | None = getattr(request.state, "form", None)
    if sent is None and request.method == "POST":
        try:
            sent = await read_fields(request)
        except Exception:  # nothing that we could read was sent
            sent = None
    can_send = sent is not None and not sent.files and "password" not in sent
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    request.state.person, request.state.csrf = None, ""
    answer = page(
        request,
        "access/out_of_reach.html",
        status=503,
        fields=sent.fields if sent is not None and can_send else (),
        is_sent=request.method == "POST",
        address=address,
    )
    answer.headers["Retry-After"] = str(WAIT_SECONDS)
    return answer


BODY_SECONDS = 60  # a form has come by then, over the slowest line of a ward
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PERMISSIONS = (
    "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), "
    "microphone=(), midi=(), payment=(), usb=(), publickey-credentials-get=(self), "
    "publickey-credentials-create=(self)"
)
_MESSAGES = {
    400: (marked("That request cannot be read"), marked("Go back, open the page again and try once more.")),
    401: ("Sign in first", "Send an API key in the header Authorization: Bearer KEY, or sign in."),
    402: ("The budget is spent", "The jury has no grade for this text. Ask whoever looks after the study."),
    403: (
        marked("This page is not for you"),
        marked("Your role does not open it. Ask the coordinator of the study if it should."),
    ),
    404: (
        marked("There is no such page"),
        marked("The address may be mistyped, or what it showed is not yours to see."),
    ),
    405: (
        marked("There is no such page"),
        marked("The address may be mistyped, or what it showed is not yours to see."),
    ),
    408: (
        marked("That took too long"),
        marked("The connection was too slow. Nothing was saved; go back and send it once more."),
    ),
    413: (marked("That is too large"), marked("Send less at once.")),
    421: (
        marked("Wrong address"),
        marked("This panel does not answer to that host name. Use the address you were given."),
    ),
    422: (marked("That request cannot be read"), marked("Something in it is missing or has the wrong form.")),
    429: (marked("Too many attempts"), marked("Wait a little, then try again.")),
    503: (marked("Try again in a moment"), UNREACHABLE),
    500: (
        marked("Something went wrong"),
        marked("It is our fault, not yours. What was shown as saved is saved. Try again."),
    ),
}


def guard(app: FastAPI, panel: Panel) -> None:
    """Put the guard around the application."""
    app.add_exception_handler(SignInFirst, _to_sign_in)
    app.add_exception_handler(StarletteHTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(MedjuryError, _refused)
    app.add_middleware(_Guard, panel=panel)


class _Guard:
    """Stands before everything else, so that no answer leaves without it."""

    def __init__(self, app: ASGIApp, panel: Panel) -> None:
        self._app = app
        self._panel = panel
        self._headers = _headers(panel)
        self._hosts = _LOOPBACK | {panel.host}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        asked = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
        begin(
            ""
            if scope["path"].startswith("/api/")
            else f"{cookie_of(Request(scope), 'language') or ''},{asked}"
        )
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = self._with_headers(scope, message["headers"])
            await send(message)

        bounded = _Bounded(receive)
        try:
            if (refusal := self._refusal(scope)) is not None:
                await refusal(scope, receive, answer)
            else:
                await self._app(scope, bounded.receive, answer)
        except Exception as error:  # the last resort: a page instead of a trace
            if bounded.too_large and not started:
                await _plain(413)(scope, receive, answer)
                return
            _log(error, scope)
            if started:
                raise ConnectionAbortedError from None  # half an answer is cut off, never ended as if whole
            request = Request(scope, bounded.receive)
            if is_out_of_reach(error) and not _is_api(request):
                await (await out_of_reach_page(request))(scope, receive, answer)
            else:
                await _answer(request, 503 if is_out_of_reach(error) else 500)(scope, receive, answer)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        if scope["path"] != "/healthz" and host_named(headers.get(b"host", b"")) not in self._hosts:
            return _plain(421)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return _plain(400)
        return _plain(413) if len(length) > 12 or int(length) > LARGEST_BODY else None

    def _with_headers(self, scope: Scope, given: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        names = {name.lower() for name, _ in given}
        added = [(name, value) for name, value in self._headers if name not in names]
        if (secret := scope["state"].get("new_visit")) is not None:
            carrier = Response()
            set_cookie(carrier, self._panel, "visit", secret)
            added += [(name, value) for name, value in carrier.raw_headers if name == b"set-cookie"]
        return [*given, *added]


class _Bounded:
    """Counts what is sent, whatever the request says about its length, and how long it takes."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._seen = 0
        self._until = asyncio.get_running_loop().time() + BODY_SECONDS
        self._is_whole = False
        self.too_large = False

    async def receive(self) -> Message:
        if self._is_whole:  # what comes now is that the browser has gone
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408) from None
        self._is_whole = not message.get("more_body", False)
        self._seen += len(message.get("body", b""))
        if self._seen > LARGEST_BODY:
            self.too_large = True
            raise HTTPException(413)
        return message


def host_named(header: bytes) -> str | None:
    """The host in the header of that name, without its port."""
    try:
        return urlsplit("//" + header.decode("latin-1")).hostname
    except ValueError:  # no address at all
        return None


HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def _headers(panel: Panel) -> list[tuple[bytes, bytes]]:
    headers = {**HEADERS, "permissions-policy": _PERMISSIONS, "x-robots-tag": "noindex"}
    if panel.is_secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _to_sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInFirst)
    if _is_api(request):
        return _answer(request, 401)
    return RedirectResponse(error.location, 303)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    detail = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
    answer = await _shown(request, error.status_code, detail)
    answer.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.REQUEST_TIMEOUT:
        answer.headers["Connection"] = "close"  # whatever of it still comes is not read
    return answer


async def _unreadable(request: Request, error: Exception) -> Response:
    return await _shown(request, 422)


async def _refused(request: Request, error: Exception) -> Response:
    return await _shown(request, 400, str(error))


async def _shown(request: Request, status: int, detail: str = "") -> Response:
    """A thread is needed only where the database is asked who this is."""
    if _is_api(request) or hasattr(request.state, "person"):
        return _answer(request, status, detail)
    return await run_in_threadpool(_answer, request, status, detail)


def _answer(request: Request, status: int, detail: str = "") -> Response:
    title, message = map(
        _, _MESSAGES.get(status, (HTTPStatus(status).phrase, marked("Go back and try again.")))
    )
    if detail and status in (400, 403):
        title = _("Nothing was changed")
    if _is_api(request):
        return JSONResponse({"error": detail or message}, status)
    if not hasattr(request.state, "person"):
        try:
            visitor(request)
        except Exception:  # the database is what failed
            request.state.person, request.state.csrf = None, ""
    return error_page(request, status, title, detail or message)


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _plain(status: int) -> Response:
    title, message = map(_, _MESSAGES[status])
    return PlainTextResponse(f"{title}. {message}\n", status)


def _log(error: Exception, scope: Scope) -> None:
    """Where it happened, without what it was about: messages of errors may hold a patient's words."""
    places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    route = getattr(scope.get("route"), "path", "")
    print(f"medjury panel: {type(error).__name__} in {scope['method']} {route} at {' < '.join(reversed(places))}",
          file=sys.stderr, flush=True)  # fmt: skip
