"""Google's models, through the official SDK (extra `google`), over our own guarded session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from medjury.models._chat import ModelError, Reply, Request
from medjury.models._connection import Opened, open_session, verifying_context
from medjury.models._faults import connection_fault, retry_after_seconds
from medjury.models._finish import finish_of
from medjury.models._reply_fields import fields, handed_over, loaded, require_no_error, text_of, unwrapped
from medjury.models._sampling import stated_sampling
from medjury.models._sdk import Refused, SdkDialect, SdkModel, unreadable
from medjury.models._secrets import read_key
from medjury.models._tokens import estimate_tokens, reported_tokens, request_tokens
from medjury.models._wording import without_surrogates, worded

_SAMPLING = ("presence_penalty", "frequency_penalty", "stop_sequences")  # what the SDK passes on


class GoogleModel(SdkModel):
    """A model behind Google's generateContent. The prompt is never sent anywhere but to `url`."""

    kind = "google"
    takes_images = True

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
        super().__init__(
            model=model, name=name, url=url, api_key_env=api_key_env, vendor=vendor, timeout=timeout,
            largest_body=largest_body, context_window=context_window,
            sampling=stated_sampling(top_p, top_k, sampling, _SAMPLING),
        )  # fmt: skip

    def _import(self) -> None:
        from google import genai  # noqa: F401

    def _connect(self) -> Opened[Any]:
        self.check()
        from google import genai
        from google.genai import types

        trusted = verifying_context()
        session = open_session(self._timeout, largest_body=self._largest_body)
        options = types.HttpOptions(
            base_url=self._url,
            timeout=int(self._timeout * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            aiohttp_client=session,
            client_args={"verify": trusted},
            async_client_args={"ssl": trusted},
        )
        key = read_key(self.name, self._place)
        return genai.Client(vertexai=False, api_key=key, http_options=options), session.close

    async def _answered(self, client: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
        from google.genai import errors

        try:
            answer = await client.aio.models.generate_content(**arguments)
        except errors.APIError as error:
            if 200 < error.code < 300:  # the SDK knows one success only
                return fields(error.details)
            raise
        got = answer.sdk_http_response
        headers = {name.lower(): value for name, value in (got.headers or {}).items()}
        kind = str(headers.get("content-type", "nothing")).split(";")[0]
        return loaded(got.body or "", self._place, kind)

    def _meaning(self, error: Exception) -> Refused | ModelError | None:
        import aiohttp
        from google.genai import errors

        if isinstance(error, errors.APIError):
            headers = getattr(error.response, "headers", None) or {}
            after = retry_after_seconds(headers.get("Retry-After")) or _retry_delay(error.details)
            words = f"{error.status or ''} {error.message or ''}".strip()
            return Refused(error.code, words, headers.get("Location"), after)
        if isinstance(error, aiohttp.ClientError):
            return connection_fault(self._place, error)
        return unreadable(self._place) if isinstance(error, ValueError) else None

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
                "parts": [
                    *(
                        {"inline_data": {"mime_type": image.media, "data": image.content}}
                        for image in each.images
                    ),
                    {"text": without_surrogates(each.content)},
                ],
            }
            for each in messages
            if each.role != "system"
        ]
        return {"model": self.model, "contents": contents, "config": config}

    def _read(self, body: Mapping[str, Any], request: Request, seconds: float) -> Reply:
        require_no_error(body, self._place, request)
        usage = fields(body.get("usageMetadata"))
        tokens_in, tokens_out = (
            reported_tokens(usage.get(f"{each}TokenCount")) for each in ("prompt", "candidates")
        )
        thought = reported_tokens(usage.get("thoughtsTokenCount")) or 0
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
            tokens_cached=reported_tokens(usage.get("cachedContentTokenCount")) or 0,
            seconds=seconds,
            model=str(body.get("modelVersion") or ""),
        )


def _retry_delay(details: Any) -> float | None:
    """The wait that Google asks for in the body of a 429: RetryInfo, with a retryDelay such as "25s"."""
    listed = fields(fields(details).get("error")).get("details")
    for each in listed if isinstance(listed, list) else []:
        delay = fields(each).get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            return retry_after_seconds(delay.removesuffix("s"))
    return None
