"""A small study with one judge on loopback, for programs that borrow its jury; and no way out of this machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from medjury.instruments import load_instrument

DIMENSIONS = ["accuracy", "clarity"]


def graded(grade: int) -> str:
    """What a judge answers that gives this grade on both dimensions."""
    assert set(DIMENSIONS) <= {each.name for each in load_instrument("note_quality").dimensions}
    return "ok:" + json.dumps({name: {"score": grade, "explanation": "Clear."} for name in DIMENSIONS})


def write_study(folder: Path, url: str, **settings: Any) -> Path:
    """A study file; its own cases are never asked about."""
    (folder / "cases.jsonl").write_text(
        json.dumps({"id": "own", "candidate": "Own note.", "context": "Own talk.", "reference": "Own note."})
        + "\n"
    )
    whole: dict[str, Any] = {
        "study": "borrowed",
        "cases": "cases.jsonl",
        "instrument": "note_quality",
        "dimensions": DIMENSIONS,
        "judges": [{"kind": "openai", "name": "judge", "url": url, "model": "judge", "reasks": 0}],
        "output": "run",
        **settings,
    }
    file = folder / "study.yaml"
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in whole.items()))
    return file


@contextmanager
def nothing_leaves(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every attempt to connect to another machine, or to find its address, fails and is written down."""
    tried: list[str] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and not _here(str(address[0])):
            tried.append(f"connect {address}")
            raise OSError("a test may not leave this machine")
        return connect(self, address)

    def asked(host: Any, *others: Any, **named: Any) -> Any:
        if not _here(str(host)):
            tried.append(f"look up {host}")
            raise socket.gaierror("a test may not leave this machine")
        return look_up(host, *others, **named)

    with monkeypatch.context() as patched:
        patched.setattr(socket.socket, "connect", guarded)
        patched.setattr(socket, "getaddrinfo", asked)
        yield tried


def _here(host: str) -> bool:
    return host in ("127.0.0.1", "localhost", "::1", "None", "0.0.0.0", "")
