"""Google's models, through the official SDK (extra `google`), over our own guarded session."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from medjury.models._announce import announce_request
from medjury.models._chat import Finish, ModelError, PlainModel, Reply, Request
from medjury.models._connection import open_session
from medjury.models._faults import Place, retry_after_seconds
from medjury.models._hosts import host_of, require_allowed
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

_FINISHES: dict[str, Finish] = {"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}
_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})


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
        self._takes_schema = True
        self._client: Any = None
        self._session: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        return {"kind": "google", "model": self.model}

    def check(self) -> None:
        """The package and the key are there."""
        try:
            from google import genai  # noqa: F401
        except ImportError:
            raise missing_package(self.name, "google") from None
        read_key(self.name, self._place)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        client = self._open()
        started = time.perf_counter()
        import aiohttp
        from google.genai import errors

        while True:
            await announce_request()
            try:
                async with bounded(self._place, self._timeout):
                    answer = await client.aio.models.generate_content(**self._arguments(request))
                return self._read(answer, request, time.perf_counter() - started)
            except errors.APIError as error:
                said = str(error.message).lower()
                about_schema = "schema" in said or "response_mime_type" in said
                if error.code == 400 and about_schema and request.schema is not None and self._takes_schema:
                    self._takes_schema = False
                    continue
                raise self._status_fault(error, request) from None
            except aiohttp.ClientError as error:
                raise connection_fault(self._place, error) from None
            except ValueError:
                raise unreadable(self._place) from None

    def _arguments(self, request: Request) -> dict[str, Any]:
        native = request.schema is None or self._takes_schema
        messages = request.messages if native else with_schema_spelled_out(request)
        config: dict[str, Any] = {
            "max_output_tokens": request.max_tokens,
            "automatic_function_calling": {"disable": True},
        }
        if request.temperature is not None:
            config["temperature"] = request.temperature
        if request.seed is not None:
            config["seed"] = request.seed
        if request.schema is not None and self._takes_schema:
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

    def _read(self, answer: Any, request: Request, seconds: float) -> Reply:
        try:
            return self._reply(answer, request, seconds)
        except (AttributeError, TypeError):
            raise unreadable(self._place) from None

    def _reply(self, answer: Any, request: Request, seconds: float) -> Reply:
        usage = answer.usage_metadata
        tokens_in = (told_tokens(usage.prompt_token_count) if usage else None) or request_tokens(request)
        tokens_out = told_tokens(usage.candidates_token_count) if usage else None
        thought = (told_tokens(usage.thoughts_token_count) or 0) if usage else 0
        text, finish = "", "refusal"
        if answer.candidates:
            first = answer.candidates[0]
            parts = (first.content.parts or []) if first.content else []
            text = "".join(part.text for part in parts if part.text and not part.thought)
            said = getattr(first.finish_reason, "value", first.finish_reason)
            finish = "refusal" if said in _REFUSALS else _FINISHES.get(said, "length")
        elif not (answer.prompt_feedback and answer.prompt_feedback.block_reason):
            raise unreadable(self._place)
        return Reply(
            text=text,
            finish=finish,  # type: ignore[arg-type]
            tokens_in=tokens_in,
            tokens_out=(tokens_out or estimate_tokens(text)) + thought,
            tokens_cached=(told_tokens(usage.cached_content_token_count) or 0) if usage else 0,
            seconds=seconds,
            model=str(answer.model_version or ""),
        )

    def _status_fault(self, error: Any, request: Request) -> ModelError:
        headers = getattr(error.response, "headers", None) or {}
        prompt = [each.content for each in request.messages]
        words = f"{error.status or ''} {error.message or ''}".strip()
        after = retry_after_seconds(headers.get("Retry-After"))
        return status_fault(self._place, error.code, words, prompt, headers.get("Location"), after)

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
