"""Every request is announced before it leaves: an adapter says so here, and the gate writes it down first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

Announced = Callable[[], Awaitable[None]]
_listener: ContextVar[Announced | None] = ContextVar("medjury_announced", default=None)


async def announce_request() -> None:
    """Adapters await this before each HTTP request they make, be it the first, a repetition or one in another
    dialect. It returns when the request may leave; an earlier request of the same call is over by then."""
    listener = _listener.get()
    if listener is not None:
        await listener()


class announced_to:  # noqa: N801 - it reads as a function
    """Requests made within are announced to this listener."""

    __slots__ = ("_listener", "_token")

    def __init__(self, listener: Announced) -> None:
        self._listener = listener

    def __enter__(self) -> None:
        self._token = _listener.set(self._listener)

    def __exit__(self, *_: object) -> None:
        _listener.reset(self._token)
