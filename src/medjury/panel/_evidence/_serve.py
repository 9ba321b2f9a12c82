"""`medjury view RUN`: serve the evidence of a run to the person at this machine, and to nobody else."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun
from medjury.store.runs import RunFolder

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

    from medjury.panel._evidence._door import Door, view_app

    check_host(host, open_to_network)
    if (answers := RunFolder(folder).manifest.cases) > _MANY:
        say(f"Reading {answers:,} answers and checking their texts…")
    run = EvidenceRun(folder, cases=cases, hide_texts=hide_texts)
    other = None if beside is None else EvidenceRun(beside, hide_texts=hide_texts)
    with listening(host, port) as bound:
        number = bound.getsockname()[1]
        door = Door(number)
        known = {"127.0.0.1", "localhost", "::1", host}
        app = view_app(run, door, beside=other, hosts=frozenset(known))
        if why := run.state.texts.why_not:
            say(f"No texts are shown: {why}.")
        shown = f"[{host}]" if ":" in host else host
        say(f"Open once, in one browser: http://{shown}:{number}/open/{door.token}")
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


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; a port that is taken is told."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise MedjuryError(
            f"{host}, port {port}: cannot be served ({error.strerror}); give another --port"
        ) from None
    return bound
