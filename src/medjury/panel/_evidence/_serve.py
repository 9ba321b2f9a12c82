"""`medjury view RUN`: serve the evidence of a run to the person at this machine, and to nobody else.

One link opens it once, for one browser, and nothing leaves this machine. Another user of the machine can reach the
port, but not the token: it is printed to the terminal of whoever started the server, is spent with its first use,
and the browser that used it keeps a secret of its own.
"""

from __future__ import annotations

import hmac
import importlib
import ipaddress
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._guard import host_named
from medjury.panel._evidence._pages import evidence_routes
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._look import error_page, look_of
from medjury.panel._look import routes as look_routes
from medjury.panel._serve import listen
from medjury.store.runs import RunFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_USED = (
    "This link was used already, or is not the one that was printed. A link opens the evidence once, in one "
    "browser: stop `medjury view` and start it again for a new one."
)


class OneTimeLink:
    """Who has been let in. The token is good once; what a browser keeps is good while the server runs."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self.cookie = f"medjury-view-{port}"  # browsers do not tell ports apart
        self._kept = secrets.token_urlsafe(32)
        self._spent = False
        self._lock = threading.Lock()

    def open(self, token: str) -> str | None:
        """What the browser keeps, where the token is the one that was printed and nobody used it before."""
        with self._lock:
            if self._spent or not hmac.compare_digest(token.encode(), self.token.encode()):
                return None
            self._spent = True
        return self._kept

    def __call__(self, request: Request) -> None:
        kept = request.cookies.get(self.cookie, "")
        if not hmac.compare_digest(kept.encode(), self._kept.encode()):
            raise HTTPException(403)


def view_app(
    run: EvidenceRun, link: OneTimeLink, *, beside: EvidenceRun | None = None, hosts: frozenset[str]
) -> FastAPI:
    """The application of `medjury view`, for requests to one of these hosts."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.panel = SimpleNamespace(study=None)
    parts = [importlib.import_module(f"medjury.panel.{name}") for name in ("_look", "_evidence")]
    app.state.look = look_of(parts, ())
    app.include_router(evidence_routes(lambda: (run, beside), link))

    @app.get("/open/{token}")
    def enter(token: str) -> Response:
        kept = link.open(token)
        if kept is None:
            return HTMLResponse(f"<!doctype html><title>Medjury</title><p>{_USED}</p>", status_code=403)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(link.cookie, kept, httponly=True, samesite="lax", path="/")
        return answer

    app.include_router(look_routes(app.state.panel))
    app.add_exception_handler(StarletteHTTPException, _http_error)
    app.add_exception_handler(MedjuryError, _refused)
    app.add_middleware(_Headers, hosts=hosts)
    return app


class _Headers:
    """Refuses another host's name (a page elsewhere that points its name here), and adds the headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(each for each in HEADERS if each[0] not in names),
                ]
            await send(message)

        host = host_named(dict(scope["headers"]).get(b"host", b""))
        if scope["method"] not in ("GET", "HEAD"):
            await PlainTextResponse("This is read only.", 405)(scope, receive, answer)
        elif host not in self._hosts:
            await PlainTextResponse("This address is not served here.", 421)(scope, receive, answer)
        else:
            await self._app(scope, receive, answer)


def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, StarletteHTTPException) else 500
    if status == 403:
        return error_page(request, 403, "This browser was not let in", _USED)
    return error_page(
        request,
        status,
        "There is no such page",
        "The address may be mistyped, or the run has no such answer.",
    )


def _refused(request: Request, error: Exception) -> Response:
    return error_page(request, 400, "That cannot be shown", str(error))


_MANY = 2_000  # answers, from which on the reader waits long enough to wonder


def serve_evidence(
    folder: str | Path,
    *,
    cases: str | Path | None = None,
    beside: str | Path | None = None,
    hide_texts: bool | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    open_to_network: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve until interrupted. Port 0 takes one that is free."""
    import uvicorn

    check_host(host, open_to_network)
    if (answers := RunFolder(folder).manifest.cases) > _MANY:
        say(f"Reading {answers:,} answers and checking their texts…")
    run = EvidenceRun(folder, cases=cases, hide_texts=hide_texts)
    other = None if beside is None else EvidenceRun(beside, hide_texts=hide_texts)
    with listen(host, port) as bound:
        number = bound.getsockname()[1]
        link = OneTimeLink(number)
        known = {"127.0.0.1", "localhost", "::1", host}
        app = view_app(run, link, beside=other, hosts=frozenset(known))
        if why := run.state.texts.why_not:
            say(f"No texts are shown: {why}.")
        shown = f"[{host}]" if ":" in host else host
        say(f"Open once, in one browser: http://{shown}:{number}/open/{link.token}")
        say("Read only; Ctrl-C ends it.")
        threading.Thread(target=run.warm_up, daemon=True).start()
        # No access log: an address may hold a case's name or the words of a search.
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[bound])


def check_host(host: str, open_to_network: bool) -> None:
    """Beyond this machine only where that is said in so many words: what is sent is clinical text, unencrypted."""
    try:
        near = ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = host == "localhost"
    if not near and not open_to_network:
        raise MedjuryError(
            f"{host} is beyond this machine, and what is shown would travel unencrypted; leave --host out, put a "
            "TLS proxy before 127.0.0.1, or say --open-to-network"
        )
