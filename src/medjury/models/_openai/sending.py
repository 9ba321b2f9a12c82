"""A request on its way: the connection it takes, where a redirect may lead it, and what its failures mean."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from urllib.parse import urljoin, urlsplit

from medjury.instruments import Reason
from medjury.models._chat import ModelError
from medjury.models._connection import ForbiddenHostError, TooLargeError
from medjury.models._faults import LostReplyError, NotSentError, Place, redirect_fault, retry_after_seconds
from medjury.models._gate.announce import announce_request
from medjury.models._http import (
    BrokenError,
    Client,
    ConnectError,
    ConnectTimeoutError,
    Response,
    UntrustedError,
)
from medjury.models._openai.context_server import Received

_MOST_REDIRECTS = 3


class Sender:
    """Sends bodies to one server. `headers` is called when a client is made: they hold the key, and only the client
    keeps them."""

    def __init__(
        self,
        place: Place,
        address: str,
        headers: Callable[[], Mapping[str, str]],
        *,
        timeout: float,
        largest_body: int,
        proxy: str | None,
    ) -> None:
        self._place = place
        self._address = address
        self._headers = headers
        self._timeout = timeout
        self._largest_body = largest_body
        self._proxy = proxy
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, body: bytes, address: str | None = None) -> Received:
        try:
            return await self._follow(body, address or self._address)
        except OSError as error:
            raise self._fault(error) from None

    async def close(self) -> None:
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.close()
        self._client = None

    async def _follow(self, body: bytes, address: str) -> Received:
        for _ in range(_MOST_REDIRECTS):
            client = self._open()
            await announce_request()
            response = await client.post(address, body)
            if 300 <= response.status < 400:
                address = self._redirected(address, response)
                continue
            wait = retry_after_seconds(response.headers.get("Retry-After"))
            return Received(response.status, response.body, wait, _content_type(response))
        raise ModelError(
            Reason.PROVIDER, f"{self._place.host} redirects in a circle; correct the url", fatal=True
        )

    def _open(self) -> Client:
        loop = asyncio.get_running_loop()
        if self._client is None or self._client.closed or self._loop is not loop:
            headers = self._headers()
            self._client = Client(self._address, self._timeout, headers, self._largest_body, self._proxy)
            self._loop = loop
        return self._client

    def _redirected(self, address: str, response: Response) -> str:
        """Where a redirect leads, if it stays with the very same server; anywhere else is refused by name."""
        try:
            target = urljoin(address, response.headers.get("Location") or "")
            old, new = urlsplit(address), urlsplit(target)
            same = (old.scheme, old.hostname, old.port) == (new.scheme, new.hostname, new.port)
        except ValueError:  # no address at all
            raise redirect_fault(self._place, None) from None
        if same and "@" not in new.netloc and response.status in (307, 308) and target != address:
            return target
        raise redirect_fault(self._place, target)

    def _fault(self, error: OSError) -> ModelError:
        host = self._place.host
        if isinstance(error, ForbiddenHostError):
            return NotSentError(Reason.PROVIDER, str(error), fatal=True)
        if isinstance(error, TooLargeError):
            return LostReplyError(
                Reason.PROVIDER, f"the answer of {host} is larger than {self._largest_body:,} bytes"
            )
        if isinstance(error, ConnectError):
            return self._no_connection(error)
        if isinstance(error, TimeoutError):
            message = f"{host} gave no whole answer within {self._timeout:g} s"
            return LostReplyError(Reason.TIMEOUT, message, retry=True)
        cause = str(error) if isinstance(error, BrokenError) else type(error).__name__
        message = f"the connection to {host} broke ({cause}), the answer is lost"
        return LostReplyError(Reason.PROVIDER, message, retry=True)

    def _no_connection(self, error: ConnectError) -> NotSentError:
        host = self._place.host
        if isinstance(error, ConnectTimeoutError):
            message = f"no connection to {host}: it did not answer in time"
            return NotSentError(Reason.TIMEOUT, message, retry=True)
        if isinstance(error, UntrustedError):
            message = (
                f"the certificate of {host} cannot be trusted; add the site's authority to the system's "
                "certificates, or point SSL_CERT_FILE at it"
            )
            return NotSentError(Reason.PROVIDER, message, fatal=True)
        message = f"no connection to {host}: is the endpoint running?"
        return NotSentError(Reason.PROVIDER, message, retry=True)


def _content_type(response: Response) -> str:
    """What the body calls itself, without its parameters; where it says nothing sensible, bytes of any kind."""
    kind = (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    return kind if kind.count("/") == 1 else "application/octet-stream"
