"""A body that never ends: whoever sends a letter at a time is cut off, and nobody else waits for it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.panel.rounds import set_up_panel
from tests.panel.served import served

from medjury.panel._access import _guard
from medjury.panel._serve import Panel

WAIT_SECONDS = 60


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(_guard, "BODY_SECONDS", 0.5)
    database, _ = set_up_panel(tmp_path, cases=1)
    with served(Panel(database)) as panel:
        yield int(panel.public_url.rpartition(":")[2])
    database.close()


def opened(port: int, *lines: str) -> socket.socket:
    head = ["POST /sign-in HTTP/1.1", f"Host: localhost:{port}", *lines, "", ""]
    sending = socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS)
    sending.sendall("\r\n".join(head).encode())
    return sending


@pytest.mark.parametrize("framing", ["Content-Length: 100000", "Transfer-Encoding: chunked"])
def test_a_body_that_drips_is_cut_off(port: int, framing: str) -> None:
    drip = b"1\r\na\r\n" if "chunked" in framing else b"a"
    with opened(port, "Content-Type: application/x-www-form-urlencoded", framing) as sending:
        sending.settimeout(0.05)
        answer, limit = b"", time.monotonic() + WAIT_SECONDS
        while time.monotonic() < limit:
            try:
                sending.sendall(drip)
                if not (read := sending.recv(65536)):
                    break
                answer += read
            except TimeoutError:
                continue
            except OSError:  # cut off while we were sending
                break
        else:
            raise AssertionError("it was never cut off")
    assert answer.startswith(b"HTTP/1.1 408 ") or not answer
    assert b"Traceback" not in answer


def test_others_are_answered_meanwhile(port: int) -> None:
    kind = "Content-Type: application/x-www-form-urlencoded"
    dripping = [
        opened(port, kind, "Content-Length: 100000") for _ in range(60)
    ]  # more than there are threads
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as other:
            other.sendall(
                f"GET /sign-in HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode()
            )
            assert other.recv(65536).startswith(b"HTTP/1.1 200 ")
    finally:
        for each in dripping:
            each.close()
