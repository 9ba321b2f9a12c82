"""Requests to one server, by aiohttp: which headers may be stated, and what its failures mean."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.models._connection import ForbiddenHostError, GuardError, TooLargeError, open_session
from medjury.version import __version__

if TYPE_CHECKING:
    import aiohttp

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Whom a request is for, where it ends, how its body is packed and what becomes of the connection is for the client
# alone to say: a server that serves several hosts would take a stated `Host` for another one than was allowed.
_OURS = ("host", "content-length", "transfer-encoding", "content-encoding", "expect", "upgrade", "te", "trailer",
         "keep-alive", "proxy-connection")  # fmt: skip
_DEFAULTS = {"Accept-Encoding": "identity", "User-Agent": f"medjury/{__version__}"}


class ConnectError(OSError):
    """No connection came about: nothing has left."""


class ConnectTimeoutError(ConnectError):
    """No connection came about in time."""


class UntrustedError(ConnectError):
    """The server's certificate cannot be trusted, or is another server's."""


class BrokenError(OSError):
    """The request may have left, and no whole answer came. Its text names the cause."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response that was read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def check_headers(headers: Mapping[str, str]) -> None:
    """No value can begin a line of its own: a variable of the environment that holds one is refused, and not
    shown."""
    for name, value in headers.items():
        ours = _NAME.fullmatch(name) is None or name.lower() in _OURS
        # Of a connection may be said that it is kept, or that it ends; nothing else.
        if ours or (name.lower() == "connection" and value.lower() not in ("close", "keep-alive")):
            raise MedjuryError(
                f"headers: {name!r} cannot be set; take it out. The host, the length and the form of a request "
                "follow from `url` and from what is sent"
            )
        if _CONTROL.search(value) is not None:
            raise MedjuryError(
                f"headers: the value of {name} holds a line break or another control character; correct it, or "
                "the environment variable that it comes from"
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MedjuryError(
                f"headers: the value of {name} is not text that can be sent; correct it"
            ) from None


class Client:
    """For one model and one event loop. It alone knows the headers, the key among them, and sends them to no server
    but that of `address`. It has no limit of its own (the gate limits), no cookies, no proxy but the one that was
    named, and follows no redirect. `timeout` bounds a whole request in seconds, `largest_body` its answer in
    bytes."""

    def __init__(
        self,
        address: str,
        timeout: float,
        headers: Mapping[str, str],
        largest_body: int,
        proxy: str | None = None,
    ) -> None:
        check_headers(headers)
        self._origin = _origin(address)
        self._largest_body = largest_body
        self._proxy = proxy
        stated = {name.lower() for name in headers}
        added = {name: value for name, value in _DEFAULTS.items() if name.lower() not in stated}
        self._session = open_session(timeout, {**headers, **added})

    @property
    def closed(self) -> bool:
        return self._session.closed

    async def post(self, address: str, body: bytes) -> Response:
        """The response to one request. A request is sent once: what was lost may have been paid for."""
        import aiohttp

        if _origin(address) != self._origin:
            raise ForbiddenHostError(f"{_origin(address)[1]} is another server than {self._origin[1]}")
        try:
            return await self._post(address, body)
        except aiohttp.ConnectionTimeoutError:
            raise ConnectTimeoutError("no connection") from None
        except (TimeoutError, GuardError):
            raise
        except aiohttp.ClientConnectorCertificateError:
            raise UntrustedError("the certificate cannot be trusted") from None
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            cause = getattr(error, "os_error", None)
            raise (cause if isinstance(cause, GuardError) else ConnectError("no connection")) from None
        except (aiohttp.ClientError, OSError) as error:
            raise BrokenError(type(error).__name__) from None

    async def close(self) -> None:
        await self._session.close()
        await asyncio.sleep(0)  # transports end in the loop's next turn

    async def _post(self, address: str, body: bytes) -> Response:
        async with self._session.post(
            address, data=body, allow_redirects=False, proxy=self._proxy
        ) as response:
            moved = 300 <= response.status < 400  # of a redirect the head is enough
            return Response(response.status, response.headers, b"" if moved else await self._read(response))

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body, up to the largest size allowed."""
        chunks, size = [], response.content_length or 0
        if size <= self._largest_body:
            size = 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > self._largest_body:
                    break
                chunks.append(chunk)
        if size > self._largest_body:
            response.close()
            raise TooLargeError(f"more than {self._largest_body:,} bytes")
        return b"".join(chunks)


def _origin(address: str) -> tuple[str, str, int]:
    """Which server an address is of."""
    from yarl import URL  # aiohttp brings it, and reads an address by it

    try:
        url = URL(address)
        if url.scheme in ("http", "https") and url.raw_host and url.port and not _CONTROL.search(address):
            return url.scheme, url.raw_host, url.port
    except ValueError:
        pass
    raise ConnectError("this is no address")
