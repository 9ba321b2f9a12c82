"""Runs in processes of their own, to be killed: forked from one that has loaded the package, as starts take time.
Beside them the endpoint that they ask, in a process that lives on and writes down what it answered.

polars is not loaded there: its threads would not live on in a fork. A run loads it by itself, at its end.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from medjury.cli import main

# Rooms open when somebody enters: their files are named, and a door alone would load nothing.
_PRELOADED = (
    "aiohttp",
    "medjury.cli.run",
    "medjury.models._openai.openai",
    "medjury.studies._plan.outlook",
    "medjury.studies._run.run",
    "psycopg",
    "scipy.sparse",
    "scipy.special",
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


class Command:
    """`medjury WORDS…` in a process of its own, as `subprocess.Popen` has it, without the seconds of a start. Where
    `longest_file` is given, no file may grow longer."""

    returncode: int | None = None

    def __init__(self, *words: str, longest_file: int | None = None) -> None:
        processes = get_context("forkserver")
        processes.set_forkserver_preload(list(_PRELOADED))
        out, told = (processes.Pipe(duplex=False) for _ in range(2))
        self._process = processes.Process(target=_command, args=(words, out[1], told[1], longest_file))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.stdout, self.stderr = (os.fdopen(os.dup(pipe[0].fileno())) for pipe in (out, told))
        for end in (*out, *told):
            end.close()

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.stdout.close()
        self.stderr.close()
        self._process.close()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        self.returncode = self._process.exitcode
        assert self.returncode is not None, "it goes on"
        return self.returncode

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that it says to its end."""
        with ThreadPoolExecutor(2) as readers:
            said = [readers.submit(each.read) for each in (self.stdout, self.stderr)]
            heard = said[0].result(timeout), said[1].result(timeout)
        self.wait(timeout)
        return heard


def _command(words: tuple[str, ...], out: Connection, told: Connection, longest_file: int | None) -> None:
    os.dup2(out.fileno(), 1)
    os.dup2(told.fileno(), 2)
    out.close()
    told.close()
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    if longest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))
    try:
        sys.exit(main(list(words)))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


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
