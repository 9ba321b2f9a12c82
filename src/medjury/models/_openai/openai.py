"""Any endpoint that speaks OpenAI chat completions: OpenAI, Azure, vLLM, Ollama, a hospital's gateway.

One lean HTTP client per model, the body serialised once, no framework between: this is the path on which a study
makes nearly all its calls.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._batch_jobs import (
    MOST_CALLS,
    BatchProvider,
    Job,
    JobResult,
    State,
    Wire,
    asked_in_batches,
    batch_base,
    result_fault,
)
from medjury.models._chat import ModelError, PlainModel, Reply, Request
from medjury.models._echo import prompt_of
from medjury.models._faults import (
    Place,
    error_parameter,
    error_words,
    fault,
)
from medjury.models._hosts import host_of, require_allowed
from medjury.models._http import check_headers
from medjury.models._openai.dialect import Dialect, adapt, build_body
from medjury.models._openai.reply import read_reply
from medjury.models._openai.sending import Sender, ServerTokenizer
from medjury.models._reply_fields import fields
from medjury.models._sampling import stated_sampling, with_sampling
from medjury.models._secrets import read_key, secrets_of_address
from medjury.models._wording import worded

_ENDPOINT = "/v1/chat/completions"
_NAME = "medjury_job"  # in the job's metadata, by which it is found again
_STATES: dict[str, State] = {
    "completed": "ended", "cancelled": "ended", "expired": "expired", "failed": "failed",
}  # fmt: skip


class OpenAIBatches(BatchProvider):
    """A file with a line for each call of a job; `made` gives the body of one call."""

    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        import aiohttp

        lines = [
            b'{"custom_id":"%s","method":"POST","url":"%s","body":%s}\n'
            % (key.encode(), _ENDPOINT.encode(), self._made(request))
            for key, request in calls
        ]
        self._note(calls)
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", b"".join(lines), filename=f"{job}.jsonl", content_type="application/jsonl")
        file = await self._wire.json("POST", "/files", data=form)
        asked = {
            "input_file_id": file["id"],
            "endpoint": _ENDPOINT,
            "completion_window": "24h",
            "metadata": {_NAME: job},
        }
        made = await self._wire.json("POST", "/batches", body=json.dumps(asked).encode())
        return str(made["id"])

    async def find(self, job: Job) -> str | None:
        async for each in self._listed("/batches", "after"):
            if fields(each.get("metadata")).get(_NAME) == job.id:
                return str(each["id"])
        return None

    async def look(self, provider_id: str) -> tuple[State, str]:
        found = await self._wire.json("GET", f"/batches/{provider_id}")
        errors = fields(found.get("errors")).get("data") or ()
        why = "; ".join(str(fields(each).get("message", "")) for each in errors[:3])
        return _STATES.get(str(found.get("status")), "open"), why

    async def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        found = await self._wire.json("GET", f"/batches/{provider_id}")
        for name in ("output_file_id", "error_file_id"):
            if file := found.get(name):
                payload = await self._wire.send("GET", f"/files/{file}/content")
                for result in self._results_in(payload, _result):
                    yield result


def _result(line: bytes) -> JobResult | None:
    """What a line says of its call; None where it says nothing that can be read."""
    try:
        loaded = fields(json.loads(line))
    except (ValueError, RecursionError):
        return None
    key, response, error = loaded.get("custom_id"), fields(loaded.get("response")), loaded.get("error")
    if not isinstance(key, str):
        return None
    status = response.get("status_code")
    if isinstance(status, int) and not error:
        return JobResult(key, status, json.dumps(response.get("body")).encode())
    expired = fields(error).get("code") == "batch_expired"
    return JobResult(key, 0, json.dumps({"error": error}).encode(), expired)


_VENDORS = (
    ("gpt", "OpenAI"), ("o1", "OpenAI"), ("o3", "OpenAI"), ("o4", "OpenAI"), ("chatgpt", "OpenAI"),
    ("claude", "Anthropic"), ("gemini", "Google"), ("gemma", "Google"), ("medgemma", "Google"),
    ("llama", "Meta"), ("meta-llama", "Meta"), ("mistral", "Mistral AI"), ("mixtral", "Mistral AI"),
    ("ministral", "Mistral AI"), ("qwen", "Alibaba"), ("qwq", "Alibaba"), ("deepseek", "DeepSeek"),
    ("phi", "Microsoft"), ("command", "Cohere"), ("grok", "xAI"), ("smollm", "Hugging Face"),
    ("kimi", "Moonshot AI"), ("glm", "Zhipu AI"), ("olmo", "Allen Institute for AI"), ("granite", "IBM"),
)  # fmt: skip


def vendor_of(model: str) -> str:
    """The vendor, or an empty text where the name does not tell.

    >>> vendor_of("meta-llama/Llama-3.3-70B-Instruct")
    'Meta'
    """
    last = model.lower().rsplit("/", 1)[-1]
    for start, vendor in _VENDORS:
        if last.startswith(start):
            return vendor
    return ""


_LARGEST_BODY = 8 * 1024 * 1024
_MOST_ADAPTATIONS = 8
_SECRET_NAME = re.compile("auth(?!or(?!i))|key(?!word)|token(?!s|iz)|secret|passw|cookie|credential|bearer")
_SECRET_TEXT = re.compile(r"\s*(?:sk-|bearer\s)", re.IGNORECASE)
_NO_SECRETS = ("prompt_cache_key",)
_OURS = (
    "model", "messages", "stream", "n", "max_tokens", "max_completion_tokens", "response_format",
    "temperature", "seed",
)  # fmt: skip


class OpenAIModel(PlainModel):
    """A model behind `url` + /chat/completions; with `azure_api_version`, behind Azure's address and header.

    The key comes from the environment variable `api_key_env`. `timeout` bounds the whole call in seconds,
    `largest_body` the answer in bytes. `tokenize` names the server's own way of counting tokens (vllm or
    llama.cpp), to be asked where a prompt may not fit `context_window`. `images` states that the model takes
    images, which nobody can know of an address. `extra` is added to every
    request body as it is, and cannot hold what the adapter sets itself.
    """

    announces = True

    def __init__(
        self,
        *,
        url: str,
        model: str,
        name: str | None = None,
        api_key_env: str | None = None,
        azure_api_version: str | None = None,
        vendor: str | None = None,
        timeout: float = 180.0,
        largest_body: int = _LARGEST_BODY,
        context_window: int | None = None,
        tokenize: str | None = None,
        proxy: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        sampling: Mapping[str, Any] | None = None,
        mode: str = "call",
        batch_size: int = MOST_CALLS,
        images: bool = False,
    ) -> None:
        self.takes_images = images
        self.host: str | None = host_of(url)
        self.name = name or model
        self.vendor = vendor_of(model) if vendor is None else vendor
        self.model = model
        self.proxy_host = None if proxy is None else host_of(proxy)
        self._place = Place(self.host or "", model, api_key_env)
        self._azure = azure_api_version is not None
        self._address = _chat_address(url, model, azure_api_version)
        self._extra = _own_fields(extra or {})
        drawn = stated_sampling(top_p, top_k, sampling)
        for field in drawn.keys() & self._extra.keys():
            raise MedjuryError(f"extra: {field!r} is already stated beside it; take one of the two out")
        self._added = {**_own_fields(drawn), **self._extra}
        self._own_headers = _own_headers(headers or {})
        self.context_window = context_window
        self._tokenizer = None if tokenize is None else ServerTokenizer(tokenize, url, model)
        self._dialect = Dialect()
        self._sender = Sender(
            self._place, self._address, self._checked_headers,
            timeout=timeout, largest_body=largest_body, proxy=proxy,
        )  # fmt: skip
        self._identity = {"kind": "azure" if self._azure else "openai", "model": model}
        if self._extra:
            self._identity["extra"] = json.dumps(self._extra, sort_keys=True)
        self._identity = with_sampling(self._identity, drawn)
        if asked_in_batches(mode):
            wire = Wire(batch_base(self._address), self._place, self._headers)
            self.batch = OpenAIBatches(wire, self._body, self._read_result, lambda: self._dialect, batch_size)

    @property
    def identity(self) -> Mapping[str, str]:
        return self._identity

    @property
    def answers_in(self) -> str:
        """How the endpoint is asked for JSON: json_schema, json_object or text, as far as is known."""
        return self._dialect.form

    @property
    def dropped(self) -> tuple[str, ...]:
        """Settings of requests that are no longer sent: the endpoint said that it does not take them."""
        return self._dialect.dropped

    def check(self) -> None:
        """Everything that can be known before the first call: keys are there, and headers can be sent."""
        _from_environment(self._own_headers)
        if self._place.key_variable is not None:
            read_key(self.name, self._place)
        check_headers(self._headers())

    def secrets(self) -> Mapping[str, bool]:
        stated = {value: False for value in self._own_headers.values() if not value.startswith("env:")}
        variables = [
            value.removeprefix("env:") for value in self._own_headers.values() if value not in stated
        ]
        keys = [os.environ.get(each, "").strip() for each in (*variables, self._place.key_variable or "")]
        return stated | secrets_of_address(self._address) | dict.fromkeys(filter(None, keys), True)

    async def ask(self, request: Request) -> Reply:
        require_allowed(self.host, f"model {self.name}")
        require_allowed(self.proxy_host, f"the proxy of model {self.name}")
        started = time.perf_counter()
        for _ in range(_MOST_ADAPTATIONS):
            dialect = self._dialect
            got = await self._sender.send(self._body(request))
            if 200 <= got.status < 300:
                seconds = time.perf_counter() - started
                return read_reply(got.body, request, self._place, seconds, got.content_type)
            words = error_words(got.body)
            parameter = error_parameter(got.body)
            if got.status in (400, 422) and (better := adapt(dialect, words, parameter)) is not None:
                self._dialect = better if dialect is self._dialect else self._dialect
                continue
            raise fault(self._place, got.status, words, prompt_of(request), got.retry_after)
        raise ModelError(Reason.PROVIDER, f"{self.host} accepts no form of the request for {self.model}")

    def _body(self, request: Request) -> bytes:
        form = self._schema_in_words(request, self._dialect)
        return build_body(self.model, request, form, self._added)

    def _read_result(self, request: Request, result: JobResult, asked: Dialect | None) -> Reply:
        """The reply in a line of a batch job. What the endpoint does not take is left out in the next job."""
        if 200 <= result.status < 300:
            return read_reply(result.payload, request, self._place, 0.0)
        words = error_words(result.payload)
        if result.status in (400, 422):
            dialect = self._dialect if asked is None else asked
            better = adapt(dialect, words, error_parameter(result.payload))
            if better is not None and dialect == self._dialect:
                self._dialect = better
            if better is not None:
                raise ModelError(
                    Reason.PROVIDER, f"{self.host} did not accept the request as it was sent", retry=True
                )
        raise result_fault(self._place, result, words, prompt_of(request))

    def _schema_in_words(self, request: Request, dialect: Dialect) -> Dialect:
        """OpenAI's own endpoints put a schema before the prompt: where questions share a beginning and differ in
        their schemas, it is spelled out at the end instead, or nothing would be found in the prompt cache."""
        own = self._azure or (self.host or "").endswith(("openai.com", "openai.azure.com"))
        if own and request.has_siblings and dialect.form == "json_schema":
            return replace(dialect, form="json_object")
        return dialect

    async def count_tokens(self, request: Request) -> int | None:
        """The tokens of the prompt as the server counts them; None where it is not to be asked."""
        if self._tokenizer is None:
            return None
        require_allowed(self.host, f"model {self.name}")
        require_allowed(self.proxy_host, f"the proxy of model {self.name}")
        form = self._schema_in_words(request, self._dialect).form
        native = request.schema is None or form == "json_schema"
        messages = worded(request, native=native)
        return await self._tokenizer.count(messages, self._place, self._sender.send)

    def _checked_headers(self) -> dict[str, str]:
        self.check()
        return self._headers()

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        variable = self._place.key_variable
        if variable is not None:
            key = os.environ[variable].strip()
            headers |= {"api-key": key} if self._azure else {"Authorization": f"Bearer {key}"}
        return headers | _from_environment(self._own_headers)

    async def close(self) -> None:
        if self.batch is not None:
            await self.batch.close()
        await self._sender.close()


def _own_fields(extra: Mapping[str, Any]) -> dict[str, Any]:
    for field in _OURS:
        if field in extra:
            raise MedjuryError(
                f"extra: {field!r} cannot be set here; it would change what an answer means or may cost"
            )
    _refuse_secrets(extra, "extra")
    return dict(extra)


def _refuse_secrets(value: Any, where: str, suspect: bool = False) -> None:
    """`extra` is written into every manifest as it is: no text in it may be, or be named, a secret."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            named = name not in _NO_SECRETS and _SECRET_NAME.search(str(name).lower()) is not None
            _refuse_secrets(each, f"{where}.{name}", suspect or named)
    elif isinstance(value, list | tuple):
        for each in value:
            _refuse_secrets(each, where, suspect)
    elif isinstance(value, str) and (suspect or _SECRET_TEXT.match(value)):
        raise MedjuryError(
            f"{where} looks like a secret, which does not belong in a file; put it in an environment variable "
            "and name that in api_key_env, or in headers as `env:NAME_OF_THE_VARIABLE`"
        )


def _own_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """A gateway may want headers of its own; a secret among them is named as `env:VARIABLE`, never written."""
    for header, value in headers.items():
        secret = any(word in header.lower() for word in ("auth", "key", "token", "secret", "cookie"))
        if secret and not str(value).startswith("env:"):
            raise MedjuryError(
                f"headers: {header} looks like a secret, which does not belong in a file; put it in an "
                "environment variable and write `env:NAME_OF_THE_VARIABLE`"
            )
    return {header: str(value) for header, value in headers.items()}


def _from_environment(headers: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for header, value in headers.items():
        variable = value.removeprefix("env:")
        if value.startswith("env:") and not os.environ.get(variable):
            raise MedjuryError(f"headers: the environment variable {variable} is not set")
        found[header] = os.environ[variable] if value.startswith("env:") else value
    return found


def _chat_address(url: str, model: str, azure_api_version: str | None) -> str:
    parts = urlsplit(url)
    base = urlunsplit(parts._replace(path=parts.path.rstrip("/"), query="", fragment=""))
    if azure_api_version is None:
        address = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        return f"{address}?{parts.query}" if parts.query else address
    query = urlencode({"api-version": azure_api_version})
    if "/openai/" not in base:
        base = f"{base}/openai/deployments/{model}"
    return f"{base}/chat/completions?{query}"
