"""A request on its way: its connection, where a redirect may lead it, what its failures mean; and how a server that
holds the model is asked to count tokens."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError
from medjury.models._connection import ForbiddenHostError, Opened, PerLoop, TooLargeError
from medjury.models._faults import (
    LostReplyError,
    NotSentError,
    Place,
    error_words,
    fault,
    redirect_fault,
)
from medjury.models._gate.sending import announce_request
from medjury.models._http import (
    BrokenError,
    Client,
    ConnectError,
    ConnectTimeoutError,
    Response,
    UntrustedError,
)
from medjury.models._openai.dialect import encode
from medjury.models._tokens import reported_tokens

Send = Callable[[bytes, str], Awaitable[Response]]
SERVERS = ("vllm", "llama.cpp")


class ServerTokenizer:
    """Counts the tokens of messages, the chat template included, by a call to the server's tokenizer."""

    def __init__(self, server: str, url: str, model: str) -> None:
        if server not in SERVERS:
            raise MedjuryError(
                f"tokenize: there is no way to count called {server!r}; {nearest(server, SERVERS)}"
            )
        self._server = server
        self._root = _root(url)
        self._model = model

    async def count(self, messages: Sequence[Message], place: Place, send: Send) -> int:
        spoken = [{"role": each.role, "content": each.content} for each in messages]
        prompt = [each.content for each in messages]

        async def ask(path: str, body: dict[str, Any]) -> Any:
            got = await send(encode(body), f"{self._root}/{path}")
            status = got.status
            if status in (404, 405, 501):
                raise ModelError(
                    Reason.PROVIDER,
                    f"{place.host} answered {status} to /{path}: it does not count tokens the way of "
                    f"{self._server}; take `tokenize` out of the study, or name the right server",
                    fatal=True,
                )
            if status != 200:
                raise fault(place, status, error_words(got.body), prompt, got.retry_after)
            try:
                return json.loads(got.body)
            except (ValueError, RecursionError):
                return None

        if self._server == "vllm":
            body = {"model": self._model, "messages": spoken, "add_generation_prompt": True}
            found = _count(await ask("tokenize", body), "count")
        else:
            said = await ask("apply-template", {"messages": spoken})
            text = said.get("prompt") if isinstance(said, dict) else None
            body = {"content": text, "add_special": True, "parse_special": True}
            found = None if not isinstance(text, str) else _count(await ask("tokenize", body), "tokens")
        if found is None:
            raise ModelError(
                Reason.PROVIDER,
                f"{place.host} did not say how many tokens the prompt has; take `tokenize` out of the study",
                fatal=True,
            )
        return found


def _count(answer: Any, field: str) -> int | None:
    value = answer.get(field) if isinstance(answer, dict) else None
    return reported_tokens(len(value) if isinstance(value, list) else value)


def _root(url: str) -> str:
    """The server's own address: both servers count beside /v1, not below it."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


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
        self._client = PerLoop(self._connect)

    async def send(self, body: bytes, address: str | None = None) -> Response:
        try:
            return await self._follow(body, address or self._address)
        except OSError as error:
            raise self._fault(error) from None

    async def close(self) -> None:
        await self._client.close()

    async def _follow(self, body: bytes, address: str) -> Response:
        for _ in range(_MOST_REDIRECTS):
            client = self._client.open()
            await announce_request()
            response = await client.post(address, body)
            if not 300 <= response.status < 400:
                return response
            address = self._redirected(address, response)
        raise ModelError(
            Reason.PROVIDER, f"{self._place.host} redirects in a circle; correct the url", fatal=True
        )

    def _connect(self) -> Opened[Client]:
        client = Client(self._address, self._timeout, self._headers(), self._largest_body, self._proxy)
        return client, client.close

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
            message = f"{host} gave no complete answer within {self._timeout:g} s"
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
