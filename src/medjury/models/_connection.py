"""The rule for hosts at the socket, and an adapter's aiohttp session that keeps it: it resolves names itself, uses
no proxy variables, follows no redirect."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

from medjury.models._hosts import forbidden, is_allowed, is_local, is_loopback_address

if TYPE_CHECKING:
    import aiohttp

_Thing = TypeVar("_Thing")
Opened = tuple[_Thing, Callable[[], Awaitable[object]]]  # something, and how it is closed
_LONGEST_CONNECT = 30.0  # seconds until there is a connection, or none


class PerLoop(Generic[_Thing]):
    """What belongs to one event loop, a session or a client: made when it is first needed there, or was closed."""

    def __init__(self, make: Callable[[], Opened[_Thing]]) -> None:
        self._make = make
        self._opened: Opened[_Thing] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> _Thing:
        loop = asyncio.get_running_loop()
        if self._opened is None or self._loop is not loop or getattr(self._opened[0], "closed", False):
            self._opened, self._loop = self._make(), loop
        return self._opened[0]

    async def close(self) -> None:
        if self._opened is not None and self._loop is asyncio.get_running_loop():
            await self._opened[1]()
        self._opened = None


class GuardError(OSError):
    """What the session refuses by itself."""


class ForbiddenHostError(GuardError):
    """A connection that the privacy rule does not allow. Its text is for the reader."""


class TooLargeError(GuardError):
    """The body has more bytes than are allowed."""


def guarded_name(host: str) -> str:
    """A host as it is compared with those that are allowed; another one is refused."""
    name = host.rstrip(".").lower()
    if not is_allowed(name):
        raise ForbiddenHostError(forbidden(name))
    return name


def loopback_addresses() -> tuple[str, str]:
    """What `localhost` is, whatever the name service says."""
    return ("127.0.0.1", "::1")


def may_be_reached(name: str, address: str) -> bool:
    """Whether a name may lead to an address. One that counts as this machine leads to a loopback address only."""
    return not is_local(name) or is_loopback_address(address)


def open_session(
    timeout: float,
    headers: Mapping[str, str] | None = None,
    *,
    largest_body: int,
    keeps: bool = True,
    watching: aiohttp.TraceConfig | None = None,
) -> aiohttp.ClientSession:
    """A session without a limit of its own (the gate limits), for one model and one event loop. It alone
    knows the headers, the key among them.

    It is safe in other people's hands: bodies are bounded and no redirect is followed whatever a request asks
    for. `keeps` says whether connections are used again.
    """
    import aiohttp

    return _session_class(largest_body)(
        connector=_guarded_connector(keeps),
        timeout=aiohttp.ClientTimeout(total=timeout, connect=min(timeout, _LONGEST_CONNECT)),
        headers=headers,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[] if watching is None else [watching],
        max_line_size=65536,
        max_field_size=65536,
    )


def _session_class(largest_body: int) -> type[aiohttp.ClientSession]:
    import warnings

    import aiohttp

    class BoundedResponse(aiohttp.ClientResponse):
        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            self.asked = connection.protocol
            return await super().start(connection)

        async def read(self) -> bytes:
            if self._body is None:
                try:
                    self._body = await self._read_all()
                except BaseException:
                    self.close()
                    raise
            return self._body

        async def _read_all(self) -> bytes:
            chunks, size = [], 0
            _bound(self.content_length or 0, largest_body)
            async for chunk in self.content.iter_any():
                size += len(chunk)
                _bound(size, largest_body)
                chunks.append(chunk)
            if self.content_length is None and "Transfer-Encoding" not in self.headers:
                # It ends with its connection: where that broke, aiohttp calls the part that came all of it.
                error = self.asked.exception()
                if error is not None and not isinstance(error, aiohttp.ServerDisconnectedError):
                    raise error
            return b"".join(chunks)

    with warnings.catch_warnings():  # aiohttp advises against subclasses of its session
        warnings.simplefilter("ignore", DeprecationWarning)

        class BoundedSession(aiohttp.ClientSession):
            def __init__(self, **options: Any) -> None:
                super().__init__(response_class=BoundedResponse, **options)

            async def _request(self, *arguments: Any, **options: Any) -> aiohttp.ClientResponse:
                options["allow_redirects"] = False
                return await super()._request(*arguments, **options)

    return BoundedSession


def _bound(size: int, largest_body: int) -> None:
    if size > largest_body:
        raise TooLargeError(f"more than {largest_body:,} bytes")


def _guarded_connector(keeps: bool) -> aiohttp.TCPConnector:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

    class GuardedResolver(AbstractResolver):
        """Resolves only allowed names; `localhost` is this machine whatever the name service says."""

        def __init__(self) -> None:
            self._system = aiohttp.ThreadedResolver()

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            name = guarded_name(host)
            if name == "localhost":
                return [_loopback(host, port, address) for address in loopback_addresses()]
            found = await self._system.resolve(host, port, family)
            return [each for each in found if may_be_reached(name, each["host"])]

        async def close(self) -> None:
            await self._system.close()

    class GuardedConnector(aiohttp.TCPConnector):
        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109
            # An address in the URL never reaches the resolver; a pooled connection reaches neither.
            try:
                for url in (req.url, req.proxy):
                    if url is not None and url.host is not None:
                        guarded_name(url.host)
            except ForbiddenHostError as error:
                raise aiohttp.ClientConnectorError(req.connection_key, error) from error
            for _ in range(2):  # turns of the event loop in which it reads what has arrived meanwhile
                await asyncio.sleep(0)
            while True:
                connection: Any = await super().connect(req, traces, timeout)
                # What arrives while nobody asks would be read as the next answer: it ends the connection.
                if not connection.protocol.should_close:
                    used.add(connection.protocol)
                    return connection
                is_new = connection.protocol not in used
                connection.close()
                if is_new:
                    unasked = ConnectionAbortedError("the server speaks before it is asked")
                    raise aiohttp.ClientConnectorError(req.connection_key, unasked)

    used: WeakSet[Any] = WeakSet()
    return GuardedConnector(
        limit=0,
        resolver=GuardedResolver(),
        ttl_dns_cache=60,
        enable_cleanup_closed=False,
        force_close=not keeps,
        ssl=verifying_context(),
    )


def verifying_context() -> ssl.SSLContext:
    """The system's authorities, or those that the environment names now, for every package that asks: aiohttp's own
    context knows only what was named when it was loaded, and that of Google's package other authorities. They are
    read once, which takes a tenth of a second, and again where a file was changed."""
    return _read_authorities(*(_as_it_is(os.environ.get(name)) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")))


def _as_it_is(path: str | None) -> tuple[object, ...]:
    try:
        found = Path(path or "").stat()
    except OSError:
        return (path,)
    return path, found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _read_authorities(_file: object, _folder: object) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _loopback(host: str, port: int, address: str) -> Any:
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST,
    }
