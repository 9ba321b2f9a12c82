"""Anthropic's models, through the official SDK (extra `anthropic`), call by call or in batch jobs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from medjury.instruments import Reason
from medjury.models._batch_jobs import (
    MOST_CALLS,
    BatchProvider,
    Job,
    JobResult,
    State,
    Wire,
    asked_in_batches,
    result_fault,
)
from medjury.models._chat import Message, ModelError, Reply, Request
from medjury.models._connection import ForbiddenHostError, Opened, TooLargeError, verifying_context
from medjury.models._echo import prompt_of
from medjury.models._faults import LostReplyError, connection_fault, error_words, retry_after_seconds
from medjury.models._finish import finish_of
from medjury.models._hosts import forbidden, is_allowed
from medjury.models._reply_fields import fields, handed_over, loaded, require_no_error, text_of, unwrapped
from medjury.models._sampling import stated_sampling
from medjury.models._sdk import Refused, SdkDialect, SdkModel, unreadable
from medjury.models._secrets import read_key
from medjury.models._tokens import estimate_tokens, reported_tokens, request_tokens
from medjury.models._wording import base64_of, without_surrogates, worded

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

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx2.AsyncClient(
        transport=Transport(verify=verifying_context(), trust_env=False, limits=limits),
        trust_env=False,
        follow_redirects=False,
        timeout=timeout,
        headers={"Accept-Encoding": "identity"},
    )


class AnthropicModel(SdkModel):
    """A model behind Anthropic's messages API. There is no seed: repeats differ by temperature alone.

    `prompt_cache` marks the instructions, and what questions share, as worth caching; where nothing is said, only
    what questions share is marked, and what it costs to write it is repaid by the second of them.
    """

    kind = "anthropic"
    takes_images = True

    def __init__(
        self,
        *,
        model: str,
        name: str | None = None,
        url: str = "https://api.anthropic.com",
        api_key_env: str = "ANTHROPIC_API_KEY",
        vendor: str = "Anthropic",
        timeout: float = 180.0,
        largest_body: int = 8 * 1024 * 1024,
        context_window: int | None = None,
        prompt_cache: bool | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
        mode: str = "call",
        batch_size: int = MOST_CALLS,
    ) -> None:
        super().__init__(
            model=model, name=name, url=url.rstrip("/").removesuffix("/v1"), api_key_env=api_key_env, vendor=vendor,
            timeout=timeout, largest_body=largest_body, context_window=context_window,
            sampling=stated_sampling(top_p, top_k, sampling),
        )  # fmt: skip
        self._prompt_cache = prompt_cache
        if asked_in_batches(mode):
            wire = Wire(self._url, self._place, self._batch_headers)
            self.batch = AnthropicBatches(
                wire, self._parameters, self._read_result, lambda: self._dialect, batch_size
            )

    def _import(self) -> None:
        import anthropic  # noqa: F401

    def _connect(self) -> Opened[Any]:
        self.check()
        import anthropic

        client = anthropic.AsyncAnthropic(
            api_key=read_key(self.name, self._place),
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout,
            http_client=guarded_client(self._timeout, self._largest_body),
            open_telemetry=False,
        )
        return client, client.close

    async def _answered(self, client: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        raw = (await client.messages.with_raw_response.create(**arguments)).http_response
        return loaded(raw.content, self._place, raw.headers.get("content-type", "nothing").split(";")[0])

    def _meaning(self, error: Exception) -> Refused | ModelError | None:
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            headers = error.response.headers
            after = retry_after_seconds(headers.get("retry-after"))
            return Refused(error.status_code, _words(error), headers.get("location"), after)
        if isinstance(error, anthropic.APITimeoutError):
            message = f"{self.host} gave no complete answer within {self._timeout:g} s"
            return LostReplyError(Reason.TIMEOUT, message, retry=True)
        if isinstance(error, anthropic.APIConnectionError):
            return connection_fault(self._place, error)
        return unreadable(self._place) if isinstance(error, anthropic.AnthropicError) else None

    def _batch_headers(self) -> dict[str, str]:
        return {"x-api-key": read_key(self.name, self._place), "anthropic-version": "2023-06-01"}

    def _parameters(self, request: Request) -> dict[str, Any]:
        arguments = self._arguments(request, self._dialect)
        drawn: dict[str, Any] = arguments.pop("extra_body", {})
        return arguments | drawn

    def _read_result(self, request: Request, result: JobResult, asked: SdkDialect | None) -> Reply:
        """The reply in a line of a batch job. What the model does not take is left out in the next job."""
        if result.status == 200:
            return self._read(loaded(result.payload, self._place), request, 0.0)
        words = error_words(result.payload)
        if self._adapts(self._dialect if asked is None else asked, request, result.status, words):
            raise ModelError(
                Reason.PROVIDER, f"{self.host} did not accept the request as it was sent", retry=True
            )
        raise result_fault(self._place, result, words, prompt_of(request))

    def _arguments(self, request: Request, dialect: SdkDialect) -> dict[str, Any]:
        marked = request.has_siblings and self._prompt_cache is not False
        # A schema comes before the prompt in the provider's cache: another one would be another beginning.
        native = request.schema is None or (dialect.schema and not marked)
        messages = worded(request, native=native)
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "messages": [
                {"role": each.role, "content": _content(each, marked)}
                for each in messages
                if each.role != "system"
            ],
        }
        system = "\n\n".join(each.content for each in messages if each.role == "system")
        if system:
            block: dict[str, Any] = {"type": "text", "text": without_surrogates(system)}
            if self._prompt_cache or marked:
                block["cache_control"] = {"type": "ephemeral"}
            arguments["system"] = [block]
        if request.schema is not None and native:
            schema = json.loads(json.dumps(request.schema))
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        drawn = dict(self._sampling)
        if request.temperature is not None and dialect.temperature:
            drawn["temperature"] = min(1.0, request.temperature)
        if drawn:
            arguments["extra_body"] = drawn
        return arguments

    def _read(self, body: Mapping[str, Any], request: Request, seconds: float) -> Reply:
        require_no_error(body, self._place, request)
        content = body.get("content")
        text = text_of(content)
        if content is None or text is None:
            raise unreadable(self._place)
        if not text.strip() and isinstance(content, list):
            text = handed_over(fields(each).get("input") for each in content) or text
        usage = fields(body.get("usage"))
        cached = reported_tokens(usage.get("cache_read_input_tokens")) or 0
        written = reported_tokens(usage.get("cache_creation_input_tokens")) or 0
        tokens_in, tokens_out = (
            reported_tokens(usage.get("input_tokens")),
            reported_tokens(usage.get("output_tokens")),
        )
        return Reply(
            text=unwrapped(text, request),
            finish=finish_of(body.get("stop_reason"), text, tokens_out, request.max_tokens),
            tokens_in=request_tokens(request) if tokens_in is None else tokens_in + cached + written,
            tokens_out=estimate_tokens(text) if tokens_out is None else tokens_out,
            tokens_cached=cached,
            tokens_written=written,
            seconds=seconds,
            model=str(body.get("model") or ""),
        )


def _content(message: Message, marked: bool) -> str | list[dict[str, Any]]:
    """The text of a message; where it is to be marked, in the parts that other questions share and the rest."""
    shown: list[dict[str, Any]] = [
        {"type": "image", "source": {"type": "base64", "media_type": each.media, "data": base64_of(each)}}
        for each in message.images
    ]
    if not marked or not message.shared:
        text = without_surrogates(message.content)
        return [*shown, {"type": "text", "text": text}] if shown else text
    ends = (0, *message.shared, len(message.content))
    parts = [
        {"type": "text", "text": without_surrogates(message.content[start:end])}
        for start, end in pairwise(ends)
        if start < end
    ]
    mark = {"cache_control": {"type": "ephemeral"}}
    said = [{**part, **mark} if place < len(message.shared) else part for place, part in enumerate(parts)]
    return [*shown, *said]


def _words(error: Any) -> str:
    """What the endpoint says went wrong. It may repeat the prompt: not for logs."""
    return error_words(
        json.dumps(error.body).encode() if isinstance(error.body, dict) else error.response.content
    )


_PATH = "/v1/messages/batches"
_CLOCKS = timedelta(minutes=10)  # between ours and the provider's
# What the provider calls an error, as the HTTP status that it would have been.
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
    "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches(BatchProvider):
    """One request with all calls of a job; `made` gives the parameters of one call."""

    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        asked = [{"custom_id": key, "params": self._made(request)} for key, request in calls]
        self._note(calls)
        body = json.dumps({"requests": asked}, ensure_ascii=False).encode()
        return str((await self._wire.json("POST", _PATH, body=body))["id"])

    async def find(self, job: Job) -> str | None:
        """Jobs made since the intent with as many calls may be ours; the first result of each tells. One that has
        not ended yet cannot tell: then nobody knows, and nothing may be asked again."""
        since = datetime.fromisoformat(job.created_at) - _CLOCKS
        ours = {call.key for call in job.calls}
        unknown = False
        async for found in self._listed(_PATH, "after_id"):
            if _moment(found.get("created_at")) < since:
                break
            counts = fields(found.get("request_counts")).values()
            if sum(n for n in counts if isinstance(n, int)) != len(ours):
                continue
            if found.get("processing_status") != "ended":
                unknown = True
            elif await self._holds(str(found["id"]), ours):
                return str(found["id"])
        if unknown:
            why = "a batch job that may be ours has not ended yet, and only its results will show; run again later"
            raise LostReplyError(Reason.PROVIDER, why, retry=True)
        return None

    async def _holds(self, provider_id: str, ours: set[str]) -> bool:
        async for result in self.results(provider_id):
            return result.key in ours
        return False

    async def look(self, provider_id: str) -> tuple[State, str]:
        found = await self._wire.json("GET", f"{_PATH}/{provider_id}")
        return "ended" if found.get("processing_status") == "ended" else "open", ""

    async def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        payload = await self._wire.send("GET", f"{_PATH}/{provider_id}/results")
        for result in self._results_in(payload, _result):
            yield result


def _moment(found: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(found))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)  # of a job without a time nothing is known
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _result(line: bytes) -> JobResult | None:
    """What a line says of its call; None where it says nothing that can be read."""
    try:
        loaded = fields(json.loads(line))
    except (ValueError, RecursionError):
        return None
    key, result = loaded.get("custom_id"), fields(loaded.get("result"))
    if not isinstance(key, str):
        return None
    if result.get("type") == "succeeded":
        return JobResult(key, 200, json.dumps(result.get("message")).encode())
    error = fields(fields(result.get("error")).get("error")) or fields(result.get("error"))
    status = _STATUS.get(str(error.get("type")), 500 if error else 0)
    return JobResult(key, status, json.dumps({"error": error}).encode(), result.get("type") == "expired")
