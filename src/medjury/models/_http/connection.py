"""One connection, and the one request that may be under way on it."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from medjury.models._http.errors import BrokenError, ConnectError
from medjury.models._http.response import Response

# Bytes of a request that may still be on their way when the server answers.
_LARGE = 64 * 1024


class Connection(asyncio.Protocol):
    """Bytes that arrive while nothing is asked close it: they are never read as the answer to what comes next."""

    __slots__ = (
        "_large", "_loop", "_response", "_socket", "_timer", "_transport", "_until", "_waiter", "idle_since",
    )  # fmt: skip

    def __init__(self, loop: asyncio.AbstractEventLoop, connected: socket.socket) -> None:
        self._loop = loop
        self._socket = connected
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Response] | None = None
        self._response: Response | None = None
        self._timer: asyncio.TimerHandle | None = (
            None  # stays from one request to the next: most end long before
        )
        self._until = 0.0  # when the request has taken too long, by the loop's clock
        self._large = False
        self.idle_since = 0.0

    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def is_silent(self) -> bool:
        """Whether it is open, and nothing has arrived that the event loop has yet to hand over: neither bytes that
        would be read as the next answer, nor word that the server has closed it."""
        if not self.is_open():
            return False
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def ask(self, request: bytes, largest_body: int, seconds: float) -> asyncio.Future[Response]:
        """Send a request. The future holds its response, or why there is none: TimeoutError after these seconds."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectError("the connection was closed before anything was sent")
        waiter = self._waiter = self._loop.create_future()
        self._response = Response(largest_body)
        self._large = len(request) > _LARGE
        self._until = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._until:
            self._watch(seconds)
        self._transport.write(request)
        return waiter

    def _watch(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        """Whether the request under way has taken too long; if it has not, or none is, look again in time."""
        self._timer = None
        if self._waiter is None:
            return
        left = self._until - self._loop.time()
        if left > 0:
            self._watch(left)
        else:
            self._end(TimeoutError())

    def abort(self) -> None:
        """Close at once; what was not sent yet is not sent any more."""
        self._forget_timer()
        self._waiter = self._response = None
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclasses of it

    def data_received(self, data: bytes) -> None:
        response = self._response
        if response is None:
            self.abort()
            return
        try:
            if response.feed(data) or 300 <= response.status < 400:  # of a redirect the head is enough
                self._end(None)
        except OSError as error:
            self._end(error)

    def eof_received(self) -> None:
        if self._response is None:
            return
        try:
            self._response.feed_eof()
        except OSError as error:
            self._end(error if self._response.status else BrokenError("ServerDisconnectedError"))
        else:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._end(BrokenError("ServerDisconnectedError" if error is None else type(error).__name__))
        self._transport = None
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, error: Exception | None) -> None:
        """The request is over. Only where its response ended in a known place may another follow; and a refusal may
        come before the server has read all of a large request."""
        waiter, response, transport = self._waiter, self._response, self._transport
        if waiter is None or response is None or transport is None:
            return
        self._waiter = self._response = None
        if (
            error is not None
            or not (response.whole and response.reusable)
            or (self._large and response.status >= 400)
            or transport.get_write_buffer_size()
        ):
            self._forget_timer()
            transport.abort()
        if waiter.done():
            return
        if error is None:
            waiter.set_result(response)
        else:
            waiter.set_exception(error)
