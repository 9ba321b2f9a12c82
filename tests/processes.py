"""Runs in processes of their own, to be killed: forked from one that has loaded the package, as starts take time.
Beside them the endpoint that they ask, in a process that lives on and writes down what it answered.

polars is not loaded there: its threads would not live on in a fork. A run loads it by itself, at its end.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from medjury.cli import main

_PRELOADED = (
    "aiohttp",
    "medjury.cli._run_file",
    "medjury.studies",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "uvloop",
    "yaml",
)
_PATIENCE = 120.0
_ROOT = Path(__file__).parent.parent
_LOOPBACK = ("tests.loopback", "--port", "0", "--latency", "0.03")


def start(study: Path, *options: str, command: tuple[str, ...] = ("run",)) -> BaseProcess:
    """`medjury run STUDY --quiet`, or another command on a file, under way."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload(list(_PRELOADED))
    run = processes.Process(target=_run, args=([*command, str(study), "--quiet", *options],))
    run.start()
    return run


def _run(words: list[str]) -> None:
    sys.exit(main(words))


def wait_until(reached: Callable[[], bool], run: BaseProcess) -> None:
    """Until a run has come so far."""
    deadline = time.monotonic() + _PATIENCE
    while not reached():
        assert run.is_alive(), "the run ended before it came so far"
        assert time.monotonic() < deadline, "the run does not come so far"
        time.sleep(0.005)


def kill(run: BaseProcess) -> None:
    """`kill -9`, of a run that is alive."""
    run.kill()
    run.join()
    assert run.exitcode == -signal.SIGKILL, "the run ended before it could be killed; give it more cases"


def finish(study: Path, *options: str) -> int | None:
    """A run to its end; the exit status."""
    run = start(study, *options)
    run.join()
    return run.exitcode


@contextmanager
def endpoint(log: Path, *module: str) -> Iterator[str]:
    """A model endpoint (`module` and its options; the loopback server unless told) in a process of its own, which
    writes down every request it answered."""
    command = [sys.executable, "-m", *(module or _LOOPBACK), "--log", str(log)]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def answered(log: Path) -> Counter[str]:
    """How often each request (by the hash of its body) was answered with success."""
    return Counter(line.split()[0] for line in lines(log))
