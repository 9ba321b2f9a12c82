"""Serving the panel to browsers, until somebody stops it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.models import is_local
from medjury.panel._app import make_app
from medjury.panel._opening import coordinators_link
from medjury.panel._panel import Panel

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
        told = error.strerror or str(error)
        raise ServeError(
            f"cannot listen at {host}, port {port}: {told}. Choose another with --port."
        ) from None
    return listening


def serve(
    panel: Panel,
    listening: socket.socket,
    *,
    proxies: Sequence[str] = (),
    coordinator: str = "Coordinator",
    say: Callable[[str], None] = print,
) -> None:
    """Answer until stopped; what is being saved at that moment is saved."""
    import uvicorn

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
        forwarded_allow_ips=list(
            proxies
        ),  # whoever else sends the header, on this machine too, is not believed
        timeout_graceful_shutdown=_FULL_STOP_SECONDS,
        ws="none",
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        panel.database.close()


def reached_at(panel: Panel, host: str, listening: socket.socket, public_url: str | None) -> Panel:
    """The panel with the address that people type, where nobody named one: this machine's, at the port in use."""
    if public_url:
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
            "No proxy is named, so that everybody behind one has the same address here, and guessing at one "
            "password makes others wait. Name it: --proxy 127.0.0.1, where it is on this machine."
        )
    return [*lines, f"Everything is kept in {panel.database.place}", "Stop with Ctrl-C; nothing is lost."]
