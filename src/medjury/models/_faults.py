"""What an endpoint's failure means: its reason, whether asking again may help, and what the reader can do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import ModelError
from medjury.models._connection import ForbiddenHostError, TooLargeError
from medjury.models._echo import without_echo

_CONTEXT_WORDS = (
    "context length", "context_length", "context window", "too many tokens", "prompt is too long",
    "maximum context", "exceeds the available context", "input token count", "string_above_max", "context limit",
    "max_new_tokens` must be",
)  # fmt: skip
_RESPONSES_WORDS = ("v1/responses", "responses api", "responses endpoint")
_FILTER_WORDS = ("content_filter", "content management policy", "responsibleaipolicy", "content policy")
_KEY_WORDS = ("api key", "api_key", "permission", "unauthenticated", "unsupported_country")
_EMPTY_WORDS = ("insufficient_quota", "credit balance")
_QUOTA_WORDS = (*_EMPTY_WORDS, "billing", "payment")
_FLAGGED_WORDS = ("flagged", "moderation")
_BEFORE_HOST = re.compile(r"//[^/]*@")
_MOST_WORDS = 2000  # of an answer that is not JSON


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
    place: Place,
    status: int,
    words: str,
    prompt: Iterable[str],
    retry_after: float | None = None,
    *,
    inside: int | None = None,
) -> ModelError:
    """The error for an HTTP status. The endpoint's words decide what it means, and are shown to the reader
    but for what they repeat of the prompt. `inside` is the status of a success that carried the error."""
    lowered = words.lower()
    words = without_echo(words, prompt).rstrip(".")
    said = f"{place.host} answered {status if inside is None else f'{inside} with an error'}"
    said += f": {words}" if words else ""
    if any(each in lowered for each in _RESPONSES_WORDS):
        return ModelError(Reason.PROVIDER, f"{said}. {_responses_advice(place)}", fatal=True)
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
    if any(each in lowered for each in (*_FILTER_WORDS, *_FLAGGED_WORDS)):
        return ModelError(Reason.REFUSAL, f"the endpoint's filter refused the prompt: {said}")
    if status == 403:
        advice = (
            "It refuses every call: check the rights of the key, and whether a firewall or gateway blocks it"
        )
        return ModelError(Reason.PROVIDER, f"{said}. {advice}", fatal=True)
    return ModelError(Reason.PROVIDER, said)


def _no_quota(status: int, lowered: str, retry_after: float | None) -> bool:
    """Whether the account is empty. A 429 often names billing while it only asks for patience, and one that
    says how long to wait always does."""
    if status == 429:
        return retry_after is None and any(each in lowered for each in _EMPTY_WORDS)
    return status == 402 or (status in (400, 403) and any(each in lowered for each in _QUOTA_WORDS))


_NO_CONNECTION = ("ConnectError", "ClientConnectorError", "ConnectionRefusedError")


def connection_fault(place: Place, error: BaseException) -> ModelError:
    """The fault of a call that broke without a status, whatever a package wrapped its cause in."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    for each in chain:
        if isinstance(each, ForbiddenHostError):
            return NotSentError(Reason.PROVIDER, str(each), fatal=True)
        if isinstance(each, TooLargeError):
            return LostReplyError(Reason.PROVIDER, f"the answer of {place.host} is too large: {each}")
    if any(kind.__name__ in _NO_CONNECTION for each in chain for kind in type(each).__mro__):
        message = f"no connection to {place.host}: is the endpoint running?"
        return NotSentError(Reason.PROVIDER, message, retry=True)
    message = f"the connection to {place.host} broke, the answer is lost"
    return LostReplyError(Reason.PROVIDER, message, retry=True)


def redirect_fault(place: Place, location: str | None) -> ModelError:
    """An answer that leads elsewhere. Of the address neither a password nor its query is shown."""
    shown = _BEFORE_HOST.sub("//", re.split("[?#]", location or "")[0], count=1)
    where = without_echo(shown, ()) or "another address"
    return ModelError(
        Reason.PROVIDER,
        f"{place.host} redirects to {where}. Redirects are not followed: if that is the right address, put it "
        "in url and its host in allow_hosts",
        fatal=True,
    )


def wrong_content(place: Place, content_type: str) -> ModelError:
    advice = "is the url right? (it usually ends in /v1)"
    return ModelError(Reason.PROVIDER, f"{place.host} answered with {content_type}, not JSON; {advice}")


def _responses_advice(place: Place) -> str:
    return (
        f"{place.model!r} is not offered as chat completions, by which a judge is asked: choose another model, or "
        "a gateway that offers this one as chat completions"
    )


def _key_advice(place: Place) -> str:
    if place.key_variable is None:
        return "No key was sent: put it in an environment variable and name that in api_key_env"
    return f"Check the key in the environment variable {place.key_variable}, then run again: nothing is lost"


def error_words(body: bytes) -> str:
    """What the endpoint says went wrong. It may repeat the prompt: not for logs."""
    try:
        loaded: Any = json.loads(body)
    except RecursionError:
        return ""
    except ValueError:  # some say it in plain text; a page of a proxy says nothing
        plain = body[:_MOST_WORDS].decode("utf-8", "replace").strip()
        return "" if plain[:1] in ("<", "[", "{") else plain
    error = loaded.get("error", loaded) if isinstance(loaded, dict) else loaded
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("code", "type", "error_type", "status", "message")]
        detail = error.get("detail")
        parts.append(json.dumps(detail) if isinstance(detail, list | dict) else detail)
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


def missing_package(name: str, extra: str) -> MedjuryError:
    return MedjuryError(f"model {name}: this kind needs another package: pip install 'medjury[{extra}]'")
