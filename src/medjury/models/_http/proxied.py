"""The same by a proxy that the user named: aiohttp does it, and its errors are told in our own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.models._connection import ForbiddenHostError, TooLargeError, open_session
from medjury.models._http.errors import BrokenError, ConnectError, ConnectTimeoutError, UntrustedError

if TYPE_CHECKING:
    import aiohttp


@dataclass(frozen=True, slots=True)
class ProxiedResponse:
    """A response that was read to its end."""

    status: int
    fields: Mapping[str, str]
    payload: bytes

    def field(self, name: bytes) -> str | None:
        return self.fields.get(name.decode())

    def body(self) -> bytes:
        return self.payload


class ProxiedClient:
    """As `Client`, by way of `proxy`."""

    def __init__(self, proxy: str, timeout: float, headers: Mapping[str, str], largest_body: int) -> None:
        self._proxy = proxy
        self._largest_body = largest_body
        self._session = open_session(timeout, headers)

    @property
    def closed(self) -> bool:
        return self._session.closed

    async def post(self, address: str, body: bytes) -> ProxiedResponse:
        import aiohttp

        try:
            return await self._post(address, body)
        except aiohttp.ConnectionTimeoutError:
            raise ConnectTimeoutError("no connection") from None
        except (TimeoutError, TooLargeError, ForbiddenHostError):
            raise
        except aiohttp.ClientConnectorCertificateError:
            raise UntrustedError("the certificate cannot be trusted") from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, ForbiddenHostError):
                raise error.os_error from None
            raise ConnectError("no connection") from None
        except (aiohttp.ClientError, OSError) as error:
            raise BrokenError(type(error).__name__) from None

    async def close(self) -> None:
        await self._session.close()

    async def _post(self, address: str, body: bytes) -> ProxiedResponse:
        async with self._session.post(
            address, data=body, allow_redirects=False, proxy=self._proxy
        ) as response:
            moved = 300 <= response.status < 400  # of a redirect the head is enough
            payload = b"" if moved else await self._read(response)
            return ProxiedResponse(response.status, response.headers, payload)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body, up to the largest size allowed."""
        chunks, size = [], 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > self._largest_body:
                response.close()
                raise TooLargeError(f"more than {self._largest_body:,} bytes")
            chunks.append(chunk)
        return b"".join(chunks)
