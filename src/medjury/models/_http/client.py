"""Requests to one server over connections that are kept for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from medjury.models._connection import ForbiddenHostError, guarded_name
from medjury.models._http.connection import Connection
from medjury.models._http.dial import Dial
from medjury.models._http.request import Origin, head_of, header_lines, says_close
from medjury.models._http.response import Response

_KEPT = 15.0  # seconds for which a connection is kept while nothing is asked
_LONGEST_CONNECT = 30.0
_MOST_HEADS = 16


class Client:
    """For one model and one event loop. It alone knows the headers, the key among them, and sends them to no server
    but that of `address`. It has no limit of its own (the gate limits), no cookies and no proxy, and follows no
    redirect. `timeout` bounds a whole request in seconds, `largest_body` its answer in bytes."""

    def __init__(self, address: str, timeout: float, headers: Mapping[str, str], largest_body: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._timeout = timeout
        self._largest_body = largest_body
        self._headers = headers
        self._lines = header_lines(headers)
        self._keeps = not says_close(headers)
        self._heads: dict[str, bytes] = {}
        self._origin = self._first_head(address)
        self._dial = Dial(self._origin, min(timeout, _LONGEST_CONNECT))
        self._idle: list[Connection] = []  # the last used is taken first
        self._sweeper: asyncio.TimerHandle | None = None
        self.closed = False

    async def post(self, address: str, body: bytes) -> Response:
        """The response to one request. A request is sent once: what was lost may have been paid for."""
        head = self._heads.get(address) or self._new_head(address)
        guarded_name(self._origin.name)
        started = self._loop.time()
        connection = self._kept(started)
        left = self._timeout
        if connection is None:
            connection = await self._dial.connect()
            left -= self._loop.time() - started
        try:
            request = b"%b%d\r\n\r\n%b" % (head, len(body), body)
            response = await connection.ask(request, self._largest_body, left)
        except BaseException:
            connection.abort()
            raise
        self._keep(connection)
        return response

    async def close(self) -> None:
        self.closed = True
        self._sweep()
        await asyncio.sleep(0)  # transports end in the loop's next turn

    def _kept(self, now: float) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if now - connection.idle_since <= _KEPT and connection.is_silent():
                return connection
            connection.abort()
        return None

    def _keep(self, connection: Connection) -> None:
        if self.closed or not self._keeps:
            connection.abort()
        elif connection.is_open():
            connection.idle_since = self._loop.time()
            self._idle.append(connection)
            if self._sweeper is None:
                self._sweeper = self._loop.call_later(_KEPT, self._sweep)

    def _sweep(self) -> None:
        """Close what nobody has used for a while; after `close` everything."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        oldest = self._loop.time() - _KEPT
        kept = []
        for connection in self._idle:
            if connection.idle_since > oldest and connection.is_open() and not self.closed:
                kept.append(connection)
            else:
                connection.abort()
        self._idle = kept
        if kept:
            self._sweeper = self._loop.call_at(kept[0].idle_since + _KEPT, self._sweep)

    def _first_head(self, address: str) -> Origin:
        origin, self._heads[address] = head_of(address, self._lines)
        return origin

    def _new_head(self, address: str) -> bytes:
        origin, head = head_of(address, self._lines)
        if origin != self._origin:
            raise ForbiddenHostError(f"{origin.name} is another server than {self._origin.name}")
        if len(self._heads) >= _MOST_HEADS:  # redirects name as many as they like
            self._heads.clear()
        self._heads[address] = head
        return head
