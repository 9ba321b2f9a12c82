"""Runs in processes of their own, to be killed: forked from one that has loaded the package, as starts take time.

polars is not loaded there: its threads would not live on in a fork. A run loads it by itself, at its end.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
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
