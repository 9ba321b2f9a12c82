"""`kill -9` in the middle of a tuning: what was paid for is not paid for again, and the end is the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.tuning.world import NEGATION, write_task

ROOT = Path(__file__).parents[2]


@contextmanager
def endpoint(log: Path) -> Iterator[str]:
    """The planted world in a process of its own, which writes down every request it answered."""
    command = [sys.executable, "-m", "tests.tuning.world", "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def answered(log: Path) -> Counter[str]:
    return Counter(line.split()[0] for line in lines(log))


def start(file: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "medjury", "tune", str(file)], cwd=ROOT, stdout=subprocess.DEVNULL
    )


def wait(process: subprocess.Popen[bytes], until: float, met: object) -> None:
    assert callable(met)
    while not met():
        assert process.poll() is None, "the tuning ended before it could be killed"
        assert time.monotonic() < until, "the tuning does not get on"
        time.sleep(0.005)


@pytest.mark.parametrize("after", [10, 60])
def test_a_tuning_killed_half_way_goes_on_and_repeats_no_paid_call(after: int, tmp_path: Path) -> None:
    log = tmp_path / "answered.log"
    with endpoint(log) as url:
        file = write_task(tmp_path, url)
        killed = start(file)
        until = time.monotonic() + 60
        wait(killed, until, lambda: sum(answered(log).values()) >= after)
        hold = Path(f"{log}.hold")
        hold.touch()  # from here on nothing is answered: what is in flight is not paid for
        wait(killed, until, lambda: bool(lines(Path(f"{log}.held"))))
        time.sleep(0.2)  # answers that left before the hold are stored
        killed.kill()
        assert killed.wait() == -signal.SIGKILL
        paid = answered(log)
        hold.unlink()
        time.sleep(0.2)
        lost = answered(log) - paid  # held requests, answered to nobody
        again = start(file)
        assert again.wait(timeout=60) == 0
        twice = {body for body, count in answered(log).items() if count > 1}
        assert twice <= set(lost), "only what was in flight when it was killed is asked again"
    assert NEGATION in (tmp_path / "runs" / "planted-tuning" / "tuned.yaml").read_text()
