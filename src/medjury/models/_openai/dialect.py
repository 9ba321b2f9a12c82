"""The dialects of chat completions: endpoints differ in what they accept, and a refusal says how.

A model starts with everything modern; whatever its endpoint answers with 400 is dropped, and remembered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from medjury.models._chat import Message, Request
from medjury.models._schema_text import schema_text
from medjury.models._wording import base64_of, with_instructions_first, without_surrogates, worded

_REFUSED = (
    "(?:unsupported|not support|n't support|only the default|not permitted|not allowed|unrecogni[sz]ed|unknown"
    "|unexpected|deprecated|extraneous|extra fields|extra inputs)(?:ed)?"
)
# "stream must be set to true", "requires stream=true", "only streaming is supported"
_STREAMS = re.compile(
    r"\bstream['\"`]?(?:\s*[:=]\s*|(?: (?:must|should|to|be|is|set))+ )true"
    r"|\bonly (?:supports? stream|streaming\b)|\bnon-?stream(?:ing|ed)?\b.{0,30}\bnot (?:support|allow)"
    r"|\bstreaming (?:is |mode )*(?:only|required|mandatory)\b"
)
_ROLE = re.compile(
    r"\b(?:system|developer)\b.{0,12}\brole\b.{0,20}not (?:support|allow)"
    r"|\brole\b.{0,60}['\"](?:system|developer)['\"]|['\"]role['\"].{0,40}developer"
)
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
Form = Literal["json_schema", "json_object", "text"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the endpoint understands. `limit` names the parameter that bounds the answer."""

    form: Form = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    limit_was_switched: bool = False
    temperature: bool = True
    seed: bool = True
    instructions: Literal["system", "developer", "user"] = "system"  # the role that brings them
    stream: bool = False

    @property
    def dropped(self) -> tuple[str, ...]:
        """What is no longer sent, because the endpoint does not take it."""
        return tuple(name for name in ("temperature", "seed") if not getattr(self, name))


def build_body(model: str, request: Request, dialect: Dialect, extra: Mapping[str, Any]) -> bytes:
    """The request as bytes. A schema the endpoint cannot be given natively is spelled out in the prompt."""
    native = request.schema is None or dialect.form == "json_schema"
    messages = worded(request, native=native)
    if dialect.instructions == "user":
        messages = with_instructions_first(messages)
    body: dict[str, Any] = {"model": model, dialect.limit: request.max_tokens}
    if dialect.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.temperature is not None and dialect.temperature:
        body["temperature"] = request.temperature
    if request.seed is not None and dialect.seed:
        body["seed"] = request.seed
    if request.schema is not None and dialect.form == "json_schema":
        body.update(extra)
        field = (
            ',"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":'
        )
        schema = f"{field}{schema_text(request.schema)}}}}}"
        return _with_messages(encode(body), messages, dialect, schema)
    if request.schema is not None and dialect.form == "json_object":
        body["response_format"] = {"type": "json_object"}
    body.update(extra)
    return _with_messages(encode(body), messages, dialect)


def _with_messages(body: bytes, messages: Sequence[Message], dialect: Dialect, more: str = "") -> bytes:
    """The body with its messages, and more fields as text."""
    instructions = dialect.instructions.encode()
    parts = [
        b'{"role":"%s","content":%s}'
        % (
            (instructions, _rubric(each.content))
            if each.role == "system"
            else (each.role.encode(), _content(each))
        )
        for each in messages
    ]
    return b'%s,"messages":[%s]%s}' % (body[:-1], b",".join(parts), more.encode())


def _content(message: Message) -> bytes:
    """The text; after its images, where there are any."""
    if not message.images:
        return encode(message.content)
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": f"data:{each.media};base64,{base64_of(each)}"}}
        for each in message.images
    ]
    return encode([*parts, {"type": "text", "text": message.content}])


@lru_cache(maxsize=64)
def _rubric(text: str) -> bytes:
    """The JSON of what is the same in every call of a judge, made once. No patient's text is kept here."""
    return encode(text)


def encode(body: Mapping[str, Any] | Sequence[Any] | str) -> bytes:
    """JSON in UTF-8; half a surrogate pair, which no endpoint could take, becomes the replacement sign."""
    try:
        return _written(body).encode()
    except UnicodeEncodeError:
        return without_surrogates(_written(body)).encode()


def refuses(said: str, parameter: str) -> bool:
    """Whether these words, in lower case, say that the parameter itself is not taken. Words that merely hold
    its name may be an echo of the prompt: a temperature of 38.2 is no refusal.

    >>> refuses("unsupported value: 'temperature' does not support 0.0", "temperature")
    True
    >>> refuses("cannot parse 'temperature 38.2 c, sputum not supported'", "temperature")
    False
    """
    quoted = rf"['\"`\[]{parameter}['\"`\]]"
    bare = rf"\b{parameter}\b(?:=\S+)?"
    return any(
        re.search(pattern, said) is not None
        for pattern in (
            rf"{_REFUSED}.{{0,30}}{quoted}",
            rf"{quoted}.{{0,30}}{_REFUSED}",
            rf"{_REFUSED}(?: (?:parameter|value|argument|field)s?)?:? {bare}(?! \d)",
            rf"{bare}:?(?: is| are| extra inputs are)? {_REFUSED}",
        )
    )


def adapt(dialect: Dialect, words: str, parameter: str = "") -> Dialect | None:
    """The next dialect to try after a 400 that said `words`, and perhaps named the `parameter` it is about;
    None where no dialect would help."""
    said = words.lower()
    about_limit = "max_tokens" in said or "max_completion_tokens" in said
    if about_limit and (
        "unsupported" in said or "not supported" in said or "extra" in said or "unrecogni" in said
    ):
        if not dialect.limit_was_switched:
            other: Any = "max_tokens" if dialect.limit == "max_completion_tokens" else "max_completion_tokens"
            return replace(dialect, limit=other, limit_was_switched=True)
        return None
    if not dialect.stream and _STREAMS.search(said):
        return replace(dialect, stream=True)
    if dialect.instructions != "user" and _ROLE.search(said):
        plainly = dialect.instructions == "developer" or not (
            "messages[0].role" in said or "developer" in said
        )
        return replace(dialect, instructions="user" if plainly else "developer")
    about_form = (
        "response_format",
        "json_schema",
        "json_object",
        "response format",
        "guided_",
        "guided decoding",
    )
    if dialect.form != "text" and any(each in said for each in about_form):
        return replace(dialect, form="json_object" if dialect.form == "json_schema" else "text")
    if dialect.temperature and (parameter == "temperature" or refuses(said, "temperature")):
        return replace(dialect, temperature=False)
    if dialect.seed and (parameter == "seed" or refuses(said, "seed")):
        return replace(dialect, seed=False)
    return None
