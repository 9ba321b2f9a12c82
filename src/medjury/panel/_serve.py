"""Serving the panel to browsers, until somebody stops it."""

from __future__ import annotations

import importlib
import ipaddress
import pkgutil
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.models import is_local
from medjury.panel._database import open_panel_database
from medjury.panel._panel import Panel, read_open_id_settings
from medjury.studies import load_rated_study
from medjury.version import __version__

if TYPE_CHECKING:
    from fastapi import FastAPI


# A panel for a study file: where its database lies, and the link by which its first coordinator comes in.

DEFAULT_PORT = 8765


def open_panel(
    study_file: str | Path,
    *,
    database: str | None = None,
    public_url: str | None = None,
    open_id: str | Path | None = None,
    passport: str | Path | None = None,
    override: str | Path | None = None,
) -> Panel:
    """The panel of a study, with its rounds set up. Unless another place is named, its database lies beside the
    study file, and so does what the jury of a `passport` keeps."""
    from medjury.in_use.passports import ReadyJury
    from medjury.panel._design._rounds import set_up
    from medjury.panel._meeting._reference_files import set_up_references

    study = load_rated_study(study_file)
    url = checked_url(public_url or study.panel.public_url or f"http://localhost:{DEFAULT_PORT}")
    settings = read_open_id_settings(open_id) if open_id else None
    place = database or str(study.file.resolve().parent / f"{study.name}.panel.sqlite")
    beside = study.file.resolve().parent / f"{study.name}.jury"
    jury = None if passport is None else ReadyJury.open(passport, beside, override)
    panel = Panel(open_panel_database(place), study=study, public_url=url, open_id=settings, jury=jury)
    with panel.database.writing() as connection:
        set_up(connection, study, panel.now())
        set_up_references(connection, study)
    return panel


def checked_url(url: str) -> str:
    """The address that people type, refused where it is none."""
    try:
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        port = f":{parts.port}" if parts.port not in (None, usual) else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise MedjuryError(
            f"--public-url {url!r} is not an address; write it like https://panel.hospital.example"
        )
    if parts.path.rstrip("/") or parts.query or parts.fragment:
        raise MedjuryError("--public-url: the panel needs a host name of its own, without a path behind it")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def coordinators_link(panel: Panel, name: str = "Coordinator") -> str | None:
    """A new link for the coordinator, where none has joined yet; a link that was printed before stops working."""
    from medjury.panel._access._people import Role, add_person, people
    from medjury.panel._access._sign_in import invite, join_address

    with panel.database.writing() as connection:
        found = [each for each in people(connection) if each.role == Role.COORDINATOR]
        if any(each.joined_at and not each.disabled_at for each in found):
            return None
        waiting = [each for each in found if not each.joined_at and not each.disabled_at]
        guest = waiting[0] if waiting else add_person(connection, name, Role.COORDINATOR, now=panel.now())
        return join_address(panel, invite(connection, guest, by="the command line", now=panel.now()))


def invitation_link(panel: Panel, name: str, role: str) -> str:
    """A link for a new person, or a new one for somebody who has lost theirs, from the command line."""
    from medjury.panel._access._people import Role, add_person, person_named
    from medjury.panel._access._sign_in import invite, join_address

    with panel.database.writing() as connection:
        found = person_named(connection, name)
        if found and found.role != role:
            raise MedjuryError(f"{found.name} is {found.role} here; choose another name for a {role}")
        if found and found.disabled_at:
            raise MedjuryError(f"{found.name} is locked out; a coordinator can let them in again")
        guest = found if found else add_person(connection, name, Role(role), now=panel.now())
        return join_address(panel, invite(connection, guest, by="the command line", now=panel.now()))


# The web application, put together from its parts.
#
# A part is a folder beside this file whose entry offers `routes(panel)`. It may offer `NAVIGATION` too, and
# have `templates/`, `static/` and `_tables.py`. None knows another's pages.


def parts() -> list[ModuleType]:
    """The entry of every part, by name."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return [
        importlib.import_module(f"medjury.panel.{name}")
        for name in sorted(each.name for each in found if each.ispkg)
    ]


def make_app(panel: Panel) -> FastAPI:
    """The application; `/healthz` answers 200 once it is up and its database answers."""
    from fastapi import APIRouter, Depends, FastAPI
    from fastapi.responses import PlainTextResponse

    from medjury.panel._access._guard import guard
    from medjury.panel._declared import Everybody, declared_routes
    from medjury.panel._look import NavigationLink, look_of

    app = FastAPI(title="Medjury panel", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.panel = panel
    own = APIRouter()

    @own.get("/healthz", response_class=PlainTextResponse, dependencies=[Depends(Everybody())])
    def healthz() -> str:
        with panel.database.reading() as connection:
            connection.exec_driver_sql("SELECT 1")
        return "ok"

    found = parts()
    routers = [own, *(part.routes(panel) for part in found if hasattr(part, "routes"))]
    links: list[NavigationLink] = [link for part in found for link in getattr(part, "NAVIGATION", ())]
    app.state.look = look_of(found, sorted(links, key=lambda link: link.order))
    app.state.declared_routes = [route for router in routers for route in declared_routes(router)]
    # Addresses are tried in turn, and raters save more often than anyone else. Routes are taken over as they are:
    # `include_router` would read every one of them a second time.
    for router in reversed(routers):
        app.router.routes.extend(router.routes)
    guard(app, panel)
    return app


_FULL_STOP_SECONDS = 10


class ServeError(MedjuryError):
    """The machine does not let us listen there."""

    exit_status = 1


def listen(host: str, port: int) -> socket.socket:
    """A socket that browsers can reach already: whoever comes early waits a moment."""
    if not 0 <= port <= 65535:
        raise MedjuryError(f"--port {port}: a port is a number from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        why = error.strerror or str(error)
        raise ServeError(
            f"cannot listen at {host}, port {port}: {why}. Choose another with --port."
        ) from None
    return listening


def serve(
    panel: Panel,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    public_url: str | None = None,
    proxies: Sequence[str] = (),
    coordinator: str = "Coordinator",
    say: Callable[[str], None] = print,
) -> None:
    """Answer until stopped; what is being saved at that moment is saved. Port 0 is one that is free."""
    import uvicorn

    with listen(host, port) as listening:
        panel = _reached_at(panel, host, listening, public_url)
        proxies = [_proxy(each) for each in proxies]
        app = make_app(panel)
        for line in greeting(panel, coordinators_link(panel, coordinator), proxies):
            say(line)
        config = uvicorn.Config(
            app,
            access_log=False,  # addresses of invitations are secrets
            log_level="warning",
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),  # whoever else sends the header is not believed, here too
            timeout_graceful_shutdown=_FULL_STOP_SECONDS,
            ws="none",
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            panel.database.close()


def _reached_at(panel: Panel, host: str, listening: socket.socket, public_url: str | None) -> Panel:
    """The panel with the address that people type, where nobody named one: this machine's, at the port in use."""
    if public_url or (panel.study and panel.study.panel.public_url):
        return panel
    if not is_local(host):
        raise MedjuryError(
            f"--host {host} opens the panel to other machines: say which address people type, for instance "
            "--public-url https://panel.hospital.example (docs: the panel, for the site's IT)"
        )
    return replace(panel, public_url=f"http://localhost:{listening.getsockname()[1]}")


def _proxy(address: str) -> str:
    try:
        return str(ipaddress.ip_network(address)) if "/" in address else str(ipaddress.ip_address(address))
    except ValueError:
        raise MedjuryError(
            f"--proxy {address}: name the proxy by its address, as 127.0.0.1, or a network, as 10.0.0.0/24"
        ) from None


def greeting(panel: Panel, link: str | None, proxies: Sequence[str] = ()) -> list[str]:
    """What to do next, for whoever started the panel."""
    lines = [f"The panel of {panel.study.name if panel.study else 'this study'} is at {panel.public_url}"]
    if link:
        lines += [
            "Nobody coordinates it yet. Open this link in a browser; it works once, for 14 days:",
            f"  {link}",
            "Then invite raters under People.",
        ]
    else:
        lines.append(
            "Sign in there. A coordinator who cannot: medjury panel invite STUDY --role coordinator --name NAME"
        )
    if urlsplit(panel.public_url).scheme == "http" and not is_local(panel.host):
        lines.append(
            "Warning: over http anyone in the network can read passwords and texts. Put a TLS proxy in front."
        )
    if panel.is_secure and not proxies:
        lines.append(
            "No proxy is named, so everybody behind one has the same address here, and guessing one "
            "password makes others wait. Name it: --proxy 127.0.0.1, where it is on this machine."
        )
    return [*lines, f"Everything is kept in {panel.database.place}", "Stop with Ctrl-C; nothing is lost."]
