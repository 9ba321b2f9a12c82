"""Reads a rater's answer against the instrument: strictly, dimension by dimension, never guessing a score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from medjury.instruments._instrument import Dimension, Instrument
from medjury.instruments._outcome import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.instruments._reader import AnswerError, read_reply, same_key
from medjury.intake.cases import clean_text


def apply_skips(instrument: Instrument, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes after the skip rules.

    Where the rule's dimension has the value, the skipped one is not applicable whatever was answered. Where
    it has another value, or none, "not applicable" is refused. Where the rule's dimension was not asked in
    the same answer there is nothing to check against, and the answer is kept: call again on the merged
    outcomes when each dimension is asked in a call of its own.
    """
    result = dict(outcomes)
    for dimension in instrument.dimensions:
        rule = dimension.skip
        if rule is None or dimension.name not in result or rule.dimension not in result:
            continue
        ruling, own = result[rule.dimension], result[dimension.name]
        if isinstance(ruling, Score) and ruling.value == rule.equals:
            if not isinstance(own, NotApplicable):
                result[dimension.name] = NotApplicable(own.explanation if isinstance(own, Score) else "")
        elif isinstance(own, NotApplicable):
            result[dimension.name] = Unscored(
                Reason.MISSING,
                f"it may be not applicable only when {rule.dimension} is {rule.equals}",
            )
    return result


_NOT_APPLICABLE = frozenset({"na", "n/a", "not applicable", "null", "none"})
_INTEGER = re.compile(r"\s*-?[0-9]{1,9}\s*")


def read_answer(
    instrument: Instrument,
    answer: str | object,
    dimensions: Iterable[str] | None = None,
) -> dict[str, Outcome]:
    """One outcome for each asked dimension (all, where none is named), whatever the answer is: an object, or a text
    that is one and nothing else.

    A grade is a whole number on the scale: 4, 4.0 and "4" are the grade 4; true, 4.5, "4/5" and "four" are
    not. null (or "N/A") is "not applicable" only where the dimension allows it. Skip rules are applied.
    """
    asked = _asked(instrument, dimensions)
    if isinstance(answer, str):
        if not answer.strip():
            return {each.name: Unscored(Reason.EMPTY, "the answer is empty") for each in asked}
        try:
            answer = read_reply(answer).value
        except AnswerError as error:
            return {each.name: Unscored(error.reason, str(error)) for each in asked}
    if not isinstance(answer, Mapping):
        return {each.name: Unscored(Reason.PARSE, "the answer is not a JSON object") for each in asked}
    given: dict[str, list[object]] = {}
    for key, value in answer.items():
        given.setdefault(same_key(str(key)), []).append(value)
    outcomes = {each.name: _read_one(each, given.get(same_key(each.name), [])) for each in asked}
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
        return Unscored(Reason.PARSE, "it occurs twice in the answer")
    value, explanation = given[0], ""
    if isinstance(value, Mapping):
        explanation = _explanation(value.get("explanation", ""))
        if "score" not in value:
            return Unscored(Reason.MISSING, 'it has no "score"')
        if sum(same_key(str(key)) == "score" for key in value) > 1:
            return Unscored(Reason.PARSE, "its score occurs twice in the answer")
        value = value["score"]
    return read_grade(dimension, value, explanation)


def _explanation(value: object) -> str:
    if not isinstance(value, str):
        value = "" if value is None else json.dumps(value, ensure_ascii=False)
    return clean_text(value)
