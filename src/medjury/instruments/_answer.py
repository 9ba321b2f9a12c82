"""Reads a rater's answer against the instrument: strictly, dimension by dimension, never guessing a score."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from medjury.cases import clean_text
from medjury.instruments._instrument import Dimension, Instrument
from medjury.instruments._lenient import JsonError, decode
from medjury.instruments._outcome import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.instruments._skip import apply_skips

_THOUGHTS = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_START = re.compile(r"\{(?=\s*[\"'“‘}])")
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_INTEGER = re.compile(r"\s*-?[0-9]{1,9}\s*")
_NOT_APPLICABLE = {"na", "n/a", "not applicable", "null", "none"}
_MOST_OBJECTS = 100
_SEPARATORS = re.compile(r"[\s_-]+")


class AnswerError(ValueError):
    """The answer holds no usable JSON. The message says why and quotes nothing of the answer."""


def extract_json(text: str, expected: Collection[str] = ()) -> object:
    """The JSON object (or, where the whole text is one, the array) that the answer means.

    Reasoning in `<think>` tags is set aside; fences and prose around the object are ignored. Of several
    objects those with an `expected` key count, where any has one. If these differ the answer is refused:
    which was meant is not ours to decide, and one of them may be a text under judgement speaking. What stands
    inside a broken object never counts.
    """
    text = text.lstrip("\ufeff")
    for body in (text, _without_thoughts(text)):
        try:
            return _whole(body)
        except JsonError:
            continue
    found = list(_objects(body))
    values = [each for each in found if isinstance(each, dict)]
    broken = [each for each in found if isinstance(each, JsonError)]
    if expected:
        names = {_plain(name) for name in expected}
        values = [each for each in values if any(_plain(key) in names for key in each)] or values
    if not values:
        raise AnswerError(str(broken[0]) if broken else "the answer holds no JSON object")
    if any(value != values[0] for value in values):
        raise AnswerError(f"the answer holds {len(values)} different JSON objects; give one")
    return values[0]


def read_answer(
    instrument: Instrument, answer: str | object, dimensions: Iterable[str] | None = None
) -> dict[str, Outcome]:
    """One outcome for each asked dimension (all, where none is named), whatever the answer is.

    A grade is a whole number on the scale: 4, 4.0 and "4" are the grade 4; true, 4.5, "4/5" and "four" are
    not. null (or "N/A") is "not applicable" only where the dimension allows it. Skip rules are applied.
    """
    asked = _asked(instrument, dimensions)
    if isinstance(answer, str):
        if not answer.strip():
            return {each.name: Unscored(Reason.EMPTY, "the answer is empty") for each in asked}
        try:
            answer = extract_json(answer, [each.name for each in asked])
        except AnswerError as error:
            return {each.name: Unscored(Reason.PARSE, str(error)) for each in asked}
    if not isinstance(answer, Mapping):
        return {each.name: Unscored(Reason.PARSE, "the answer is not a JSON object") for each in asked}
    given: dict[str, list[object]] = {}
    for key, value in answer.items():
        given.setdefault(_plain(key), []).append(value)
    outcomes = {each.name: _read_one(each, given.get(_plain(each.name), [])) for each in asked}
    return apply_skips(instrument, outcomes)


def read_grade(dimension: Dimension, value: object, explanation: str = "") -> Outcome:
    """One grade as a person or a model wrote it, by the rules of `read_answer`, skip rules apart."""
    if isinstance(value, str):
        if value.strip().casefold() in _NOT_APPLICABLE:
            value = None
        elif _INTEGER.fullmatch(value):
            value = int(value)
    if value is None:
        if dimension.may_be_not_applicable or dimension.skip:
            return NotApplicable(explanation)
        return Unscored(Reason.MISSING, "it has no grade, and it cannot be not applicable")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value in dimension.grades:
            return Score(float(value), explanation)
    else:
        scale = ", ".join(str(each) for each in dimension.values)
        return Unscored(Reason.PARSE, f"its grade is not a whole number; the grades are {scale}")
    scale = ", ".join(str(each) for each in dimension.values)
    return Unscored(Reason.OUT_OF_RANGE, f"{value} is not a grade; the grades are {scale}")


def faults(outcomes: Mapping[str, Outcome]) -> str:
    """What is wrong with every dimension that was not read; those with the same fault together."""
    by_message: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Unscored):
            by_message.setdefault(outcome.message or outcome.reason.value, []).append(name)
    return "; ".join(f"{', '.join(names)}: {message}" for message, names in by_message.items())


def problems(instrument: Instrument, outcomes: Mapping[str, Outcome]) -> str:
    """What to tell a model whose answer could not be used, or "" where every dimension was read."""
    wrong = faults(outcomes)
    if not wrong:
        return ""
    names = ", ".join(f'"{each.name}"' for each in instrument.dimensions if each.name in outcomes)
    return (
        f"Your answer could not be used: {wrong}. "
        f"Answer again with one JSON object and nothing else, with the keys {names}."
    )


def _asked(instrument: Instrument, dimensions: Iterable[str] | None) -> list[Dimension]:
    if dimensions is None:
        return list(instrument.dimensions)
    return [instrument.dimension(name) for name in dimensions]


def _read_one(dimension: Dimension, given: list[object]) -> Outcome:
    if not given:
        return Unscored(Reason.MISSING, "it is missing")
    if len(given) > 1:
        return Unscored(Reason.PARSE, "it stands twice in the answer")
    value, explanation = given[0], ""
    if isinstance(value, Mapping):
        explanation = _explanation(value.get("explanation", ""))
        if "score" not in value:
            return Unscored(Reason.MISSING, 'it has no "score"')
        value = value["score"]
    return read_grade(dimension, value, explanation)


def _explanation(value: object) -> str:
    if not isinstance(value, str):
        value = "" if value is None else json.dumps(value, ensure_ascii=False)
    return clean_text(value)


def _plain(key: object) -> str:
    return _plain_text(str(key))


@lru_cache(maxsize=4096)
def _plain_text(key: str) -> str:
    return _SEPARATORS.sub("_", key.strip().casefold())


def _without_thoughts(text: str) -> str:
    while thought := _THOUGHTS.match(text):
        text = text[thought.end() :]
    if _OPEN_THOUGHT.match(text):
        raise AnswerError("the reasoning never ended, so there is no answer after it")
    # Some endpoints strip the opening tag; an end tag with an object after it closes the reasoning.
    ends = [each.end() for each in _END_OF_THOUGHT.finditer(text)]
    return text[ends[-1] :] if ends and "{" in text[ends[-1] :] else text


def _whole(text: str) -> object:
    text = text.strip()
    value, end = decode(text)
    if text[end:].strip() or not isinstance(value, dict | list):
        raise JsonError("the answer holds no JSON object", end)
    return value


def _objects(text: str) -> Iterator[dict[str, object] | JsonError]:
    """Every outermost object, or what is wrong with it where it is broken."""
    at = 0
    for _ in range(_MOST_OBJECTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = decode(text, start.start())
        except JsonError as error:
            yield error
            at = _end_of_broken(text, start.start())
        else:
            if isinstance(value, dict) and value:
                yield value
    raise AnswerError("the answer holds too many JSON objects; give one")


def _end_of_broken(text: str, start: int) -> int:
    """Where a broken object's braces balance; the end of the text where they never do."""
    depth = 0
    for token in _BRACES.finditer(text, start):
        if token.group() == "{":
            depth += 1
        elif token.group() == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)
