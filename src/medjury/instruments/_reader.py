"""Reads the one JSON object that a reply is, or that carries the question's token. No rule looks at words.

A judge may quote the text that it judges, and the author of that text may want a good grade. So a reply is read
in one of two cases: it is one object and nothing else; or exactly one of its objects carries the token, which no
author can know, and nothing follows that object. Everything else is refused, and handed back to the judge.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, NoReturn

from medjury.instruments._outcome import Reason

VERDICT = "verdict"  # the key that carries the token
LONGEST_REPLY = 2**20  # characters
# How a vendor's model marks its reasoning: what opens a reply, and what closes the block. A mark that is not here
# is text like any other. So is a block without its opening mark: then the object needs the token.
REASONING = (
    ("<think>", "</think>"),  # DeepSeek, Qwen, GLM, Nemotron
    ("<think ", "</think>"),  # the same with attributes
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),  # Seed
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),  # harmony
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
)
_SEPARATORS = re.compile(r"[\s_-]+")
_FENCE = "```"
_LANGUAGES = frozenset({"", "json", "jsonc", "json5"})  # that a fence may name
_MOST_OBJECTS, _MOST_BROKEN = 1_000, 100  # beside each other in a reply, and braces that open none
_MOST_AGAIN = 2  # how often a reply is looked through at most, for objects that do not end

Way = Literal["object", "token", "text"]  # "text": nothing was to be read out of it


class AnswerError(ValueError):
    """The reply holds no usable answer. The message states why and quotes nothing of the reply."""

    def __init__(self, message: str, reason: Reason = Reason.PARSE) -> None:
        super().__init__(message)
        self.reason = reason


class Found(NamedTuple):
    """The object of a reply, without its token, and by which of the two cases it was read."""

    value: dict[str, Any]
    way: Way


def read_reply(reply: str, token: str = "") -> Found:
    """The object that the judge gave as its answer. Without a `token` only a reply that is one object is read.

    >>> read_reply('{"accuracy": 4}').value
    {'accuracy': 4}
    >>> read_reply('The text claims {"accuracy": 5}. {"accuracy": 2, "verdict": "7f3a"}', "7f3a")
    Found(value={'accuracy': 2}, way='token')
    """
    text = _bounded(reply)
    body = _body(text)
    value, why = _whole(body)
    if isinstance(value, dict):
        if token and any(
            key.strip().casefold() == VERDICT and (key, each) != (VERDICT, token)
            for key, each in value.items()
        ):
            raise AnswerError(f'its "{VERDICT}" is not the one that the question shows')
        return Found(_without_token(value, token), "object")
    if token and token in text:
        return Found(_without_token(_carrying(text, token), token), "token")
    if value is not None:
        raise AnswerError("it is not a JSON object")
    if "{" not in text:
        raise AnswerError("the answer holds no JSON object")
    if _unended(text):
        raise AnswerError("the reasoning never ends, so there is no answer after it")
    beside = f'; an object beside other text needs the "{VERDICT}" that the question shows' if token else ""
    raise AnswerError(f"it is not one JSON object and nothing else ({why}){beside}")


def extract_json(text: str) -> object:
    """The JSON object, or array, that the whole text is: for answers to somebody else's question."""
    value, why = _whole(_body(_bounded(text)))
    if value is None:
        raise AnswerError(f"it is not one JSON object and nothing else ({why})")
    return value


def needs_token(reply: str, token: str) -> bool:
    """Whether a reply can be read as it was only by who knows the token of its question."""
    if not token:
        return False
    value, _ = _whole(_body(reply)) if len(reply) <= LONGEST_REPLY else (None, "")
    return token in reply or (isinstance(value, dict) and VERDICT in value)


def has_unasked_text(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a text is under a key that the schema does not have. A judge that copies a text without escaping its
    quotes lets that text write JSON: to grade, it must end the judge's string, and open another for the rest."""
    if isinstance(value, list):
        inner = schema.get("items", {})
        return any(has_unasked_text(each, inner) for each in value)
    if not isinstance(value, dict) or "properties" not in schema:
        return False
    asked = {same_key(key): each for key, each in schema["properties"].items()}
    for key, each in value.items():
        inner = asked.get(same_key(key))
        if inner is None:
            if _has_text(each):
                return True
        elif isinstance(each, dict | list) and has_unasked_text(each, inner):
            return True
    return False


@lru_cache(maxsize=4096)
def same_key(key: str) -> str:
    """A key as it is compared: whatever its case and separators."""
    return _SEPARATORS.sub("_", key.strip().casefold())


def _has_text(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, str) or any(map(_has_text, inner))


def _bounded(reply: str) -> str:
    if len(reply) > LONGEST_REPLY:
        raise AnswerError(f"it has more than {LONGEST_REPLY:,} characters", Reason.TRUNCATED)
    return reply.lstrip("\ufeff").strip()


def _body(text: str) -> str:
    """What a reply consists of behind a block of reasoning that is closed; all of it where there is none."""
    ends = [
        (end, end + len(closing))
        for opening, closing in REASONING
        if text.startswith(opening)
        and (end := text.find(closing, len(opening))) >= 0
        and opening not in text[len(opening) : end]  # a block in a block: the outer one has no end yet
    ]
    return text[min(ends)[1] :].lstrip() if ends else text


def _whole(body: str) -> tuple[object, str]:
    """The object or array that a text is, bare or in one fence; else None and why not."""
    if body.startswith(_FENCE) and body.endswith(_FENCE) and len(body) > 2 * len(_FENCE):
        inside = body[len(_FENCE) : -len(_FENCE)]
        start = min((at for at in (inside.find("{"), inside.find("[")) if at >= 0), default=0)
        if inside[:start].strip().lower() in _LANGUAGES:
            body = inside[start:].rstrip()
    if not body.startswith(("{", "[")):
        return None, "it begins with other text"
    if '"' not in body:  # a word processor's quotes
        body = body.replace("“", '"').replace("”", '"')
    try:
        value, end = _JSON.raw_decode(body)
    except json.JSONDecodeError as error:
        return None, f"the JSON is broken: {error.msg.lower()}"
    except RecursionError:
        return None, "the JSON is nested too deeply"
    except ValueError as error:
        return None, str(error)
    return (value, "") if end == len(body) else (None, "other text follows it")


def _carrying(text: str, token: str) -> dict[str, Any]:
    """The one object that carries the token, if it is the last thing in the text."""
    at, objects, broken, again, last, last_end, nested = 0, 0, 0, 0, 0, 0, False
    carrying: list[dict[str, Any]] = []
    outside: list[str] = []  # the text before and between the whole objects
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = _JSON.raw_decode(text, at)
        except json.JSONDecodeError as error:
            broken, again, at = broken + 1, again + error.pos - at, at + 1
            if broken > _MOST_BROKEN or again > _MOST_AGAIN * len(text):
                raise AnswerError("it holds too many braces that open no JSON object") from None
        except RecursionError:
            raise AnswerError("the JSON is nested too deeply") from None
        except ValueError as error:
            raise AnswerError(str(error)) from None
        else:
            outside.append(text[last_end:at])
            held = token in text[at:end]
            last_end, at, objects = end, end, objects + 1
            if objects > _MOST_OBJECTS:
                raise AnswerError("it holds too many JSON objects; give one")
            if value.get(VERDICT) == token:
                carrying.append(value)
                last = end
            else:
                nested = nested or held
    if not carrying:
        raise AnswerError(f'no whole JSON object in it has the "{VERDICT}" that the question shows')
    if len(carrying) > 1:
        raise AnswerError(f'{len(carrying)} objects have the "{VERDICT}" that the question shows; give one')
    before = "".join(outside)
    if _unended(before):
        raise AnswerError("the reasoning never ends, so there is no answer after it")
    if nested or (broken and token in before) or _opens(before):
        raise AnswerError(
            f'the "{VERDICT}" is also in another object, or its object is inside one that is broken'
        )
    if text[last:].strip() not in ("", _FENCE):
        raise AnswerError(f'other text follows the object with the "{VERDICT}" that the question shows')
    return carrying[0]


def _unended(text: str) -> bool:
    """Whether the last block of reasoning of some kind has no end, whatever the case of its marks."""
    text = text.lower()
    return any(
        text.rfind(opening.lower())
        > max(text.rfind(closing.lower()) for each, closing in REASONING if each == opening)
        for opening, _ in REASONING
    )


def _opens(text: str) -> bool:
    """Whether a text has a brace that it does not close."""
    return text.count("{") > text.count("}") or text.rfind("{") > text.rfind("}")


def _without_token(value: dict[str, Any], token: str) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key != VERDICT} if token else value


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not grades")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _integer(text: str) -> int:
    if len(text) > 300:
        raise ValueError("a number is too large")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: to take the last would decide between two answers by chance."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


_JSON = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_unique,
    parse_constant=_refuse_constant,
    parse_float=_finite,
    parse_int=_integer,
)
