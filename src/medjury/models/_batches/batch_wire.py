"""Requests about batch jobs: files up, states and results down. They hold no key and follow no redirect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from medjury.instruments import Reason
from medjury.models._connection import ForbiddenHostError, open_session
from medjury.models._faults import LostReplyError, NotSentError, Place, error_words, fault

if TYPE_CHECKING:
    import aiohttp

_LARGEST_BODY = 1024 * 1024 * 1024
_SECONDS = 900.0


class Wire:
    """One provider's address. `headers` reads the key anew for each session."""

    def __init__(self, base: str, place: Place, headers: Callable[[], Mapping[str, str]]) -> None:
        self._base = base
        self._place = place
        self._headers = headers
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, method: str, path: str, *, body: bytes | None = None, data: Any = None) -> bytes:
        """The body of a success; `ModelError` for everything else, `LostReplyError` where it may have been done."""
        import aiohttp

        kind = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with self._open().request(
                method, f"{self._base}{path}", data=body if data is None else data, headers=kind,
                allow_redirects=False,
            ) as response:  # fmt: skip
                payload = await response.read()
        except ForbiddenHostError as error:
            raise NotSentError(Reason.PROVIDER, str(error), fatal=True) from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, ForbiddenHostError):
                raise NotSentError(Reason.PROVIDER, str(error.os_error), fatal=True) from None
            message = f"no connection to {self._place.host}: is the endpoint running?"
            raise NotSentError(Reason.PROVIDER, message, retry=True) from None
        except (aiohttp.ClientError, OSError, TimeoutError):
            message = f"the connection to {self._place.host} broke while a batch job was handled"
            raise LostReplyError(Reason.PROVIDER, message, retry=True) from None
        if 200 <= response.status < 300:
            return payload
        found = fault(self._place, response.status, error_words(payload), ())
        if response.status >= 500:
            raise LostReplyError(found.reason, found.message, retry=True)
        raise found

    async def told(
        self, method: str, path: str, *, body: bytes | None = None, data: Any = None
    ) -> dict[str, Any]:
        """The same where the body is one JSON object."""
        payload = await self.send(method, path, body=body, data=data)
        try:
            loaded = json.loads(payload)
        except (ValueError, RecursionError):
            loaded = None
        if not isinstance(loaded, dict):
            message = f"the answer of {self._place.host} about a batch job is cut off or not JSON"
            raise LostReplyError(Reason.PROVIDER, message, retry=True)
        return loaded

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            headers = {name: value for name, value in self._headers().items() if name != "Content-Type"}
            self._session, self._loop = open_session(_SECONDS, headers, largest_body=_LARGEST_BODY), loop
        return self._session

    async def close(self) -> None:
        if self._session is not None and self._loop is asyncio.get_running_loop():
            await self._session.close()
        self._session = None
