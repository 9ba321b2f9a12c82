"""What is asked for in each step of a deliberation, as a schema, and how the answer is read: strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.instruments import (
    Instrument,
    NotApplicable,
    Outcome,
    Reason,
    Score,
    Unscored,
    apply_skips,
    closed_object,
    output_schema,
    read_answer,
)
from medjury.intake.cases import clean_text
from medjury.judging._asking import Unusable
from medjury.judging._deliberation.prompts import ALL, NOBODY
from medjury.judging._rows import whole

# Does a reason say that grades were averaged? A decision must weigh arguments, not do sums with grades.
#
# Only words about grades count: a mean arterial pressure or the average of three readings is medicine, and "I did
# not average the grades" is the opposite of averaging. A rare false alarm costs one re-ask, with the reason.

_GRADES = (
    r"(?:grades?|scores?|\w*scorers?|ratings?|votes?|agents?|raters?|judges?|opinions?|assessments?|views?|"
    r"positions?|evaluations?|perfectionist|multitasker|collaborator)\b"
)
_THEM = r"(?:two|three|four|five|both|them|all|these|those)\b(?=\s*(?:[.,;:)]|$|\b(?:gives?|is|and|so|to|would)\b))"
_NUMBERS = r"[0-9](?:\s*,\s*[0-9])*\s*,?\s*and\s+[0-9]\b"
_FEW = r"(?:[\w'’-]+\s+)"
_AVERAGING = re.compile(
    "|".join(
        (
            # the average of the grades, the median between these, the mean of 3, 4 and 5
            rf"\b(?:averag(?:e|es|ed|ing)|mean|median|mid-?point)\s+(?:of|between|across|over|among)\s+{_FEW}{{0,4}}?"
            rf"(?:{_GRADES}|{_THEM}|{_NUMBERS})",
            # averaging their scores, averaged them out
            rf"\baverag(?:e|ed|ing)\s+(?:out\s+)?{_FEW}{{0,3}}?(?:{_GRADES}|{_THEM}|{_NUMBERS})",
            r"\baverag(?:e|ed|ing)\s+(?:them|both|these)\s+out\b",
            # the mean grade, an average score of 3.7
            r"\b(?:mean|averaged?|median)\s+(?:grade|score|rating|vote)s?\b",
            # the grades average to 4, their scores average 3.7
            rf"{_GRADES}\s+{_FEW}{{0,2}}?averag(?:e|ed|es)\s+(?:out|to|at|around|about|[0-9])",
            rf"\bon\s+average\b[^.;]{{0,60}}?{_GRADES}",
            rf"{_GRADES}[^.;]{{0,40}}?\bon\s+average\b",
            r"\bsplit(?:s|ting)?\s+the\s+difference\b",
            r"\bmeet(?:s|ing)?\s+(?:them\s+)?in\s+the\s+middle\b",
            # (3 + 4 + 4) / 3
            r"[0-9]\s*(?:\+\s*[0-9]\s*)+\)?\s*(?:/|÷|divided\s+by)\s*[0-9]",
        )
    ),
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|nor|never|without|neither|cannot|rather\s+than|instead\s+of|avoid\w*|refus\w*|declin\w*|"
    r"\w+n['’]t)\s+(?:[\w'’-]+\s+){0,4}$",
    re.IGNORECASE,
)


def averages(reason: str) -> bool:
    """Whether the reason says that grades were averaged.

    >>> averages("I take the mean of the three grades."), averages("I did not average the grades.")
    (True, False)
    """
    for found in _AVERAGING.finditer(reason):
        before = re.split(r"[.;:!?\n]", reason[max(0, found.start() - 120) : found.start()])[-1]
        if not _NEGATION.search(before):
            return True
    return False


Grades = Mapping[str, Outcome]
_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the orchestrator wants next; no speaker ends the discussion. `progress` is its own word on the last
    turn, where it was asked for it."""

    assessment: str
    speaker: str | None
    about: tuple[str, ...]
    question: str
    progress: bool | None


def read_opening(instrument: Instrument, dimensions: Sequence[str]) -> Callable[[Any], Grades]:
    def read(value: Any) -> Grades:
        return whole(read_answer(instrument, value, dimensions))

    return read


def choice_schema(speakers: Sequence[str], dimensions: Sequence[str], *, ledger: bool) -> dict[str, Any]:
    progress: dict[str, Any] = {"progress": {"type": "boolean"}} if ledger else {}
    return closed_object(
        {
            "assessment": {"type": "string"},
            **progress,
            "speaker": {"type": "string", "enum": [*speakers, NOBODY]},
            "about": {"type": "string", "enum": [*dimensions, ALL]},
            "question": {"type": "string"},
        }
    )


def read_choice(
    instrument: Instrument,
    speakers: Sequence[str],
    dimensions: Sequence[str],
    open_dimensions: Sequence[str],
    *,
    ledger: bool,
) -> Callable[[Any], Choice]:
    """A choice names a rater who is there, or nobody, and a dimension that is, or all that are in dispute."""

    def read(value: Any) -> Choice:
        given = _mapping(value)
        progress = given.get("progress")
        if ledger and not isinstance(progress, bool):
            raise Unusable('"progress" must be true or false')
        assessment = _words(given, "assessment")
        speaker = _one_of(given.get("speaker"), [*speakers, NOBODY])
        if speaker is None:
            raise Unusable(
                f'"speaker" names nobody who is here; it must be one of {", ".join(speakers)}, {NOBODY}'
            )
        said = progress if isinstance(progress, bool) else None
        if speaker == NOBODY:
            return Choice(assessment, None, (), "", said)
        question = _words(given, "question")
        if not question:
            raise Unusable(f'"question" is empty; ask {speaker} something, or end with {NOBODY}')
        about = given.get("about")
        named = [
            _one_of(each, [*dimensions, ALL]) for each in (about if isinstance(about, list) else [about])
        ]
        wanted = [each for each in named if each is not None]
        if not wanted or len(wanted) < len(named):
            raise Unusable(f'"about" must be one of {", ".join(dimensions)}, {ALL}')
        if ALL in wanted:
            wanted = list(open_dimensions) or list(dimensions)
        return Choice(assessment, speaker, linked(instrument, wanted, dimensions), question, said)

    return read


def turn_schema(instrument: Instrument, about: Sequence[str]) -> dict[str, Any]:
    return closed_object(
        {"statement": {"type": "string"}, "grades": output_schema(instrument, about, explain=False)}
    )


def read_turn(instrument: Instrument, about: Sequence[str]) -> Callable[[Any], tuple[str, Grades]]:
    """What a rater said in a turn, and its grades on what it was asked about."""

    def read(value: Any) -> tuple[str, Grades]:
        given = _mapping(value)
        words = _words(given, "statement")
        if not words:
            raise Unusable('"statement" is empty; say why you keep or change your grades', Reason.MISSING)
        grades = given.get("grades")
        if not isinstance(grades, Mapping):
            raise Unusable('"grades" is missing', Reason.MISSING)
        return words, whole(read_answer(instrument, grades, about))

    return read


def read_decision(instrument: Instrument, dimensions: Sequence[str]) -> Callable[[Any], Grades]:
    """The orchestrator's grades, each with a reason that is not an average."""

    def read(value: Any) -> Grades:
        given = read_answer(instrument, value, dimensions)
        # A grade that is refused no longer makes another one "not applicable".
        return whole(apply_skips(instrument, {name: _decided(outcome) for name, outcome in given.items()}))

    return read


def linked(instrument: Instrument, wanted: Sequence[str], within: Sequence[str]) -> tuple[str, ...]:
    """The wanted dimensions with those that a skip rule ties to them, in the instrument's order: a grade that
    makes another one meaningless, or meaningful, is never asked for without it."""
    found = set(wanted)
    ties = [(each.name, each.skip.dimension) for each in instrument.dimensions if each.skip]
    while more := {name for tie in ties if found & set(tie) for name in tie} - found:
        found |= more
    return tuple(name for name in within if name in found)


def _decided(outcome: Outcome) -> Outcome:
    match outcome:
        case Score(_, explanation) if not explanation.strip():
            return Unscored(Reason.MISSING, "its grade has no reason; explain it")
        case Score(_, explanation) | NotApplicable(explanation) if averages(explanation):
            problem = (
                "the reason speaks of an average of grades; do not average, weigh the arguments and decide"
            )
            return Unscored(Reason.AVERAGED, problem)
        case Unscored(Reason.OUT_OF_RANGE, message):
            return Unscored(Reason.OUT_OF_RANGE, f"{message}; do not average, decide for one of them")
        case _:
            return outcome


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unusable("the answer is not a JSON object")
    return value


def _words(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise Unusable(f'"{name}" must be text')
    return clean_text(value).strip()


def _one_of(value: object, names: Sequence[str]) -> str | None:
    """The name that is meant, whatever its case and separators."""
    plain = {_SEPARATORS.sub("_", name.casefold()): name for name in names}
    return plain.get(_SEPARATORS.sub("_", value.strip().casefold())) if isinstance(value, str) else None
