"""The evidence of a run, served by `medjury view RUN` to the person at this machine and to nobody else, or as one
file.

One link opens it once, for one browser, and nothing leaves this machine. Another user of the machine can reach
the port, but not the token: it is printed to the terminal of whoever started the server, is spent with its first
use, and the browser that used it keeps a secret of its own. The file needs no server and no network, and is
readable without JavaScript, quicker with it. It is bounded, and says on its first line what was left out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib
import ipaddress
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import Environment
from starlette.exceptions import HTTPException as StarletteHTTPException

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.panel._access._guard import HEADERS, host_named
from medjury.panel._evidence._case_view import case_view
from medjury.panel._evidence._choice import Choice, chosen, overview, row_of, standing
from medjury.panel._evidence._pages import evidence_routes
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._snapshot import Numbers
from medjury.panel._look import error_page, look_of
from medjury.panel._look import routes as look_routes
from medjury.panel._look._look import gathered
from medjury.panel._serve import listen
from medjury.store.runs import RunFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
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
                    *(each for each in _HEADERS if each[0] not in names),
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


_HERE = Path(__file__).parent
_LARGEST = 50_000_000  # characters: what a browser still opens at once


def write_evidence_file(
    folder: str | Path,
    out: str | Path,
    *,
    cases: str | Path | None = None,
    hide_texts: bool | None = None,
    most: int = 500,
) -> str:
    """Write the file, and say in words what is in it. Of more answers than `most`, those with the largest
    differences are written."""
    if most < 1:
        raise MedjuryError(f"a file holds one answer at least, not {most} (--most)")
    target = Path(out)
    run = EvidenceRun(folder, cases=cases, hide_texts=hide_texts)
    if target.resolve().is_relative_to(run.folder.resolve()):
        raise MedjuryError(f"{target}: nothing is written into the run folder; name a file elsewhere")
    state = run.state
    numbers, order = _kept(run, state, most)
    templates, files = gathered((_HERE, _HERE.parent / "_look"))
    written, size = 0, 0
    with whole_file(target) as file:
        # The head tells what is in the file, so that it is written when that is known.
        parts: list[str] = []
        for part in _answers(state, numbers, templates):
            if parts and size + len(part) > _LARGEST:
                break
            parts.append(part)
            size, written = size + len(part), written + 1
        said = _said(written, len(state.snapshot.keys), order, str(run.folder))
        for part in (*_around(run, state, templates, files, said, parts),):
            file.write(part)
    return f"Evidence: {target} ({said}, {(size + 1) / 1e6:.1f} MB)"


def _kept(run: EvidenceRun, state: State, most: int) -> tuple[Numbers, str]:
    count = len(state.snapshot.keys)
    if count <= most:
        return np.arange(count), "in the order of their names"
    numbers = chosen(run, state, Choice(sort="difference"))
    return numbers[:most], "those with the largest differences"


def _said(written: int, count: int, order: str, folder: str) -> str:
    if written == count:
        return f"all {count:,} answers"
    return (
        f"{written:,} of {count:,} answers, {order}; {count - written:,} are left out: "
        f"`medjury view {folder}` shows all"
    )


def _answers(state: State, numbers: Numbers, templates: Environment) -> Iterator[str]:
    template = templates.get_template("evidence/offline_case.html")
    dimensions = state.snapshot.dimensions
    for place in numbers.tolist():
        gap = state.snapshot.difference()[place]
        yield template.render(
            place=place,
            view=case_view(state, place),
            row=row_of(state, place, Choice(), dimensions),
            dimensions=dimensions,
            difference=0.0 if gap != gap else abs(float(gap)),
            apart=float(np.nan_to_num(state.snapshot.apart()[place])),
            dangerous=bool(state.snapshot.dangerous()[place]),
            missed=bool(state.snapshot.missed()[place]),
            unscored=bool(state.snapshot.with_status("unscored")[place]),
            development=bool(state.snapshot.development[place]),
            state=state,
            base="",
        )


def _around(
    run: EvidenceRun,
    state: State,
    templates: Environment,
    files: Mapping[str, bytes],
    said: str,
    parts: list[str],
) -> Iterator[str]:
    style = "".join(files[name].decode() for name in ("look/panel.css", "evidence/evidence.css"))
    script = files["evidence/offline.js"].decode()
    values: dict[str, Any] = {
        "run": run,
        "state": state,
        "standing": standing(state),
        "said": said,
        "style": style,
        "script": script,
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        "base": "",
        **overview(run, state),
    }
    values["systems"] = [name for name, _, _ in values["systems"]]
    head, foot = templates.get_template("evidence/offline.html").render(values).split("<!-- answers -->")
    yield head
    yield from parts
    yield foot


def _hash(text: str) -> str:
    """What a policy names a script or style by that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
