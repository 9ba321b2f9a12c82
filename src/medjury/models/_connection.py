"""The HTTP session of an adapter: it resolves names itself, uses no proxy variables, follows no redirect."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from medjury.models._hosts import forbidden, is_allowed, is_local, is_loopback_address

if TYPE_CHECKING:
    import aiohttp


class ForbiddenHostError(OSError):
    """A connection that the privacy rule does not allow. Its text is for the reader."""


def open_session(timeout: float) -> aiohttp.ClientSession:
    """A session without a limit of its own (the gate limits), for one model and one event loop."""
    import aiohttp

    return aiohttp.ClientSession(
        connector=_guarded_connector(),
        timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, 30.0)),
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=65536,
        max_field_size=65536,
    )


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
            name = host.rstrip(".").lower()
            if not is_allowed(name):
                raise ForbiddenHostError(forbidden(name))
            if name == "localhost":
                return [_loopback(host, port, family) for family in (socket.AF_INET, socket.AF_INET6)]
            found = await self._system.resolve(host, port, family)
            if is_local(name):  # an address: it must be a loopback one in every form
                found = [each for each in found if is_loopback_address(each["host"])]
            return found

        async def close(self) -> None:
            await self._system.close()

    class GuardedConnector(aiohttp.TCPConnector):
        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109
            # An address in the URL never reaches the resolver; a pooled connection reaches neither.
            for url in (req.url, req.proxy):
                host = url.host if url is not None else None
                if host is not None and not is_allowed(host.rstrip(".").lower()):
                    raise ForbiddenHostError(forbidden(host))
            return await super().connect(req, traces, timeout)

    return GuardedConnector(
        limit=0, resolver=GuardedResolver(), ttl_dns_cache=60, enable_cleanup_closed=False
    )


def _loopback(host: str, port: int, family: socket.AddressFamily) -> Any:
    return {
        "hostname": host,
        "host": "127.0.0.1" if family is socket.AF_INET else "::1",
        "port": port,
        "family": family,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST,
    }
