"""Google's models, through the official SDK (extra `google`), over our own guarded session."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import ModelError, PlainModel, Reply, Request
from medjury.models._connection import open_session
from medjury.models._echo import prompt_of
from medjury.models._faults import Place, retry_after_seconds
from medjury.models._finish import finish_of
from medjury.models._gate.announce import announce_request
from medjury.models._hosts import host_of, require_allowed
from medjury.models._reply_fields import fields, handed_over, loaded, require_no_error, text_of, unwrapped
from medjury.models._sampling import stated_sampling, with_sampling
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

_SAMPLING = ("presence_penalty", "frequency_penalty", "stop_sequences")  # what the SDK passes on


class GoogleModel(PlainModel):
    """A model behind Google's generateContent. The prompt is never sent anywhere but to `url`."""

    announces = True

    def __init__(
        self,
        *,
        model: str,
        name: str | None = None,
        url: str = "https://generativelanguage.googleapis.com",
        api_key_env: str = "GEMINI_API_KEY",
        vendor: str = "Google",
        timeout: float = 180.0,
        largest_body: int = 8 * 1024 * 1024,
        context_window: int | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        self.host: str | None = host_of(url)
        self.name = name or model
        self.vendor = vendor
        self.model = model
        self._url = url.rstrip("/")
        self._place = Place(self.host or "", model, api_key_env)
        self._timeout = timeout
        self._largest_body = largest_body
        self.context_window = context_window
        self._sampling = stated_sampling(top_p, top_k, sampling, _SAMPLING)
        self._dialect = SdkDialect()
        self._client: Any = None
        self._session: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return with_sampling({"kind": "google", "model": self.model}, self._sampling)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Settings of requests that are no longer sent: the model said that it does not take them."""
        return self._dialect.dropped

    def check(self) -> None:
        """The package and the key are there."""
        try:
            from google import genai  # noqa: F401
        except ImportError:
            raise missing_package(self.name, "google") from None
        read_key(self.name, self._place)

    def secrets(self) -> Mapping[str, bool]:
        return known_secrets(self._place, self._url)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        client = self._open()
        started = time.perf_counter()
        import aiohttp
        from google.genai import errors

        for _ in range(MOST_ADAPTATIONS):
            dialect = self._dialect
            await announce_request()
            try:
                async with bounded(self._place, self._timeout):
                    answer = await client.aio.models.generate_content(**self._arguments(request, dialect))
                got = answer.sdk_http_response
                headers = {name.lower(): value for name, value in (got.headers or {}).items()}
                kind = str(headers.get("content-type", "nothing")).split(";")[0]
                body = loaded(got.body or "", self._place, kind)
                return self._read(body, request, time.perf_counter() - started)
            except errors.APIError as error:
                if 200 < error.code < 300:  # the SDK knows one success only
                    return self._read(fields(error.details), request, time.perf_counter() - started)
                better = adapt_sdk(dialect, request, _words(error)) if error.code in (400, 422) else None
                if better is None:
                    raise self._status_fault(error, request) from None
                self._dialect = self._dialect.with_all_of(better)
            except aiohttp.ClientError as error:
                raise connection_fault(self._place, error) from None
            except ValueError:
                raise unreadable(self._place) from None
        raise ModelError(Reason.PROVIDER, f"{self.host} accepts no form of the request for {self.model}")

    def _arguments(self, request: Request, dialect: SdkDialect) -> dict[str, Any]:
        native = request.schema is None or dialect.schema
        messages = worded(request, native=native)
        config: dict[str, Any] = {
            "max_output_tokens": request.max_tokens,
            "automatic_function_calling": {"disable": True},
            "should_return_http_response": True,  # its body is read here, more leniently than by the SDK
            **self._sampling,
        }
        if request.temperature is not None and dialect.temperature:
            config["temperature"] = request.temperature
        if request.seed is not None and dialect.seed:
            config["seed"] = request.seed
        if request.schema is not None and dialect.schema:
            config["response_mime_type"] = "application/json"
            config["response_json_schema"] = json.loads(json.dumps(request.schema))
        system = "\n\n".join(each.content for each in messages if each.role == "system")
        if system:
            config["system_instruction"] = without_surrogates(system)
        contents = [
            {
                "role": "model" if each.role == "assistant" else "user",
                "parts": [{"text": without_surrogates(each.content)}],
            }
            for each in messages
            if each.role != "system"
        ]
        return {"model": self.model, "contents": contents, "config": config}

    def _read(self, body: Mapping[str, Any], request: Request, seconds: float) -> Reply:
        require_no_error(body, self._place, request)
        usage = fields(body.get("usageMetadata"))
        tokens_in, tokens_out = (
            told_tokens(usage.get(f"{each}TokenCount")) for each in ("prompt", "candidates")
        )
        thought = told_tokens(usage.get("thoughtsTokenCount")) or 0
        candidates = body.get("candidates")
        text, finish = "", "refusal"
        if isinstance(candidates, list) and candidates:
            first = fields(candidates[0])
            content = first.get("content")
            parts = content.get("parts") if isinstance(content, dict) and "parts" in content else content
            text = text_of(parts) or ""
            if not text.strip() and isinstance(parts, list):
                calls = (fields(fields(each).get("functionCall")) for each in parts)
                text = handed_over(each.get("args") for each in calls) or text
            finish = finish_of(first.get("finishReason"), text, tokens_out, request.max_tokens)
        elif not fields(body.get("promptFeedback")).get("blockReason"):
            raise unreadable(self._place)
        return Reply(
            text=unwrapped(text, request),
            finish=finish,  # type: ignore[arg-type]
            tokens_in=tokens_in or request_tokens(request),
            tokens_out=(tokens_out or estimate_tokens(text)) + thought,
            tokens_cached=told_tokens(usage.get("cachedContentTokenCount")) or 0,
            seconds=seconds,
            model=str(body.get("modelVersion") or ""),
        )

    def _status_fault(self, error: Any, request: Request) -> ModelError:
        headers = getattr(error.response, "headers", None) or {}
        after = retry_after_seconds(headers.get("Retry-After")) or _retry_delay(error.details)
        prompt, moved = prompt_of(request), headers.get("Location")
        return status_fault(self._place, error.code, _words(error), prompt, moved, after)

    def _open(self) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self.check()
            from google import genai
            from google.genai import types

            self._loop = loop
            self._session = open_session(self._timeout, largest_body=self._largest_body)
            options = types.HttpOptions(
                base_url=self._url,
                timeout=int(self._timeout * 1000),
                retry_options=types.HttpRetryOptions(attempts=1),
                aiohttp_client=self._session,
            )
            key = read_key(self.name, self._place)
            self._client = genai.Client(vertexai=False, api_key=key, http_options=options)
        return self._client

    async def close(self) -> None:
        if self._session is not None and self._loop is asyncio.get_running_loop():
            await self._session.close()
        self._client = self._session = None


def _words(error: Any) -> str:
    """What the endpoint says went wrong. It may repeat the prompt: not for logs."""
    return f"{error.status or ''} {error.message or ''}".strip()


def _retry_delay(details: Any) -> float | None:
    """The wait that Google asks for in the body of a 429: RetryInfo, with a retryDelay such as "25s"."""
    told = fields(fields(details).get("error")).get("details")
    for each in told if isinstance(told, list) else []:
        delay = fields(each).get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            return retry_after_seconds(delay.removesuffix("s"))
    return None
