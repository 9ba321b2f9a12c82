"""The endpoint that benchmarks ask: the loopback server of the tests, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


@contextmanager
def endpoint(latency: float = 0.0, log: Path | None = None) -> Iterator[tuple[str, int]]:
    """Its address and the number of its process; it may write down what arrives."""
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", "--latency", str(latency)]
    command += [] if log is None else ["--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip(), server.pid
        finally:
            server.kill()
