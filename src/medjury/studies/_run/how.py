"""How a run is done: who watches it, in a notebook or elsewhere, what stops it, and that it is alone."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private
from medjury.judging import Progress
from medjury.store.runs import files
from medjury.studies._run.conclude import WorkDone

Watcher = Callable[[Progress, float | None, str], None]


class Stopper:
    """Stops a run from another thread as the first Ctrl-C does: what is in flight is kept, nothing new is asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._stop: Callable[[], None] | None = None

    def bind(self, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        """Called by the run once it can be stopped."""

        def at_once() -> None:
            loop.call_soon_threadsafe(stop)

        with self._lock:
            self._stop = at_once
            if self._asked:
                at_once()

    def release(self) -> None:
        """Called by the run when its work is over."""
        with self._lock:
            self._stop = None

    def __call__(self) -> None:
        with self._lock:
            self._asked = True
            if self._stop is not None:
                self._stop()


def notebook_bar() -> Watcher | None:
    """A bar in the notebook's cell; None where this is no notebook."""
    if "ipykernel" not in sys.modules:
        return None
    interactive: Any = importlib.import_module("IPython")
    if interactive.get_ipython() is None:
        return None
    shown: list[Any] = []

    def watch(progress: Progress, money: float | None, currency: str) -> None:
        made = interactive.display.HTML(bar_html(progress, money, currency))
        if shown:
            shown[0].update(made)
        else:
            shown.append(interactive.display.display(made, display_id=True))

    return watch


def bar_html(progress: Progress, money: float | None, currency: str) -> str:
    """The bar and what it stands for."""
    done = progress.found + progress.judged
    words = [f"{done:,} of {progress.planned:,}"]
    words += [f"unscored: {count:,} {reason}" for reason, count in progress.unscored.most_common()]
    words.append("cost not known" if money is None else f"{money:.4g} {currency}")
    text = escape(" · ".join(words))
    return f'<progress value="{done}" max="{max(1, progress.planned)}" aria-label="{text}"></progress> {text}'


@dataclass(frozen=True)
class How:
    """How the work is done and who looks on."""

    watch: Watcher | None
    retry_unscored: bool
    keep_going: bool
    preflight: bool
    ask: bool = True
    stopper: Stopper | None = None
    wait: bool = True


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


class StudyInUseError(MedjuryError):
    """Another process, or another request, is at work on the study."""


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the run folder; refuse where another process holds it. It is freed when the process ends, however
    it ends. (Windows has no such lock here: there the rule is the user's to keep.)"""
    try:
        import fcntl
    except ImportError:
        yield
        return
    create_private(folder / files.BUDGET_LOCK)
    with (folder / files.BUDGET_LOCK).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StudyInUseError(
                f"{folder}: another process is running this study. With a budget only one may run at a time; "
                "wait for it, or stop it"
            ) from None
        yield
