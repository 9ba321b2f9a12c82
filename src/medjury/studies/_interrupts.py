"""Ctrl-C, by hand or by the clock: the first lets calls in flight be stored, the second ends at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator

from medjury.judging import Progress
from medjury.studies._conclude import WorkDone
from medjury.studies._notebook import Stopper


@contextlib.contextmanager
def interrupts(
    stop: asyncio.Event, outcome: WorkDone, progress: Progress, stopper: Stopper | None
) -> Iterator[None]:
    """The first Ctrl-C (or a polite kill) stops new calls and lets those in flight be stored; the second
    ends at once, which loses only what was in flight."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def interrupt() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        outcome.interrupted = progress.stopping = True
        stop.set()

    if stopper is not None:
        stopper.bind(loop, interrupt)
        try:
            yield
        finally:
            stopper.release()
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        for each in signals:
            loop.add_signal_handler(each, interrupt)
    except (NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        for each in signals:
            loop.remove_signal_handler(each)


@contextlib.contextmanager
def stopped_after(seconds: float) -> Iterator[threading.Event]:
    """A Ctrl-C by the clock: a run within this block stores the calls on their way and ends. The event is set where
    it came to that."""
    over, runs = threading.Event(), threading.get_ident()

    def stop() -> None:
        over.set()
        if hasattr(signal, "pthread_kill"):  # to the thread that runs, which may sleep or wait
            signal.pthread_kill(runs, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield over
    except KeyboardInterrupt:  # before the first call, or after the last
        if not over.is_set():
            raise
    finally:
        timer.cancel()
