"""The same guard as `_connection`, for the SDK that speaks through httpx2: hosts, redirects, proxies, size."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from medjury.models._connection import ForbiddenHostError, TooLargeError
from medjury.models._hosts import forbidden, is_allowed

if TYPE_CHECKING:
    import httpx2


def guarded_client(timeout: float, largest_body: int) -> httpx2.AsyncClient:
    """A client that reaches allowed hosts only, reads no environment and follows no redirect."""
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > largest_body:
                    raise TooLargeError(f"more than {largest_body:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Transport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            host = request.url.host.rstrip(".").lower()
            if not is_allowed(host):
                raise ForbiddenHostError(forbidden(host))
            if host == "localhost":  # this machine, whatever the name service says
                request.url = request.url.copy_with(host="127.0.0.1")
            response = await super().handle_async_request(request)
            response.stream = Body(response.stream)
            return response

    trusted = ssl.create_default_context()  # the system's authorities, as everywhere else here
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx2.AsyncClient(
        transport=Transport(verify=trusted, trust_env=False, limits=limits),
        trust_env=False,
        follow_redirects=False,
        timeout=timeout,
        headers={"Accept-Encoding": "identity"},
    )
