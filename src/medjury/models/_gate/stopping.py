"""A run that is to stop begins no further call, and waits for the turn of none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from medjury.instruments import Reason
from medjury.models._chat import ModelError

Stopped = Callable[[], bool]
_LOOK_SECONDS = 0.2


class StoppedError(ModelError):
    """The run is to stop: the call was not begun, and another run makes it."""

    def __init__(self) -> None:
        super().__init__(Reason.PROVIDER, "was not asked: the run was stopped", fatal=True)


def require_going_on(stopped: Stopped | None) -> None:
    if stopped is not None and stopped():
        raise StoppedError


async def wait_unless(stopped: Stopped | None, waiting: Awaitable[None]) -> None:
    """Wait, but no longer than until the run is to stop."""
    if stopped is None:
        await waiting
        return
    task = asyncio.ensure_future(waiting)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            require_going_on(stopped)
        await task
    finally:
        task.cancel()
    require_going_on(stopped)
