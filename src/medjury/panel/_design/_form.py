"""What a rater sees of a case (the inputs that the instrument and the round name, without words that would tell
whose answer it is), and the form that an instrument becomes: one question for each dimension; what was said in
it, read against the instrument, and in training beside the key. Nothing is guessed; nothing off the scale
passes."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

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
from medjury.intake.cases import IMAGES, Case, ChatMessage, Image, Note, clean_text, text_of
from medjury.panel._language import _, decimal

HIDDEN = "[hidden]"
_SHORTEST = 3  # a name of two letters stands in every text


# Between the parts of a name: `quokka-scribe` is written quokka_scribe, Quokka Scribe and QuokkaScribe as well.
_BETWEEN = r"[\s_\-\u2010-\u2015]"


def hider(words: Sequence[str], followed_by: str = r"[^\W_]") -> re.Pattern[str] | None:
    """A pattern of the words to hide, longest first, however they are capitalised, spaced and hyphenated."""
    parted = ([part for part in re.split(f"{_BETWEEN}+", word) if part] for word in words)
    longest_first = sorted(filter(None, parted), key=lambda each: -len("".join(each)))
    ways = [f"{_BETWEEN}*".join(map(re.escape, word)) for word in longest_first]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?!{followed_by})", re.IGNORECASE) if ways else None


def hide(text: str, pattern: re.Pattern[str] | None) -> str:
    return text if pattern is None else pattern.sub(HIDDEN, text)


def telling_words(texts: Sequence[str], names: Iterable[str]) -> set[str]:
    """Names of systems and vendors that a rater would still read after hiding: for `blind_words`."""
    # With its version behind it, a name tells as much.
    patterns = {name: hider([name], r"[^\W\d_]") for name in names if len(name) >= _SHORTEST}
    return {name for name, each in patterns.items() if each and any(each.search(text) for text in texts)}


ANSWER = "answer"


@dataclass(frozen=True)
class ImageShown:
    """An image as a page has it: its content in its address, so that nothing has to be fetched, and its size."""

    address: str
    width: int
    height: int
    label: str = ""

    @classmethod
    def of(cls, image: Image) -> ImageShown:
        data = b64encode(image.content).decode("ascii")
        return cls(f"data:{image.media};base64,{data}", image.width, image.height, image.label)


@dataclass(frozen=True)
class Passage:
    """One text with its heading, or the notes of a record. Of a conversation `messages` are what `text` has in
    words, of images `images`."""

    name: str
    label: str
    text: str = ""
    notes: tuple[Note, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    images: tuple[ImageShown, ...] = ()

    @property
    def turns(self) -> list[tuple[ChatMessage, str, str]]:
        """Each message with the lines above and below it, which together are the text."""
        ends = ["\n\n"] * (len(self.messages) - 1) + [""]
        return [(each, each.heading_line, end) for each, end in zip(self.messages, ends, strict=False)]

    @property
    def is_answer(self) -> bool:
        return self.name == ANSWER

    @property
    def texts(self) -> list[str]:
        """Every text of it that a rater reads."""
        return [self.text, *(part for note in self.notes for part in (note.id, note.kind or "", note.text))]


def shown_of(
    case: Case, instrument: Instrument, show: Sequence[str] | None, pattern: re.Pattern[str] | None
) -> tuple[Passage, ...]:
    """The passages in the instrument's order; `show` narrows them. A text that the case lacks is left out."""
    passages = []
    for each in instrument.inputs:
        name = ANSWER if each.name == "candidate" else each.name
        if show is not None and name not in show:
            continue
        found = case.input(each.name)
        if isinstance(found, str):
            images = case.images if each.name == IMAGES else ()
            seen = tuple(replace(ImageShown.of(i), label=hide(i.label, pattern)) for i in images)
            passages.append(Passage(name, each.label, hide(found, pattern), images=seen))
        elif found and isinstance(found[0], ChatMessage):
            said = tuple(
                replace(m, text=hide(m.text, pattern), name=hide(m.name, pattern))
                for m in found
                if isinstance(m, ChatMessage)
            )
            passages.append(Passage(name, each.label, text_of(said), messages=said))
        elif found:
            notes = tuple(
                Note(hide(n.id, pattern), hide(n.text, pattern), n.date, hide(n.kind or "", pattern))
                for n in found
                if isinstance(n, Note)
            )
            passages.append(Passage(name, each.label, notes=notes))
    return tuple(passages)


def labelled(passages: Iterable[Passage], instrument: Instrument) -> tuple[Passage, ...]:
    """The passages with the headings of this instrument, which may be in another language."""
    labels = {ANSWER if each.name == "candidate" else each.name: each.label for each in instrument.inputs}
    return tuple(replace(each, label=labels.get(each.name, each.label)) for each in passages)


_PASSAGES = TypeAdapter(tuple[Passage, ...])


def passages_to_row(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Passages as the database keeps them."""
    return [asdict(each) for each in passages]


def passages_from_row(rows: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    """And back."""
    return _PASSAGES.validate_python(rows)


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
