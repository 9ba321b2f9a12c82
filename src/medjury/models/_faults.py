"""What an endpoint's failure means: its reason, whether asking again may help, and what the reader can do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import ModelError

_CONTEXT_WORDS = (
    "context length", "context_length", "context window", "too many tokens", "prompt is too long",
    "maximum context", "exceeds the available context", "input token count", "string_above_max", "context limit",
    "max_new_tokens` must be",
)  # fmt: skip
_FILTER_WORDS = ("content_filter", "content management policy", "responsibleaipolicy", "content policy")
_KEY_WORDS = ("api key", "api_key", "permission", "unauthenticated", "unsupported_country")
_EMPTY_WORDS = ("insufficient_quota", "credit balance")
_QUOTA_WORDS = (*_EMPTY_WORDS, "billing", "payment")
_LONGEST_QUOTE = 200
_ECHO = 13  # this many letters and digits in a row in common with the prompt count as an echo of it


class LostReplyError(ModelError):
    """The request was sent and no whole answer came back: it may have been paid for all the same."""


class NotSentError(ModelError):
    """No connection came about: nothing has left this machine, and nothing can have been paid for."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call went, in words for the reader. Never the key itself, only the variable's name."""

    host: str
    model: str
    key_variable: str | None = None


def fault(
    place: Place, status: int, words: str, prompt: Iterable[str], retry_after: float | None = None
) -> ModelError:
    """The error for an HTTP status. The endpoint's words decide what it means, and are shown to the reader
    unless they repeat the prompt."""
    lowered = words.lower()
    words = without_echo(words, prompt).rstrip(".")
    said = f"{place.host} answered {status}" + (f": {words}" if words else "")
    if status == 401 or (status in (400, 402, 403) and any(each in lowered for each in _KEY_WORDS)):
        return ModelError(Reason.PROVIDER, f"{said}. {_key_advice(place)}", fatal=True)
    if _no_quota(status, lowered, retry_after):
        advice = "The account has no quota left; fix that, then run again: nothing answered is lost"
        return ModelError(Reason.PROVIDER, f"{said}. {advice}", fatal=True)
    if status == 404:
        advice = f"Check the url (it usually ends in /v1) and the model's name, {place.model!r}"
        return ModelError(Reason.PROVIDER, f"{said}. {advice}", fatal=True)
    if status == 429:
        return ModelError(Reason.RATE_LIMIT, said, retry=True, retry_after=retry_after)
    if status == 529 or (status == 503 and (retry_after is not None or "overload" in lowered)):
        return ModelError(Reason.RATE_LIMIT, said, retry=True, retry_after=retry_after)
    if status in (408, 504):
        return LostReplyError(Reason.TIMEOUT, said, retry=True, retry_after=retry_after)
    if status >= 500 or status in (409, 425):
        return ModelError(Reason.PROVIDER, said, retry=True, retry_after=retry_after)
    if status == 413 or any(each in lowered for each in _CONTEXT_WORDS):
        return ModelError(Reason.CONTEXT, f"the prompt does not fit the model: {said}")
    if any(each in lowered for each in _FILTER_WORDS):
        return ModelError(Reason.REFUSAL, f"the endpoint's filter refused the prompt: {said}")
    return ModelError(Reason.PROVIDER, said)


def _no_quota(status: int, lowered: str, retry_after: float | None) -> bool:
    """Whether the account is empty. A 429 often names billing while it only asks for patience, and one that
    says how long to wait always does."""
    if status == 429:
        return retry_after is None and any(each in lowered for each in _EMPTY_WORDS)
    return status == 402 or (status in (400, 403) and any(each in lowered for each in _QUOTA_WORDS))


def wrong_content(place: Place, content_type: str) -> ModelError:
    advice = "is the url right? (it usually ends in /v1)"
    return ModelError(Reason.PROVIDER, f"{place.host} answered with {content_type}, not JSON; {advice}")


def _key_advice(place: Place) -> str:
    if place.key_variable is None:
        return "No key was sent: put it in an environment variable and name that in api_key_env"
    return f"Check the key in the environment variable {place.key_variable}, then run again: nothing is lost"


def error_words(body: bytes) -> str:
    """What the endpoint says went wrong. It may repeat the prompt: not for logs."""
    try:
        loaded: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = loaded.get("error", loaded) if isinstance(loaded, dict) else loaded
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("code", "type", "status", "message", "detail")]
        inner = error.get("innererror")
        if isinstance(inner, dict):
            parts.append(inner.get("code"))
        return " ".join(str(part) for part in parts if isinstance(part, str | int) and part != "")
    return error if isinstance(error, str) else ""


def error_parameter(body: bytes) -> str:
    """The parameter that the endpoint says the error is about, where it names one."""
    try:
        loaded: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = loaded.get("error", loaded) if isinstance(loaded, dict) else None
    named = error.get("param") if isinstance(error, dict) else None
    return named if isinstance(named, str) else ""


def without_echo(words: str, prompt: Iterable[str]) -> str:
    """The words on one line; nothing of them where they repeat the prompt, which may be clinical text."""
    words = " ".join(words.split())[:_LONGEST_QUOTE]
    said, texts = _letters(words), [_letters(text) for text in prompt]
    pieces = {said[start : start + _ECHO] for start in range(len(said) - _ECHO + 1)}
    if any(piece in text for piece in pieces for text in texts):
        return "(its words are left out: they repeat the prompt)"
    return words


def _letters(text: str) -> str:
    """The text's letters and digits alone: an echo may differ in case, spaces, quotes or escapes."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def retry_after_seconds(header: str | None, now: datetime | None = None) -> float | None:
    """The wait that a Retry-After header asks for, given in seconds or as an HTTP date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            when = parsedate_to_datetime(header)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None
