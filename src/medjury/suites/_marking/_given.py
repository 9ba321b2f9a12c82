"""The forms in which a model hands over its answer: a JSON field, a box, an answer tag, double brackets."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_STYLE = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|rm|bf)\s*\{([^{}]*)\}")
_TAG = re.compile(
    r"<\s*(final_answer|final|answer|choice|solution)\s*>(.*?)<\s*/\s*\1\s*>", re.IGNORECASE | re.DOTALL
)
_BRACKETS = re.compile(r"\[\[\s*([^\[\]]{1,80}?)\s*\]\]")
_MOST_OBJECTS = 300  # braces at which an object is looked for
_KEYS = (
    "finalanswer", "answer", "correctanswer", "answerchoice", "correctoption", "choice", "option", "selectedoption",
    "selectedanswer", "selected", "letter", "result", "label", "prediction", "response", "decision", "final",
)  # fmt: skip


class Given(NamedTuple):
    """What was handed over and where, so that words behind it can be held against it."""

    start: int
    end: int
    value: str


def given_forms(text: str) -> tuple[Given, ...]:
    """Every answer that the text hands over in a form made for it, in their order."""
    found = [*_objects(text), *_boxes(text)]
    found += [Given(each.start(), each.end(), each.group(2).strip()) for each in _TAG.finditer(text)]
    found += [Given(each.start(), each.end(), each.group(1)) for each in _BRACKETS.finditer(text)]
    return tuple(sorted(found))


def _objects(text: str) -> Iterator[Given]:
    decoder, at, left = json.JSONDecoder(), 0, _MOST_OBJECTS
    while left and (start := text.find("{", at)) >= 0:
        left -= 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _loose_object(text, start)
        answer = _answer_of(value)
        if answer is not None:
            yield Given(start, end, answer)
        at = end


def _loose_object(text: str, start: int) -> tuple[object, int]:
    """An object without inner ones in single quotes, as Python prints it; none otherwise."""
    found = re.compile(r"\{[^{}]{1,4000}\}").match(text, start)
    try:
        return (ast.literal_eval(found.group()), found.end()) if found else (None, start + 1)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None, start + 1


def _answer_of(value: object) -> str | None:
    """The field that holds the answer, by the first of the usual names that is there."""
    if not isinstance(value, dict):
        return None
    fields = {re.sub(r"[^a-z]", "", str(name).lower()): each for name, each in value.items()}
    for name in _KEYS:
        if name in fields:
            return _as_text(fields[name])
    return None


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return _answer_of(value) or ""
    if isinstance(value, list):
        return " and ".join(_as_text(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).strip()


def _boxes(text: str) -> Iterator[Given]:
    for opening in _BOX.finditer(text):
        depth, at = 1, opening.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if not depth:
            inner = text[opening.end() : at - 1]
            while _STYLE.search(inner):
                inner = _STYLE.sub(r"\1", inner)
            yield Given(opening.start(), at, inner.strip())
