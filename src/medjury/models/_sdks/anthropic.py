"""Anthropic's models, through the official SDK (extra `anthropic`), with the SDK's retries switched off."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from medjury.instruments import Reason
from medjury.models._batches.batch_job import JobResult
from medjury.models._batches.batch_mode import MOST_CALLS, asked_in_batches, result_fault
from medjury.models._batches.batch_wire import Wire
from medjury.models._chat import Message, ModelError, PlainModel, Reply, Request
from medjury.models._echo import prompt_of
from medjury.models._faults import LostReplyError, Place, error_words, retry_after_seconds
from medjury.models._finish import finish_of
from medjury.models._gate.announce import announce_request
from medjury.models._hosts import host_of, require_allowed
from medjury.models._reply_fields import fields, handed_over, loaded, require_no_error, text_of, unwrapped
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._sdks.anthropic_batches import AnthropicBatches
from medjury.models._sdks.guarded_httpx import guarded_client
from medjury.models._sdks.sdk_call import (
    bounded,
    connection_fault,
    known_secrets,
    missing_package,
    read_key,
    status_fault,
    unreadable,
)
from medjury.models._sdks.sdk_dialect import MOST_ADAPTATIONS, SdkDialect, adapt_sdk
from medjury.models._tokens import estimate_tokens, request_tokens, told_tokens
from medjury.models._wording import without_surrogates, worded


class AnthropicModel(PlainModel):
    """A model behind Anthropic's messages API. There is no seed: repeats differ by temperature alone.

    `prompt_cache` marks the instructions, and what questions share, as worth caching; where nothing is said, only
    what questions share is marked, and what it costs to write it is repaid by the second of them.
    """

    announces = True

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
        self.host: str | None = host_of(url)
        self.name = name or model
        self.vendor = vendor
        self.model = model
        self._url = url.rstrip("/").removesuffix("/v1")
        self._place = Place(self.host or "", model, api_key_env)
        self._timeout = timeout
        self._largest_body = largest_body
        self.context_window = context_window
        self._prompt_cache = prompt_cache
        self._sampling = stated_sampling(top_p, top_k, sampling)
        self._dialect = SdkDialect()
        if asked_in_batches(mode):
            wire = Wire(self._url, self._place, self._batch_headers)
            self.batch = AnthropicBatches(
                wire, self._parameters, self._read_result, lambda: self._dialect, batch_size
            )
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return with_sampling({"kind": "anthropic", "model": self.model}, self._sampling)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Settings of requests that are no longer sent: the model said that it does not take them."""
        return self._dialect.dropped

    def check(self) -> None:
        """The package and the key are there."""
        try:
            import anthropic  # noqa: F401
        except ImportError:
            raise missing_package(self.name, "anthropic") from None
        read_key(self.name, self._place)

    def secrets(self) -> Mapping[str, bool]:
        return known_secrets(self._place, self._url)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        client = self._open()
        started = time.perf_counter()
        import anthropic

        for _ in range(MOST_ADAPTATIONS):
            dialect = self._dialect
            await announce_request()
            try:
                async with bounded(self._place, self._timeout):
                    raw = await client.messages.with_raw_response.create(**self._arguments(request, dialect))
                return self._read(raw.http_response, request, time.perf_counter() - started)
            except anthropic.APIStatusError as error:
                better = (
                    adapt_sdk(dialect, request, _words(error)) if error.status_code in (400, 422) else None
                )
                if better is None:
                    raise self._status_fault(error, request) from None
                self._dialect = self._dialect.with_all_of(better)
            except anthropic.APITimeoutError:
                message = f"{self.host} gave no whole answer within {self._timeout:g} s"
                raise LostReplyError(Reason.TIMEOUT, message, retry=True) from None
            except anthropic.APIConnectionError as error:
                raise connection_fault(self._place, error) from None
            except anthropic.AnthropicError:
                raise unreadable(self._place) from None
        raise ModelError(Reason.PROVIDER, f"{self.host} accepts no form of the request for {self.model}")

    def _batch_headers(self) -> dict[str, str]:
        return {"x-api-key": read_key(self.name, self._place), "anthropic-version": "2023-06-01"}

    def _parameters(self, request: Request) -> dict[str, Any]:
        arguments = self._arguments(request, self._dialect)
        drawn: dict[str, Any] = arguments.pop("extra_body", {})
        return arguments | drawn

    def _read_result(self, request: Request, result: JobResult, asked: SdkDialect | None) -> Reply:
        """The reply in a line of a batch job. What the model does not take is left out in the next job."""
        if result.status == 200:
            return self._read_body(loaded(result.payload, self._place), request, 0.0)
        words = error_words(result.payload)
        if result.status in (400, 422):
            better = adapt_sdk(self._dialect if asked is None else asked, request, words)
            if better is not None:
                self._dialect = self._dialect.with_all_of(better)
                raise ModelError(
                    Reason.PROVIDER, f"{self.host} did not take the request as it was", retry=True
                )
        raise result_fault(self._place, result, words, prompt_of(request))

    def _arguments(self, request: Request, dialect: SdkDialect) -> dict[str, Any]:
        marked = request.has_siblings and self._prompt_cache is not False
        # A schema stands before the prompt in the provider's cache: another one would be another beginning.
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

    def _read(self, response: Any, request: Request, seconds: float) -> Reply:
        body = loaded(
            response.content, self._place, response.headers.get("content-type", "nothing").split(";")[0]
        )
        return self._read_body(body, request, seconds)

    def _read_body(self, body: Mapping[str, Any], request: Request, seconds: float) -> Reply:
        require_no_error(body, self._place, request)
        content = body.get("content")
        text = text_of(content)
        if content is None or text is None:
            raise unreadable(self._place)
        if not text.strip() and isinstance(content, list):
            text = handed_over(fields(each).get("input") for each in content) or text
        usage = fields(body.get("usage"))
        cached = told_tokens(usage.get("cache_read_input_tokens")) or 0
        written = told_tokens(usage.get("cache_creation_input_tokens")) or 0
        tokens_in, tokens_out = (
            told_tokens(usage.get("input_tokens")),
            told_tokens(usage.get("output_tokens")),
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

    def _status_fault(self, error: Any, request: Request) -> ModelError:
        headers = error.response.headers
        after = retry_after_seconds(headers.get("retry-after"))
        prompt, moved = prompt_of(request), headers.get("location")
        return status_fault(self._place, error.status_code, _words(error), prompt, moved, after)

    def _open(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self.check()
            import anthropic

            self._loop = loop
            self._client = anthropic.AsyncAnthropic(
                api_key=read_key(self.name, self._place),
                base_url=self._url,
                max_retries=0,
                timeout=self._timeout,
                http_client=guarded_client(self._timeout, self._largest_body),
                open_telemetry=False,
            )
        return self._client

    async def close(self) -> None:
        if self.batch is not None:
            await self.batch.close()
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.close()
        self._client = None


def _content(message: Message, marked: bool) -> str | list[dict[str, Any]]:
    """The text of a message; where it is to be marked, in the parts that other questions share and the rest."""
    if not marked or not message.shared:
        return without_surrogates(message.content)
    ends = (0, *message.shared, len(message.content))
    parts = [
        {"type": "text", "text": without_surrogates(message.content[start:end])}
        for start, end in pairwise(ends)
        if start < end
    ]
    mark = {"cache_control": {"type": "ephemeral"}}
    return [{**part, **mark} if place < len(message.shared) else part for place, part in enumerate(parts)]


def _words(error: Any) -> str:
    """What the endpoint says went wrong. It may repeat the prompt: not for logs."""
    return error_words(
        json.dumps(error.body).encode() if isinstance(error.body, dict) else error.response.content
    )
