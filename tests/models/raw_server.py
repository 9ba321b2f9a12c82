"""A server on this machine that says any bytes, and the client that asks it, on both kinds of event loop."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from medjury.models._http import Client

Handler = Callable[["Caller"], Awaitable[None]]
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer secret"}


class Caller:
    """One connection as the server sees it."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number, self.reader, self.writer = number, reader, writer
        self.heads: list[bytes] = []
        self.over = asyncio.Event()

    async def read(self) -> bytes:
        """The body of the next request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        length = next(
            line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")
        ).partition(b" ")[2]
        return await self.reader.readexactly(int(length))

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(0.01 if len(pieces) > 1 else 0)

    async def ended(self) -> None:
        """Until the client has closed the connection."""
        while await self.reader.read(65536):
            pass


@asynccontextmanager
async def serving(
    handler: Handler, host: str = "127.0.0.1", **options: Any
) -> AsyncIterator[tuple[str, list[Caller]]]:
    """The address of a server that does this with every connection, and the connections."""
    callers: list[Caller] = []

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(callers)
        callers.append(Caller(number, reader, writer))
        try:
            await handler(callers[number])
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            callers[number].over.set()

    server = await asyncio.start_server(met, host, 0, limit=2**24, backlog=1024, **options)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/v1/x", callers
    finally:
        server.close()
        for caller in callers:
            caller.writer.transport.abort()
        await asyncio.sleep(0)


@asynccontextmanager
async def client_at(
    address: str, seconds: float = 5.0, headers: dict[str, str] | None = None, largest_body: int = 10_000
) -> AsyncIterator[Client]:
    client = Client(address, seconds, headers or HEADERS, largest_body)
    try:
        yield client
    finally:
        await client.close()


def answer(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    head = (b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *lines)
    return b"\r\n".join((*head, b"", body))


async def echo(caller: Caller) -> None:
    """Answers every request with its own body."""
    while True:
        await caller.say(answer(await caller.read()))


def told(*pieces: bytes, then_close: bool = False) -> Handler:
    """Answers every request with these bytes."""

    async def handle(caller: Caller) -> None:
        while True:
            await caller.read()
            await caller.say(*pieces)
            if then_close:
                return

    return handle


def on_both_loops(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test in asyncio's own event loop, and again in uvloop's."""

    @functools.wraps(test)
    def run(*, loop: Callable[[], asyncio.AbstractEventLoop], **given: Any) -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(test(**given))

    signature = inspect.signature(test)
    added = inspect.Parameter("loop", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]
    del run.__wrapped__  # type: ignore[attr-defined]
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return pytest.mark.parametrize("loop", loops.values(), ids=loops.keys())(run)
