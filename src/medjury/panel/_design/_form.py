"""The form that an instrument becomes: one question for each dimension; what was said in it, read against the
instrument, and in training beside the key. Nothing is guessed; nothing off the scale passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.instruments import (
    Dimension,
    Instrument,
    NotApplicable,
    Outcome,
    Reason,
    Score,
    SkipRule,
    Unscored,
    apply_skips,
    read_grade,
)
from medjury.intake.cases import clean_text
from medjury.panel._language import _, decimal

NOT_APPLICABLE = "na"
CANNOT_JUDGE = "cannot"


@dataclass(frozen=True)
class Choice:
    """One answer that can be chosen: its value in the form, the key that chooses it, and its words."""

    value: str
    key: str
    words: str
    shows_grade: bool = True


@dataclass(frozen=True)
class Question:
    """One dimension as a rater is asked about it; `skip_words` say when it is left out."""

    name: str
    label: str
    definition: str
    grades: tuple[Choice, ...]
    others: tuple[Choice, ...]
    justification: str
    skip: SkipRule | None = None
    skip_words: str = ""

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (*self.grades, *self.others)


def form_of_instrument(
    instrument: Instrument, justification: str | Mapping[str, str] = "optional"
) -> tuple[Question, ...]:
    """Every dimension as a question. `justification` is one word for all, or a word for each that is named."""
    return tuple(_question(instrument, each, justification) for each in instrument.dimensions)


def _question(
    instrument: Instrument, dimension: Dimension, justification: str | Mapping[str, str]
) -> Question:
    others = []
    if dimension.may_be_not_applicable:
        others.append(Choice(NOT_APPLICABLE, "n", _("Not applicable"), shows_grade=False))
    others.append(Choice(CANNOT_JUDGE, "c", _("I can't judge this"), shows_grade=False))
    asked = justification if isinstance(justification, str) else justification.get(dimension.name, "optional")
    return Question(
        dimension.name,
        dimension.label or dimension.name,
        dimension.definition,
        _grades(dimension),
        tuple(others),
        asked,
        dimension.skip,
        _skip_words(instrument, dimension.skip) if dimension.skip else "",
    )


def _grades(dimension: Dimension) -> tuple[Choice, ...]:
    """A grade of one digit is chosen by its own key; where one is not, all are counted from 1."""
    own = all(0 <= grade <= 9 for grade in dimension.values)
    return tuple(
        Choice(
            str(grade),
            str(grade if own else place) if own or place <= 9 else "",
            dimension.grades[grade],
            own,
        )
        for place, grade in enumerate(dimension.values, start=1)
    )


def _skip_words(instrument: Instrument, rule: SkipRule) -> str:
    other = instrument.dimension(rule.dimension)
    return _(
        "Leave this out if you answered %(grade)s (%(words)s) to “%(question)s”.",
        grade=rule.equals,
        words=other.grades.get(rule.equals, "").split(":")[0].rstrip("."),
        question=other.label,
    )


GRADE, WHY, COMMENT = "grade.", "why.", "comment"
LONGEST = 10_000  # letters of one justification or comment

Said = dict[str, dict[str, str]]  # dimension -> {"grade": ..., "why": ...}


@dataclass(frozen=True)
class Read:
    """What was said, what it means, and by dimension what a rater has to put right before it can be taken. With a
    problem there are no outcomes to store."""

    said: Said
    comment: str
    outcomes: Mapping[str, Outcome]
    problems: Mapping[str, str]


def said_in(form: Mapping[str, str], questions: Sequence[Question]) -> tuple[Said, str]:
    """What stands in the form, unjudged: this is what a draft keeps. What the form does not offer is dropped."""
    said: Said = {}
    for question in questions:
        value = form.get(GRADE + question.name, "")
        grade = value if value in {choice.value for choice in question.choices} else ""
        said[question.name] = {"grade": grade, "why": _text(form.get(WHY + question.name, ""))}
    return said, _text(form.get(COMMENT, ""))


def read_form(form: Mapping[str, str], instrument: Instrument, questions: Sequence[Question]) -> Read:
    """The answer that a form holds, with everything that stands in its way."""
    said, comment = said_in(form, questions)
    outcomes: dict[str, Outcome] = {}
    problems: dict[str, str] = {}
    for question in questions:
        given, why = form.get(GRADE + question.name, ""), said[question.name]["why"]
        outcomes[question.name] = _outcome(instrument, question, given, why)
    skipped = apply_skips(instrument, outcomes)
    for question in questions:
        before, after = outcomes[question.name], skipped[question.name]
        if isinstance(after, NotApplicable) and question.skip is not None:  # the rule leaves it out
            skipped[question.name] = NotApplicable()
            continue
        problem = _problem(question, before, after, said[question.name]["why"])
        if problem:
            problems[question.name] = problem
    for name, words in (*((n, each["why"]) for n, each in said.items()), ("", comment)):
        if len(words) > LONGEST:
            problems[name] = _(
                "The text may have %(most)s letters; it has %(letters)s.",
                most=decimal(LONGEST),
                letters=decimal(len(words)),
            )
    return Read(said, comment, {} if problems else skipped, problems)


def _outcome(instrument: Instrument, question: Question, given: str, why: str) -> Outcome:
    dimension = instrument.dimension(question.name)
    if given == "":
        return Unscored(Reason.MISSING, "")
    if given not in {choice.value for choice in question.choices}:
        return Unscored(Reason.OUT_OF_RANGE, "")
    if given == CANNOT_JUDGE:
        return Unscored(Reason.CANNOT_JUDGE, why)
    if given == NOT_APPLICABLE:
        return read_grade(dimension, None, why)
    return read_grade(dimension, given, why)


def _problem(question: Question, before: Outcome, after: Outcome, why: str) -> str:
    if isinstance(after, Unscored):
        if after.reason is Reason.CANNOT_JUDGE:
            return "" if why else _("Say why you can't judge this.")
        if isinstance(before, NotApplicable):
            return _("Choose a grade: this question applies here.")
        if after.reason is Reason.MISSING and not after.message:
            return _("Choose a grade.")
        return _("That is not a grade of this question. Choose one of those shown.")
    if question.justification == "required" and not why:
        return _("Give your reason in a few words.")
    return ""


def _text(value: str) -> str:
    return clean_text(value).strip()


def outcome_row(outcome: Outcome) -> dict[str, object]:
    """An outcome as the database keeps it."""
    if isinstance(outcome, Score):
        return {"score": outcome.value, "explanation": outcome.explanation}
    if isinstance(outcome, NotApplicable):
        return {"not_applicable": True, "explanation": outcome.explanation}
    return {"reason": outcome.reason.value, "explanation": outcome.message}


def outcome_from_row(row: Mapping[str, object]) -> Outcome:
    """And back."""
    explanation = str(row.get("explanation", ""))
    if "score" in row:
        return Score(float(str(row["score"])), explanation)
    if "reason" in row:
        return Unscored(Reason(str(row["reason"])), explanation)
    return NotApplicable(explanation)


def compare_with_key(
    instrument: Instrument, outcomes: Mapping[str, Outcome], key: Mapping[str, Any], within: int
) -> list[dict[str, Any]]:
    """What was said on the dimensions that the key grades, each beside the key's grade and its words."""
    compared = []
    for name, right in key["grades"].items():
        dimension, outcome = instrument.dimension(name), outcomes[name]
        given, is_right = _("can't judge"), False
        if isinstance(outcome, Score):
            given = f"{outcome.value:g}"
            is_right = right is not None and abs(outcome.value - right) <= within
        elif isinstance(outcome, NotApplicable):
            given, is_right = _("not applicable"), right is None
        shown = _("not applicable") if right is None else str(right)
        words = "" if right is None else dimension.grades[right]
        said = {"label": dimension.label, "given": given, "is_right": is_right}
        compared.append({**said, "right": shown, "words": words})
    return compared
