"""A panel served to real browsers: uvicorn on loopback in a thread, or the command in a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from medjury.panel._serve import Panel, listen, make_app

WAIT_SECONDS = 60


@contextmanager
def served(panel: Panel, port: int = 0) -> Iterator[Panel]:
    """The panel at its own address: this port of the machine, or a free one."""
    with listen("127.0.0.1", port) as listening:
        reached = replace(panel, public_url=f"http://localhost:{listening.getsockname()[1]}")
        with running(make_app(reached), listening):
            yield reached


@contextmanager
def running(app: FastAPI, listening: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, log_level="error", server_header=False, ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    limit = time.monotonic() + WAIT_SECONDS
    while not server.started:
        assert thread.is_alive() and time.monotonic() < limit, "the server did not start"
        time.sleep(0.02)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(WAIT_SECONDS)


@contextmanager
def served_by_command(study: Path, *words: str) -> Iterator[list[str]]:
    """`medjury panel serve` in a process of its own: what it prints until it says how to stop it."""
    command = [sys.executable, "-m", "medjury", "panel", "serve", str(study), "--port", "0", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip())
            if "Ctrl-C" in line:
                break
        yield lines
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) in (0, 130)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
