"""The rule for hosts at the socket, and an adapter's aiohttp session that keeps it: it resolves names itself, uses
no proxy variables, follows no redirect."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from medjury.models._hosts import forbidden, is_allowed, is_local, is_loopback_address

if TYPE_CHECKING:
    import aiohttp


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
    timeout: float, headers: Mapping[str, str] | None = None, *, largest_body: int | None = None
) -> aiohttp.ClientSession:
    """A session without a limit of its own (the gate limits), for one model and one event loop. It alone
    knows the headers, the key among them.

    With `largest_body` it is safe in other people's hands: bodies are bounded and no redirect is followed
    whatever a request asks for.
    """
    import aiohttp

    return _session_class(largest_body)(
        connector=_guarded_connector(),
        timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, 30.0)),
        headers=headers,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=65536,
        max_field_size=65536,
    )


def _session_class(largest_body: int | None) -> type[aiohttp.ClientSession]:
    import warnings

    import aiohttp

    if largest_body is None:
        return aiohttp.ClientSession
    most: int = largest_body

    class BoundedResponse(aiohttp.ClientResponse):
        async def read(self) -> bytes:
            if self._body is None:
                chunks, size = [], 0
                try:
                    async for chunk in self.content.iter_any():
                        size += len(chunk)
                        if size > most:
                            raise TooLargeError(f"more than {most:,} bytes")
                        chunks.append(chunk)
                except BaseException:
                    self.close()
                    raise
                self._body = b"".join(chunks)
            return self._body

    with warnings.catch_warnings():  # aiohttp advises against subclasses of its session
        warnings.simplefilter("ignore", DeprecationWarning)

        class BoundedSession(aiohttp.ClientSession):
            def __init__(self, **options: Any) -> None:
                super().__init__(response_class=BoundedResponse, **options)

            async def _request(self, *arguments: Any, **options: Any) -> aiohttp.ClientResponse:
                options["allow_redirects"] = False
                return await super()._request(*arguments, **options)

    return BoundedSession


def _guarded_connector() -> aiohttp.TCPConnector:
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
            for url in (req.url, req.proxy):
                host = url.host if url is not None else None
                if host is not None:
                    guarded_name(host)
            while True:
                connection = await super().connect(req, traces, timeout)
                kept = connection.protocol
                # What arrives while nobody asks would be read as the next answer: it ends the connection.
                if kept is None or not kept.should_close:
                    return connection
                connection.close()

    return GuardedConnector(
        limit=0, resolver=GuardedResolver(), ttl_dns_cache=60, enable_cleanup_closed=False
    )


def _loopback(host: str, port: int, address: str) -> Any:
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST,
    }
