"""Requests to one server, by aiohttp: which headers may be stated, and what its failures mean."""

from __future__ import annotations

import asyncio
import io
import re
import zlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.models._connection import ForbiddenHostError, GuardError, TooLargeError, open_session
from medjury.models._faults import retry_after_seconds
from medjury.version import __version__

if TYPE_CHECKING:
    import aiohttp

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# Whom a request is for, where it ends, how its body is packed and what becomes of the connection is for the client
# alone to say: a server that serves several hosts would take a stated `Host` for another one than was allowed.
_OURS = ("host", "content-length", "transfer-encoding", "content-encoding", "expect", "upgrade", "te", "trailer",
         "keep-alive", "proxy-connection")  # fmt: skip
_LARGE = 1024 * 1024
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_PACKED = ("br", "zstd", "compress", "x-compress", "dcb", "dcz")
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

    @property
    def content_type(self) -> str:
        """What the body calls itself, without its parameters; where it says nothing sensible, bytes of any kind."""
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        return kind if kind.count("/") == 1 else "application/octet-stream"

    @property
    def retry_after(self) -> float | None:
        return retry_after_seconds(self.headers.get("Retry-After"))


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
        stated = {name.lower(): value.lower() for name, value in headers.items()}
        added = {name: value for name, value in _DEFAULTS.items() if name.lower() not in stated}
        keeps = stated.get("connection") != "close"
        self._headers = {**headers, **added}
        self._opening = _open_to_the_end(timeout, largest_body, keeps)
        self._session: aiohttp.ClientSession | None = None
        self.closed = False

    async def post(self, address: str, body: bytes) -> Response:
        """The response to one request. A request is sent once: what was lost may have been paid for."""
        import aiohttp

        if _origin(address) != self._origin:
            raise ForbiddenHostError(f"{_origin(address)[1]} is another server than {self._origin[1]}")
        if self.closed:
            raise ConnectError("the client is closed")
        if self._session is None:
            self._session = await anext(self._opening)
        call = SimpleNamespace(has_left=False)  # whether any of it may have left this machine
        try:
            return await self._post(self._session, address, body, call)
        except (GuardError, BrokenError):
            raise
        except TimeoutError:
            raise (TimeoutError() if call.has_left else ConnectTimeoutError("no connection")) from None
        # A name that cannot be looked up at all is a ValueError, a session that was just closed a RuntimeError.
        except (aiohttp.ClientError, OSError, ValueError, RuntimeError) as error:
            raise _meaning(error, call.has_left) from None

    async def close(self) -> None:
        self.closed = True
        await self._opening.aclose()
        await asyncio.sleep(0)  # transports end in the loop's next turn

    async def _post(
        self, session: aiohttp.ClientSession, address: str, body: bytes, call: SimpleNamespace
    ) -> Response:
        async with session.post(
            address,
            data=body if len(body) <= _LARGE else io.BytesIO(body),  # which is sent piece by piece
            headers=self._headers,  # of each request: those of a session go to the proxy too
            proxy=self._proxy,
            auto_decompress=False,  # aiohttp takes half of a gzip body for all of it
            trace_request_ctx=call,
        ) as response:
            if 300 <= response.status < 400:  # of a redirect the head is enough
                return Response(response.status, response.headers, b"")
            coding = ",".join(response.headers.getall("Content-Encoding", ()))
            plain = _unpacked(await response.read(), coding.lower(), self._largest_body)
            return Response(response.status, response.headers, plain)


async def _open_to_the_end(
    seconds: float, largest_body: int, keeps: bool
) -> AsyncGenerator[aiohttp.ClientSession, None]:
    """The session. Being a generator, it is closed also when nobody closes it: with its event loop, which ends its
    generators, or when nobody needs it any more."""
    import aiohttp

    watching = aiohttp.TraceConfig()
    watching.on_request_headers_sent.append(_note)
    async with open_session(seconds, largest_body=largest_body, keeps=keeps, watching=watching) as session:
        yield session


async def _note(_session: object, context: SimpleNamespace, _sent: object) -> None:
    context.trace_request_ctx.has_left = True


def _meaning(error: Exception, has_left: bool) -> OSError:
    import aiohttp

    cause = getattr(error, "os_error", None)
    if isinstance(cause, GuardError):
        return cause
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return UntrustedError("the certificate cannot be trusted")
    return BrokenError(type(error).__name__) if has_left else ConnectError("no connection")


def _unpacked(body: bytes, coding: str, largest: int) -> bytes:
    """The body as it was before it was compressed, though nobody asked for that; it grows no further than is
    allowed. Words that name no way of packing, such as `utf-8` or `none`, are passed over: some servers confuse
    this field with another."""
    words = [word for each in coding.split(",") if (word := each.strip()) in _PACKED or word in _WINDOWS]
    if not words or not body:
        return body
    if len(words) > 1 or words[0] in _PACKED:
        raise BrokenError("it is compressed in a way that was not asked for")
    window = _WINDOWS[words[0]]
    if window == 15 and body[0] & 0xF != 8:  # many leave the wrapping of `deflate` out
        window = -15
    plain = b""
    while body:  # gzip may come in several parts
        reader = zlib.decompressobj(window)
        try:
            plain += reader.decompress(body, largest + 1 - len(plain))
        except zlib.error:
            raise BrokenError("it cannot be unpacked") from None
        if len(plain) > largest:
            raise TooLargeError(f"more than {largest:,} bytes")
        if not reader.eof or (reader.unused_data and window != 31):
            raise BrokenError("it cannot be unpacked")
        body = reader.unused_data
    return plain


def _origin(address: str) -> tuple[str, str, int]:
    """Which server an address is of."""
    from yarl import URL  # aiohttp brings it, and reads an address by it

    try:
        url = URL(address)
        if url.scheme in ("http", "https") and url.raw_host and url.port and not _CONTROL.search(address):
            return url.scheme, url.raw_host, url.port
    except ValueError:
        pass
    raise ConnectError("this is not an address")
