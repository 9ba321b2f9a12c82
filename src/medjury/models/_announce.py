"""Every request is announced before it leaves: an adapter says so here, and the gate writes it down first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Announced = Callable[[], Awaitable[None]]
_listener: ContextVar[Announced | None] = ContextVar("medjury_announced", default=None)


async def announce_request() -> None:
    """Adapters await this before each HTTP request they make, be it the first, a repetition or one in another
    dialect. It returns when the request may leave; an earlier request of the same call is over by then."""
    listener = _listener.get()
    if listener is not None:
        await listener()


@contextmanager
def announced_to(listener: Announced) -> Iterator[None]:
    """Requests made within are announced to this listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
