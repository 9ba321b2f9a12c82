"""A language-model endpoint on 127.0.0.1 that answers by rule and misbehaves on request.

It speaks OpenAI chat completions (and Azure's URL shape), Anthropic messages and Google generateContent, and
counts tokens as vLLM (/tokenize) and llama.cpp (/apply-template, /tokenize) do. By
default it reads the JSON schema in the request and answers deterministic JSON that follows it.

    with LoopbackServer(["429:0", "ok"]) as server:
        ...  # talk to server.url; look at server.calls

    python -m tests.loopback --port 0 --latency 0.2 --log FILE

The second form prints its URL on the first line and appends to FILE one line per answered request: a hash of
the request body, a counter, the status; and to FILE.arrived one line per request that arrived. While FILE.hold
exists no request is answered: each that waits has a line in FILE.held.

Behaviours are words, some with an argument after a colon:

    ok                  answer by the schema            ok:TEXT         answer with TEXT
    latency:S           wait S seconds, then answer     429[:AFTER]     rate limit, Retry-After: AFTER
    500, 503, 529       server error                    401             invalid key
    400:TEXT            bad request that says TEXT      context         prompt too long (400)
    reset               connection reset                cut-body        connection closed inside the body
    slow:S              trickle the body over S s       endless         a body without an end
    truncated-json      half an HTTP body               not-json        an HTTP body of another shape
    html                200 with an HTML page           redirect:URL    307 to URL
    wrong-schema        JSON of another shape           out-of-range    every whole number off the scale
    cut-content         half an answer, finish "stop"   length          half an answer, finish "length"
    refusal             the model declines              empty           no content
    fenced, think       the answer inside a fence, or after a thought
    dear:TEXT           TEXT, with as many tokens on the bill as can be
    raw:STATUS BODY     this very body with this status; raw:STATUS/TYPE BODY with this content type
    model:NAME          a good answer in the name of another model

They come as a list (one per request, then "ok"), as one word for every request, as a callable that gets the
`Call` and returns a word, or as a marker in the prompt: `[[loopback:500]]` always, `[[loopback:500*2]]` for
the first two requests with that body.

The preflight question of a run holds no case. It is kept apart, in `server.preflights`, and answered as
`preflight` says ("ok" unless a test says otherwise): behaviours are for questions about cases.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import signal
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.batch_jobs import BatchJobs
from tests.prefix_cache import PrefixCache

Protocol = str  # "openai", "anthropic" or "google"
MARKER = re.compile(r"\[\[loopback:(.+?)(?:\*(\d+))?\]\]")
ENDLESS_LIMIT = 256 * 1024 * 1024  # even an endless body ends before it fills a machine
# What a question ends with. It differs from store to store, so that no answer and no bill here depends on it.
TOKEN = re.compile(r'\n\n[^\n"]*"verdict": "([0-9a-f]{10})"')
TOKEN_IN_BODY = re.compile(rb'\\n\\n[^\\]*\\"verdict\\": \\"[0-9a-f]{10}\\"')
PREFLIGHT = "one short question, to find out whether you can be reached"
RED_TAPE = "I'm sorry, but I can't help with that."


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    time: float
    number: int

    @cached_property
    def json(self) -> dict[str, Any]:
        loaded = json.loads(self.body)
        return loaded if isinstance(loaded, dict) else {}

    @cached_property
    def protocol(self) -> Protocol:
        if self.path.endswith("/messages"):
            return "anthropic"
        return "google" if self.path.endswith(":generateContent") else "openai"

    @cached_property
    def prompt(self) -> str:
        """All texts of the request, one below the other."""
        return "\n".join(_texts(self.json.get("system"))) + "\n".join(
            text
            for key in ("systemInstruction", "messages", "contents")
            for text in _texts(self.json.get(key))
        )

    @property
    def token(self) -> str:
        """The token that the question shows, if any."""
        return found[1] if (found := TOKEN.search(self.prompt)) else ""

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema asked for in the protocol's own way, else one that the prompt spells out."""
        body = self.json
        if self.protocol == "openai":
            wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        elif self.protocol == "anthropic":
            output = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
            wanted = output.get("schema") or next(
                (tool.get("input_schema") for tool in body.get("tools") or []), None
            )
        else:
            config = body.get("generationConfig") or {}
            wanted = config.get("responseJsonSchema") or config.get("responseSchema")
        return wanted or _schema_in_text(self.prompt)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key in ("text", "content", "parts"):
            yield from _texts(value.get(key))


def _schema_in_text(text: str) -> Mapping[str, Any] | None:
    """The last schema that the text spells out, whole: not one that stands inside another."""
    start, best, best_end = text.rfind('{"type"'), None, -1
    while start >= 0:
        try:
            found, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            found, end = None, -1
        if isinstance(found, dict) and "properties" in found:
            if best is not None and end <= best_end:
                return best
            best, best_end = found, end
        start = text.rfind('{"type"', 0, start)
    return best


def conforming(schema: Mapping[str, Any], seed: bytes, *, off_scale: bool = False) -> Any:
    """A value that follows the schema, chosen by the seed; `off_scale` makes every whole number too large."""
    return _Conforming(schema, seed, off_scale).value(schema, "")


@dataclass(frozen=True)
class _Conforming:
    root: Mapping[str, Any]
    seed: bytes
    off_scale: bool

    def draw(self, place: str, choices: int) -> int:
        digest = hashlib.blake2b(place.encode("utf-8", "surrogatepass"), key=self.seed[:64], digest_size=8)
        return int.from_bytes(digest.digest()) % choices

    def value(self, schema: Mapping[str, Any], place: str) -> Any:
        if "$ref" in schema:
            target: Any = self.root
            for part in schema["$ref"].lstrip("#/").split("/"):
                target = target[part]
            return self.value(target, place)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.one_of(schema["enum"], place)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(schema[key][self.draw(place + key, len(schema[key]))], place)
        kind = schema.get("type", "object")
        if isinstance(kind, list):
            kind = kind[self.draw(place + "type", len(kind))]
        kind = kind.lower()
        if kind in ("integer", "number"):
            low = int(schema.get("minimum", 1))
            high = int(schema.get("maximum", low + 4))
            return self.one_of(range(low, high + 1), place)
        if kind == "string":
            return "short reason".ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]
        if kind == "boolean":
            return bool(self.draw(place, 2))
        if kind == "null":
            return None
        if kind == "array":
            items = schema.get("items", {"type": "string"})
            return [self.value(items, f"{place}/{n}") for n in range(schema.get("minItems", 1))]
        return {
            name: self.value(each, f"{place}/{name}") for name, each in schema.get("properties", {}).items()
        }

    def one_of(self, choices: Any, place: str) -> Any:
        numbers = [each for each in choices if isinstance(each, int) and not isinstance(each, bool)]
        if self.off_scale and numbers:
            return max(numbers) + 1000
        return choices[self.draw(place, len(choices))]


@dataclass(frozen=True)
class _Answer:
    text: str
    finish: str = "stop"  # stop, length, refusal
    tokens_cached: int = 0
    tokens_in: int | None = None  # as a prompt cache counted them, and what it wrote
    tokens_written: int = 0
    dear: bool = (
        False  # a token for each byte of prompt and schema, and as many for the answer as are allowed
    )
    model: str | None = None  # who says that it answers; the one asked for, where None


def _envelope(call: Call, answer: _Answer) -> dict[str, Any]:
    """The answer in the shape of the protocol."""
    tokens_in, tokens_out = max(1, len(TOKEN_IN_BODY.sub(b"", call.body)) // 4), max(1, len(answer.text) // 4)
    tokens_in = answer.tokens_in or tokens_in
    if answer.dear:
        tokens_in = len(call.prompt.encode()) + len(json.dumps(call.schema))
        tokens_out = call.json["max_tokens"]
    model = call.json.get("model") or "loopback" if answer.model is None else answer.model
    if call.protocol == "anthropic":
        reasons = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
        return {
            "id": f"msg_{call.number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": answer.text}] if answer.text else [],
            "stop_reason": reasons[answer.finish],
            "stop_sequence": None,
            "usage": {
                "input_tokens": tokens_in - answer.tokens_cached - answer.tokens_written,
                "cache_read_input_tokens": answer.tokens_cached,
                "cache_creation_input_tokens": answer.tokens_written,
                "output_tokens": tokens_out,
            },
        }
    if call.protocol == "google":
        reasons = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
        parts = [{"text": answer.text}] if answer.text else []
        return {
            "candidates": [
                {
                    "content": {"role": "model", "parts": parts},
                    "finishReason": reasons[answer.finish],
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": tokens_in,
                "candidatesTokenCount": tokens_out,
                "totalTokenCount": tokens_in + tokens_out,
                "cachedContentTokenCount": answer.tokens_cached,
            },
            "modelVersion": answer.model or call.path.rsplit("/", 1)[-1].removesuffix(":generateContent"),
        }
    refused = answer.finish == "refusal"
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None if refused else answer.text,
                    "refusal": answer.text if refused else None,
                },
                "finish_reason": "length" if answer.finish == "length" else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            "prompt_tokens_details": {"cached_tokens": answer.tokens_cached},
        },
    }


_ERROR_WORDS = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    404: ("not_found_error", "NOT_FOUND"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("api_error", "INTERNAL"),
    503: ("overloaded_error", "UNAVAILABLE"),
    529: ("overloaded_error", "UNAVAILABLE"),
}


def _error_body(call: Call, status: int, message: str) -> dict[str, Any]:
    kind, word = _ERROR_WORDS.get(status, ("api_error", "UNKNOWN"))
    if call.protocol == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}}
    if call.protocol == "google":
        return {"error": {"code": status, "message": message, "status": word}}
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _error(call: Call, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = json.dumps(_error_body(call, status, message)).encode()
    return web.Response(status=status, body=body, content_type="application/json", headers=headers)


class Log:
    """What a server in a process of its own writes down, for a test that kills its clients."""

    def __init__(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._files = {end: os.open(path + end, flags, 0o644) for end in ("", ".arrived", ".held")}
        self._hold = Path(f"{path}.hold")

    def arrived(self) -> None:
        os.write(self._files[".arrived"], b"arrived\n")

    def answered(self, line: str) -> None:
        os.write(self._files[""], f"{line}\n".encode())

    async def held(self) -> None:
        if not self._hold.exists():
            return
        os.write(self._files[".held"], b"held\n")
        while self._hold.exists():  # noqa: ASYNC110 - another process takes it away
            await asyncio.sleep(0.005)


Behaviours = str | Iterable[str] | Callable[[Call], "str | None"] | None


@dataclass
class Endpoint:
    """The request handler; `LoopbackServer` runs it in a thread, `main` in a process of its own.

    `rejects` names what the endpoint does not know and answers with 400: json_schema, response_format,
    max_tokens, max_completion_tokens, temperature, seed. Above `most_in_flight` it answers 429.
    With `together` it answers nothing before so many requests have arrived. With a `cache` it counts what a prompt
    cache would have served.
    """

    behaviours: Behaviours = None
    latency: float = 0.0
    rejects: Collection[str] = ()
    api_key: str | None = None
    most_in_flight: int | None = None
    tokens_cached: int = 0
    cache: PrefixCache | None = None
    jobs: BatchJobs = field(default_factory=BatchJobs)
    together: int = 0
    record: bool = True
    log: Log | None = None
    preflight: str = "ok"
    calls: list[Call] = field(default_factory=list)
    preflights: list[Call] = field(default_factory=list)
    arrived: int = 0
    answered: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0
    _seen: Counter[bytes] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if isinstance(self.behaviours, str):
            word = self.behaviours
            self.behaviours = lambda call: word
        elif self.behaviours is not None and not callable(self.behaviours):
            queue = iter(list(self.behaviours))
            self.behaviours = lambda call: next(queue, None)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.log is not None and request.method == "POST":
            self.log.arrived()
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            if self.jobs.takes(request.path):
                request._client_max_size = 2**30  # a file of requests is large
                return await self.jobs.answer(request, self.line)
            body = await request.read()
            call = Call(
                request.path,
                request.query,
                dict(request.headers) if self.record else request.headers,
                body,
                time.monotonic(),
                self.answered,
            )
            self.arrived += 1
            if self.record:
                (self.preflights if PREFLIGHT.encode() in body else self.calls).append(call)
            if request.method == "GET":
                return web.json_response({"object": "list", "data": [{"id": "loopback", "object": "model"}]})
            due = call.time + self.latency
            if self.latency and b"[[loopback:" in body:  # what streams its answer must not start too early
                await asyncio.sleep(due - time.monotonic())
            while self.arrived < self.together:  # noqa: ASYNC110 - requests arrive one by one
                await asyncio.sleep(0.005)
            response = await self.answer(request, call)
            if (early := due - time.monotonic()) > 0:
                await asyncio.sleep(early)
            self.answered += 1
            if self.cache is not None and response.status == 200 and PREFLIGHT.encode() not in body:
                self.cache.fill(call.protocol, call.json)
            if self.log is not None:
                await self.log.held()
                self.log.answered(f"{hashlib.sha256(body).hexdigest()} {self.answered} {response.status}")
            return response
        finally:
            self.in_flight -= 1

    def line(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The answer to one call of a batch job, which is answered after the one before it."""
        call = Call(path, {}, {}, json.dumps(body).encode(), time.monotonic(), self.answered)
        self.calls.append(call)
        if rejected := self.rejected(call):
            return 400, _error_body(call, 400, rejected)
        word, _, argument = self.behaviour(call).partition(":")
        if word.isdigit():
            message = (word == "400" and argument) or f"Status {word} on purpose."
            return int(word), _error_body(call, int(word), message)
        self.answered += 1
        answer = self.counted_by_cache(call, self.compose(call, word, argument))
        if self.cache is not None:
            self.cache.fill(call.protocol, call.json)
        return 200, _envelope(call, answer)

    def counted_by_cache(self, call: Call, answer: _Answer) -> _Answer:
        if self.cache is None or PREFLIGHT.encode() in call.body:
            return answer
        tokens_in, cached, written = self.cache.served(call.protocol, call.json)
        return replace(answer, tokens_in=tokens_in, tokens_cached=cached, tokens_written=written)

    def behaviour(self, call: Call) -> str:
        if PREFLIGHT.encode() in call.body:
            return self.preflight
        if callable(self.behaviours) and (word := self.behaviours(call)) is not None:
            return word
        if b"[[loopback:" in call.body and (marker := MARKER.search(call.prompt)):
            word, times = marker[1], marker[2]
            if times is None:
                return word
            key = hashlib.sha256(call.body).digest()
            self._seen[key] += 1
            return word if self._seen[key] <= int(times) else "ok"
        return "ok"

    async def answer(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        if self.api_key is not None and self.api_key not in self.keys(call):
            return _error(call, 401, "Incorrect API key provided.")
        if self.most_in_flight is not None and self.in_flight > self.most_in_flight:
            return _error(call, 429, "Too many requests.")
        try:
            call.json  # noqa: B018
        except ValueError:
            return _error(call, 400, "The request body is not JSON.")
        if call.path.endswith(("/tokenize", "/apply-template")):
            return self.counted(call)
        if self.rejects and (rejected := self.rejected(call)):
            return _error(call, 400, rejected)
        word, _, argument = self.behaviour(call).partition(":")
        if word == "reset":
            return self.reset(request, call)
        if word in ("slow", "endless", "cut-body"):
            return await self.trickle(request, call, word, float(argument or 2))
        if word == "latency":
            await asyncio.sleep(float(argument))
        if word == "redirect":
            return web.Response(status=307, headers={"Location": argument})
        if word == "context":
            message = (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000."
            )
            return _error(call, 400, argument or message)
        if word.isdigit():
            headers = {"Retry-After": argument} if word in ("429", "503") and argument else None
            return _error(
                call, int(word), (word == "400" and argument) or f"Status {word} on purpose.", headers
            )
        if word == "raw":
            said, _, text = argument.partition(" ")
            status, _, kind = said.partition("/")
            kind = kind or "application/json"
            return web.Response(status=int(status), body=text.encode(), headers={"Content-Type": kind})
        if word == "html":
            return web.Response(
                text="<html><body>Please log in to the hospital Wi-Fi.</body></html>",
                content_type="text/html",
            )
        if word == "not-json":
            return web.Response(body=b'{"hello": "world"}', content_type="application/json")
        composed = self.counted_by_cache(call, self.compose(call, word, argument))
        payload = json.dumps(_envelope(call, composed)).encode()
        if word == "truncated-json":
            payload = payload[: len(payload) // 2]
        return web.Response(body=payload, content_type="application/json")

    def compose(self, call: Call, word: str, argument: str) -> _Answer:
        if word == "refusal":
            return _Answer(RED_TAPE, "refusal")
        if word == "empty":
            return _Answer("")
        if word == "wrong-schema":
            return _Answer('{"rating": 3}')
        if word == "dear":
            return _Answer(argument, dear=True)
        if word == "ok" and argument:
            return _Answer(argument, tokens_cached=self.tokens_cached)
        schema = call.schema
        if schema is None:
            text = "ok"
        else:
            asked = TOKEN.sub("", call.prompt).encode("utf-8", "surrogatepass")
            seed = hashlib.blake2b(asked, digest_size=32).digest()
            text = json.dumps(conforming(schema, seed, off_scale=word == "out-of-range"))
        if word in ("cut-content", "length"):
            return _Answer(text[: len(text) // 2], "length" if word == "length" else "stop")
        if word == "fenced":
            text = f"Here is my rating:\n```json\n{text}\n```"
        if word == "think":
            text = f"<think>\nThe note {{says}} much.\n</think>\n{text}"
        name = argument if word == "model" else None
        return _Answer(text, tokens_cached=self.tokens_cached, model=name)

    def keys(self, call: Call) -> set[str]:
        headers = {name.lower(): value for name, value in call.headers.items()}
        keys = {headers.get(name, "") for name in ("api-key", "x-api-key", "x-goog-api-key")}
        return keys | {headers.get("authorization", "").removeprefix("Bearer ")}

    def rejected(self, call: Call) -> str | None:
        body = call.json
        shape = (body.get("response_format") or {}).get("type")
        if shape and ("response_format" in self.rejects or shape in self.rejects):
            return f"'response_format' of type '{shape}' is not supported with this model."
        for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
            if name in body and name in self.rejects:
                return f"Unsupported parameter: '{name}' is not supported. Use '{other}' instead."
        for name in ("temperature", "seed"):
            if name in body and name in self.rejects:
                return f"Unsupported value: '{name}' does not support {body[name]} with this model."
        return None

    def counted(self, call: Call) -> web.Response:
        """vLLM's and llama.cpp's ways of counting; here every word is a token, and every message two more."""
        if "tokenize" in self.rejects:
            return _error(call, 404, "Not found.")
        body = call.json
        if call.path.endswith("/apply-template"):
            return web.json_response(
                {"prompt": " ".join(f"s {each['content']} e" for each in body["messages"])}
            )
        if "messages" in body:
            count = sum(2 + len(each["content"].split()) for each in body["messages"])
            return web.json_response({"count": count, "max_model_len": 4096, "tokens": [1] * count})
        return web.json_response({"tokens": [1] * len(body["content"].split())})

    def reset(self, request: web.BaseRequest, call: Call) -> web.Response:
        transport = request.transport
        if transport is not None:
            raw: socket.socket = transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        return _error(call, 500, "reset")

    async def trickle(
        self, request: web.BaseRequest, call: Call, word: str, seconds: float
    ) -> web.StreamResponse:
        payload = json.dumps(_envelope(call, self.compose(call, "ok", ""))).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if word != "endless":
            response.content_length = len(payload)
        await response.prepare(request)
        try:
            if word == "endless":
                for _ in range(ENDLESS_LIMIT // 65536):
                    await response.write(b" " * 65536)
            elif word == "cut-body":
                await response.write(payload[: len(payload) // 2])
                if request.transport is not None:
                    request.transport.close()
            else:
                for start in range(0, len(payload), max(1, len(payload) // 20)):
                    await response.write(payload[start : start + max(1, len(payload) // 20)])
                    await asyncio.sleep(seconds / 20)
        except ConnectionError:
            pass  # the client had enough
        return response


async def _start(endpoint: Endpoint, port: int) -> tuple[web.ServerRunner, str]:
    runner = web.ServerRunner(web.Server(endpoint.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


class LoopbackServer:
    """The endpoint in a thread of this process, for as long as the `with` block lasts.

    `url` is the address without a path; OpenAI clients want `server.base_url` (`url` + "/v1").
    """

    def __init__(self, behaviours: Behaviours = None, *, port: int = 0, **options: Any) -> None:
        self.endpoint = Endpoint(behaviours, **options)
        self.url = ""
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="loopback")

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def calls(self) -> list[Call]:
        return self.endpoint.calls

    @property
    def preflights(self) -> list[Call]:
        return self.endpoint.preflights

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(_start(self.endpoint, self._port), self._loop)
        self._runner, self.url = starting.result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        await self._runner.cleanup()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


async def _serve(options: argparse.Namespace) -> None:
    log = Log(options.log) if options.log else None
    endpoint = Endpoint(
        options.behaviour,
        latency=options.latency,
        rejects=tuple(options.reject),
        api_key=options.api_key,
        most_in_flight=options.most_in_flight,
        tokens_cached=options.tokens_cached,
        record=False,
        log=log,
    )
    runner, url = await _start(endpoint, options.port)
    print(url, flush=True)
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await stop.wait()
    await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.loopback", description="A loopback model endpoint."
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--log", help="append one line per answered request to this file")
    parser.add_argument("--behaviour", help="one behaviour for every request")
    parser.add_argument("--reject", action="append", default=[], help="a parameter to answer with 400")
    parser.add_argument("--api-key", help="the only key that is let in")
    parser.add_argument("--most-in-flight", type=int, help="answer 429 above this load")
    parser.add_argument("--tokens-cached", type=int, default=0)
    options = parser.parse_args()
    try:
        import uvloop
    except ImportError:
        asyncio.run(_serve(options))
    else:
        uvloop.run(_serve(options))


if __name__ == "__main__":
    main()
