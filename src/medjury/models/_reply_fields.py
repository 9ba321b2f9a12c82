"""What a successful answer tells, whatever form its parts have: only the verdict counts, the rest is decoration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import ModelError, Request
from medjury.models._echo import prompt_of
from medjury.models._faults import LostReplyError, Place, error_words, fault, wrong_content

# Names that endpoints and models put around an answer that was asked for without them.
_WRAPPINGS = frozenset({
    "answer", "arguments", "assessment", "body", "completion", "data", "evaluation", "grades", "json", "output",
    "parameters", "properties", "rating", "ratings", "response", "result", "results", "scores", "verdict",
})  # fmt: skip
_ANSWERS = {"choices", "content", "candidates", "error", "promptFeedback"}
_FIRST_KEY = re.compile(r'\s*\{\s*"([^"\\]*)"')
_PASSING = (
    "overload", "rate limit", "rate_limit", "too many requests", "timeout", "timed out", "temporarily",
    "try again", "unavailable", "internal",
)  # fmt: skip


def loaded(payload: bytes | str, place: Place, content_type: str = "application/json") -> dict[str, Any]:
    """The object in the body of a success, whatever the body calls itself; an object around it is taken off."""
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        if "json" not in content_type:
            raise wrong_content(place, content_type) from None
        raise LostReplyError(
            Reason.PROVIDER, f"the answer of {place.host} is cut off or not JSON", retry=True
        ) from None
    body = fields(body)
    if not _ANSWERS & body.keys():
        return next(
            (body[name] for name in body if name in _WRAPPINGS and isinstance(body[name], dict)), body
        )
    return body


def fields(value: Any) -> dict[str, Any]:
    """A table as it is; anything else where a table was due has nothing to tell."""
    return value if isinstance(value, dict) else {}


def text_of(content: Any) -> str | None:
    """The text of a message: as it is, in parts, or as the object itself; None where there is none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        if isinstance(content.get("text"), str) and content.get("type") in (None, "text", "output_text"):
            return str(content["text"])
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, list):
        return "".join(_part(each) for each in content)
    return None


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if (
        not isinstance(part, dict)
        or part.get("type") not in (None, "text", "output_text")
        or part.get("thought")
    ):
        return ""
    text = part.get("text")
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else ""


def handed_over(arguments: Iterable[Any]) -> str:
    """What calls of tools hand over: the verdict, where a model gives it as a tool's arguments. Of several calls
    all: which of two verdicts was meant is for the reader of the answer to refuse."""
    texts = (
        each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for each in arguments
        if each and isinstance(each, str | dict)
    )
    return "\n".join(texts)


def unwrapped(text: str, request: Request) -> str:
    """The answer without one object around it, where the schema was followed inside. Only names that say nothing
    but "answer" are taken off: what is below any other may be a quotation."""
    schema = request.schema
    asked = schema.get("properties") if isinstance(schema, Mapping) else None
    first = _FIRST_KEY.match(text)
    if not asked or first is None or first[1] in asked or first[1].lower() not in _WRAPPINGS:
        return text
    try:
        outer = json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return text
    inner = outer.get(first[1]) if isinstance(outer, dict) and len(outer) == 1 else None
    if not isinstance(inner, dict) or not inner or not set(inner) <= set(asked):
        return text
    return json.dumps(inner, ensure_ascii=False)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that appears twice is two answers; taking the last would choose between them."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def require_no_error(body: Mapping[str, Any], place: Place, request: Request) -> None:
    """A success that carries an error is none, whatever else it carries. It is reported in its own words, and asked
    again where that may pass."""
    error = body.get("error")
    words = error_words(json.dumps({"error": error}).encode()) if error else ""
    if not words:
        return
    code = fields(error).get("code")
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    if 400 <= status < 600:
        raise fault(place, status, words, prompt_of(request), inside=200)
    lowered = words.lower()
    passing = any(each in lowered for each in _PASSING)
    found = fault(place, 500 if passing else 400, words, prompt_of(request), inside=200)
    crowded = "rate" in lowered or "overload" in lowered or "too many" in lowered
    if passing and crowded:
        found = ModelError(Reason.RATE_LIMIT, found.message, retry=True)
    raise found
