"""What stands on the page of a case: made ready here, so that the template only lays it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from medjury.instruments import Example
from medjury.panel._design import (
    Assignment,
    Passage,
    Problem,
    Round,
    Said,
    assignment_of,
    places,
    round_by_id,
)
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import progress
from medjury.panel._rating._saving import newest
from medjury.panel._rating._timing import EVERY_SECONDS

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# What differs between two texts, word by word, for the eye of a rater.

_WORDS = re.compile(r"\s+|[^\s]+")
_MOST_WORDS = 4000  # beyond that the comparison takes longer than a rater waits, and nothing is marked


@dataclass(frozen=True)
class Piece:
    """A stretch of text that both sides share, or that this side has alone."""

    text: str
    differs: bool


def differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces. Only whole words differ; capitals and punctuation at a word's edge do not count."""
    one, other = _WORDS.findall(first), _WORDS.findall(second)
    if len(one) + len(other) > _MOST_WORDS:
        return [Piece(first, False)], [Piece(second, False)]
    left: list[Piece] = []
    right: list[Piece] = []
    matcher = SequenceMatcher(None, list(map(_plain, one)), list(map(_plain, other)), autojunk=False)
    for kind, start, end, from_, to in matcher.get_opcodes():
        _add(left, "".join(one[start:end]), kind != "equal")
        _add(right, "".join(other[from_:to]), kind != "equal")
    return left, right


def _plain(word: str) -> str:
    return " " if word.isspace() else word.strip(".,;:!?\"'“”’()").casefold() or word


def _add(pieces: list[Piece], text: str, differs: bool) -> None:
    if text:
        pieces.append(Piece(text, differs and not text.isspace()))


@dataclass(frozen=True)
class Column:
    """One side of the page: a heading, and passages of which one may be shown in pieces."""

    label: str
    passages: tuple[Passage, ...]
    pieces: dict[str, list[Piece]]  # by the name of the passage


@dataclass(frozen=True)
class WorkedExample:
    """An example beside the form: both texts in pieces, the right grades and why."""

    texts: tuple[tuple[str, list[Piece]], ...]
    grades: tuple[tuple[str, str], ...]
    explanation: str


def case_values(
    connection: Connection,
    round_: Round,
    assignment: Assignment,
    *,
    said: Said | None = None,
    comment: str | None = None,
    problems: tuple[Problem, ...] = (),
    notice: str = "",
) -> dict[str, Any]:
    """The values of `rating/case.html`; what was typed and not saved takes the place of what was saved."""
    last = newest(connection, assignment.id)
    order = places(connection, round_.id, assignment.person)
    codes = [place.code for place in order]
    number = codes.index(assignment.code)
    source, answer = _columns(round_, assignment)
    kept: Said = last.said if last is not None else {}
    return {
        "round": round_,
        "code": assignment.code,
        "number": number + 1,
        "before": codes[number - 1] if number else None,
        "after": codes[number + 1] if number + 1 < len(codes) else None,
        "progress": progress(connection, round_, assignment.person),
        "source": source,
        "answer": answer,
        "said": {q.name: (said or kept).get(q.name, {"grade": "", "why": ""}) for q in round_.questions},
        "comment": comment if comment is not None else (last.comment if last is not None else ""),
        "version": last.version if last is not None else 0,
        "is_finished": assignment.is_finished,
        "has_draft": last is not None and not last.submitted,
        "is_open": round_.state == "open" and not (round_.kind == "training" and assignment.is_finished),
        "problems": {each.dimension: each.message for each in problems},
        "notice": notice,
        "instructions": _paragraphs(round_.instrument.instructions),
        "examples": [_example(round_, each) for each in round_.instrument.examples],
        "every_seconds": EVERY_SECONDS,
    }


def case_page(
    request: Request, panel: Panel, code: str, person: str, *, status: int = 200, **values: Any
) -> Response:
    with panel.database.reading() as connection:
        assignment = assignment_of(connection, code, person)
        if assignment is None:
            raise HTTPException(404)
        known = case_values(connection, round_by_id(connection, assignment.round), assignment, **values)
    return page(request, "rating/case.html", status=status, minutes=minutes, **known)


def minutes(seconds: float | None) -> str:
    """A rough time in words."""
    if seconds is None:
        return ""
    whole = max(1, round(seconds / 60))
    if whole < 90:
        return f"about {whole} min left"
    return f"about {whole / 60:.1f} hours left".replace(".0 ", " ")


def _paragraphs(text: str) -> list[str]:
    """A text of a YAML file: blank lines part it, and single line breaks are only how it was written."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _columns(round_: Round, assignment: Assignment) -> tuple[Column | None, Column | None]:
    sources, answer = assignment.sources, assignment.answer
    reference = next((each for each in sources if each.name == "reference"), None)
    left: dict[str, list[Piece]] = {}
    right: dict[str, list[Piece]] = {}
    if round_.settings["differences"] and reference and answer:
        left["reference"], right[answer.name] = differences(reference.text, answer.text)
        before = tuple(each for each in sources if each.name == "context")
        if {each.name for each in sources} <= {"context", "reference"}:
            # Two transcripts: the same conversation on both sides, and only its last line differs.
            return Column(reference.label, (*before, reference), left), Column(
                answer.label, (*before, answer), right
            )
    label = sources[0].label if len(sources) == 1 else "Source"
    return (
        Column(label, sources, left) if sources else None,
        Column(answer.label, (answer,), right) if answer else None,
    )


def _example(round_: Round, example: Example) -> WorkedExample:
    instrument = round_.instrument
    labels = {each.name: each.label for each in instrument.inputs}
    texts = {name: [Piece(text, False)] for name, text in example.inputs.items()}
    if round_.settings["differences"] and {"reference", "candidate"} <= set(texts):
        pair = differences(example.inputs["reference"], example.inputs["candidate"])
        texts["reference"], texts["candidate"] = pair
    grades = tuple(
        (instrument.dimension(name).label, "not applicable" if grade is None else f"{grade}")
        for name, grade in example.scores.items()
        if name in {each.name for each in instrument.dimensions}
    )
    return WorkedExample(
        tuple((labels.get(name, name), pieces) for name, pieces in texts.items()), grades, example.explanation
    )
