"""JSON as models write it: trailing commas, single or typographic quotes, Python's True, False and None.

Every repair here has one reading only. Where two are possible the text is refused, because asking the model
again costs less than a wrong score: a repeated key, NaN, Infinity, an unquoted key, an unescaped quote.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 64

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?(?![\w.])")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
}  # fmt: skip
_STRINGS = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
    # A closing apostrophe is one after which JSON goes on; the one in "patient's" is not.
    "'": re.compile(r"'((?:[^'\\]|\\.|'(?!\s*[,:}\]]))*)'(?=\s*[,:}\]])", re.DOTALL),
    "“": re.compile(r"“([^“”]*)”"),
    "‘": re.compile(r"‘([^‘]*?)’(?=\s*[,:}\]])", re.DOTALL),
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}


class JsonError(ValueError):
    """The text is not JSON; `position` is where reading stopped. The message quotes nothing of the text."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def _refuse_constant(_: str) -> NoReturn:
    raise JsonError("NaN and Infinity are not grades", 0)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonError("a number is too large", 0)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: taking the last would decide between two answers by chance."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise JsonError("a key stands twice in one object", 0)
    return found


_STRICT = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
)


def decode(text: str, start: int = 0) -> tuple[object, int]:
    """The JSON value that begins at `start`, and where it ends. Strict first, then with repairs."""
    try:
        value, end = _STRICT.raw_decode(text, start)
        return value, end
    except RecursionError:
        raise JsonError("the JSON is nested too deeply", start) from None
    except JsonError:  # well-formed, and refused all the same
        raise
    except ValueError:
        return _value(text, start, 0)


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    if depth > MAX_DEPTH:
        raise JsonError("the JSON is nested too deeply", at)
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign == "{":
        return _object(text, at + 1, depth)
    if sign == "[":
        return _array(text, at + 1, depth)
    if sign and sign in _STRINGS:
        return _string(text, at)
    if number := _NUMBER.match(text, at):
        digits = number.group()
        return (int(digits) if digits.lstrip("-").isdigit() else _finite(digits)), number.end()
    if (word := _WORD.match(text, at)) and word.group() in _WORDS:
        return _WORDS[word.group()], word.end()
    raise JsonError("a value is missing or is not JSON", at)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    pairs: list[tuple[str, Any]] = []
    while True:
        at = _skip(text, at)
        if text.startswith("}", at):
            return _unique(pairs), at + 1
        if text[at : at + 1] not in _STRINGS:
            raise JsonError("an object does not end, or a key is not quoted", at)
        key, at = _string(text, at)
        at = _skip(text, at)
        if not text.startswith(":", at):
            raise JsonError("a key has no value", at)
        value, at = _value(text, at + 1, depth + 1)
        pairs.append((key, value))
        at = _separator(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[object], int]:
    values: list[object] = []
    while True:
        at = _skip(text, at)
        if text.startswith("]", at):
            return values, at + 1
        value, at = _value(text, at, depth + 1)
        values.append(value)
        at = _separator(text, at, "]")


def _separator(text: str, at: int, close: str) -> int:
    at = _skip(text, at)
    if text.startswith(",", at):
        return at + 1
    if text.startswith(close, at):
        return at
    raise JsonError("two values have no comma between them, or the text stops too early", at)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRINGS[text[at]].match(text, at)
    if found is None:
        raise JsonError("a text is not closed", at)
    return _ESCAPE.sub(_unescape, found.group(1)), found.end()


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2)
    if code:
        return chr(int(code, 16))
    sign = match.group(3)
    return _ESCAPES.get(sign, "\\" + sign)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
