"""`kill -9` in the middle of a tuning: what was paid for is not paid for again, and the end is the same."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.processes import answered, endpoint, lines
from tests.tuning.world import NEGATION, write_task

from medjury.cli import main


def start(file: Path) -> BaseProcess:
    """A tuning in a process of its own, forked from one that has loaded the package."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload(["medjury.tuning", "medjury.cli.tune", "gepa", "aiohttp", "sqlalchemy"])
    run = processes.Process(target=main, args=(["tune", str(file)],))
    run.start()
    return run


def wait(process: BaseProcess, until: float, met: Callable[[], bool]) -> None:
    while not met():
        assert process.is_alive(), "the tuning ended before it could be killed"
        assert time.monotonic() < until, "the tuning does not get on"
        time.sleep(0.005)


def test_a_tuning_killed_half_way_goes_on_and_repeats_no_paid_call(tmp_path: Path) -> None:
    log = tmp_path / "answered.log"
    with endpoint(log, "tests.tuning.world") as url:
        file = write_task(tmp_path, url)
        killed = start(file)
        until = time.monotonic() + 60
        wait(killed, until, lambda: sum(answered(log).values()) >= 50)
        hold = Path(f"{log}.hold")
        hold.touch()  # from here on nothing is answered: what is in flight is not paid for
        wait(killed, until, lambda: bool(lines(Path(f"{log}.held"))))
        time.sleep(0.2)  # answers that left before the hold are stored
        killed.kill()
        killed.join()
        assert killed.exitcode == -signal.SIGKILL
        paid = answered(log)
        hold.unlink()
        time.sleep(0.2)
        lost = answered(log) - paid  # held requests, answered to nobody
        again = start(file)
        again.join(timeout=60)
        assert again.exitcode == 0
        twice = {body for body, count in answered(log).items() if count > 1}
        assert twice <= set(lost), "only what was in flight when it was killed is asked again"
    assert NEGATION in (tmp_path / "runs" / "planted-tuning" / "tuned.yaml").read_text()
