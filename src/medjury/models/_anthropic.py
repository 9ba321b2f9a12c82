"""Anthropic's models, through the official SDK (extra `anthropic`), with the SDK's retries switched off."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from medjury.instruments import Reason
from medjury.models._announce import announce_request
from medjury.models._chat import Finish, ModelError, PlainModel, Reply, Request
from medjury.models._faults import LostReplyError, Place, retry_after_seconds
from medjury.models._guarded_httpx import guarded_client
from medjury.models._hosts import host_of, require_allowed
from medjury.models._openai_dialect import refuses
from medjury.models._sdk_call import (
    bounded,
    connection_fault,
    missing_package,
    read_key,
    status_fault,
    unreadable,
)
from medjury.models._tokens import estimate_tokens, request_tokens, told_tokens
from medjury.models._wording import with_schema_spelled_out, without_surrogates

_FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
}
_MOST_ADAPTATIONS = 3


class AnthropicModel(PlainModel):
    """A model behind Anthropic's messages API. There is no seed: repeats differ by temperature alone.

    `prompt_cache` marks the instructions as worth caching; writing the cache costs a quarter more than input,
    which the cost shown here does not include.
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
        prompt_cache: bool = False,
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
        self._takes_temperature = True
        self._takes_schema = True
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return {"kind": "anthropic", "model": self.model}

    @property
    def dropped(self) -> tuple[str, ...]:
        """Settings of requests that are no longer sent: the model said that it does not take them."""
        return () if self._takes_temperature else ("temperature",)

    def check(self) -> None:
        """The package and the key are there."""
        try:
            import anthropic  # noqa: F401
        except ImportError:
            raise missing_package(self.name, "anthropic") from None
        read_key(self.name, self._place)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        client = self._open()
        started = time.perf_counter()
        import anthropic

        for _ in range(_MOST_ADAPTATIONS):
            await announce_request()
            try:
                async with bounded(self._place, self._timeout):
                    message = await client.messages.create(**self._arguments(request))
                return self._read(message, request, time.perf_counter() - started)
            except anthropic.APIStatusError as error:
                if not (error.status_code == 400 and self._adapt(request, str(error.message).lower())):
                    raise self._status_fault(error, request) from None
            except anthropic.APITimeoutError:
                message = f"{self.host} gave no whole answer within {self._timeout:g} s"
                raise LostReplyError(Reason.TIMEOUT, message, retry=True) from None
            except anthropic.APIConnectionError as error:
                raise connection_fault(self._place, error) from None
            except anthropic.AnthropicError:
                raise unreadable(self._place) from None
        raise ModelError(Reason.PROVIDER, f"{self.host} accepts no form of the request for {self.model}")

    def _arguments(self, request: Request) -> dict[str, Any]:
        native = request.schema is None or self._takes_schema
        messages = request.messages if native else with_schema_spelled_out(request)
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "messages": [
                {"role": each.role, "content": without_surrogates(each.content)}
                for each in messages
                if each.role != "system"
            ],
        }
        system = "\n\n".join(each.content for each in messages if each.role == "system")
        if system:
            block: dict[str, Any] = {"type": "text", "text": without_surrogates(system)}
            if self._prompt_cache:
                block["cache_control"] = {"type": "ephemeral"}
            arguments["system"] = [block]
        if request.schema is not None and self._takes_schema:
            schema = json.loads(json.dumps(request.schema))
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if request.temperature is not None and self._takes_temperature:
            arguments["extra_body"] = {"temperature": min(1.0, request.temperature)}
        return arguments

    def _adapt(self, request: Request, said: str) -> bool:
        """Drop what this model does not know, as its refusal says; remembered for all later calls."""
        if self._takes_temperature and refuses(said, "temperature"):
            self._takes_temperature = False
            return True
        about_schema = any(
            each in said for each in ("output_config", "output_format", "json_schema", "schema")
        )
        if about_schema and request.schema is not None and self._takes_schema:
            self._takes_schema = False
            return True
        return False

    def _read(self, message: Any, request: Request, seconds: float) -> Reply:
        try:
            return self._reply(message, request, seconds)
        except (AttributeError, TypeError):
            raise unreadable(self._place) from None

    def _reply(self, message: Any, request: Request, seconds: float) -> Reply:
        if message.type != "message" or message.stop_reason is None:
            raise unreadable(self._place)
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = message.usage
        cached = told_tokens(usage.cache_read_input_tokens) or 0
        written = told_tokens(usage.cache_creation_input_tokens) or 0
        tokens_in, tokens_out = told_tokens(usage.input_tokens), told_tokens(usage.output_tokens)
        return Reply(
            text=text,
            finish=_FINISHES.get(message.stop_reason, "length"),
            tokens_in=request_tokens(request) if tokens_in is None else tokens_in + cached + written,
            tokens_out=estimate_tokens(text) if tokens_out is None else tokens_out,
            tokens_cached=cached,
            seconds=seconds,
            model=str(message.model or ""),
        )

    def _status_fault(self, error: Any, request: Request) -> ModelError:
        headers = error.response.headers
        prompt = [each.content for each in request.messages]
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error")
        words = f"{inner.get('type', '')} {inner.get('message', '')}" if isinstance(inner, dict) else ""
        after = retry_after_seconds(headers.get("retry-after"))
        return status_fault(self._place, error.status_code, words, prompt, headers.get("location"), after)

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
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.close()
        self._client = None
