"""A run inside a notebook: it is awaited while the notebook goes on, and shows how far it is."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable
from html import escape
from typing import Any

from medjury.judging import Progress

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
