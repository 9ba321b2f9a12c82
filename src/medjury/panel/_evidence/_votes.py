"""Every vote on one answer: who gave which grade, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from medjury.panel._evidence._run import State
from medjury.panel._evidence._snapshot import Snapshot
from medjury.tables import CRITERION, SHOWN_FIRST

if TYPE_CHECKING:
    import polars

_KINDS = {"clinician": "clinician", "jury": "jury", "judge": "judge", "metric": "text metric"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A grade, or why there is none."""

    text: str
    kind: str = "score"  # score, unscored, not_applicable, absent


@dataclass(frozen=True)
class Vote:
    """A rater's grades, one for each dimension of the table. What was `said` begins with the dimensions that it is
    about (none named: all)."""

    rater: str
    kind: str
    cells: tuple[Cell, ...]
    note: str = ""
    said: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    again: bool = False  # one of several repeats, beside the vote that they are together


def votes_of(state: State, place: int) -> list[Vote]:
    """All votes in their order: clinicians and their one score, the jury, judges, others."""
    snapshot = state.snapshot
    names = [each.name for each in snapshot.dimensions]
    votes = list(_given(state, place, names))
    clinicians = [number for number, vote in enumerate(votes) if vote.kind == "clinician"]
    reference, jury = snapshot.evidence.clinicians, snapshot.evidence.roles
    behind = clinicians[-1] + 1 if clinicians else 0
    made: list[Vote] = []
    if len(reference) > 1 and clinicians:
        scores = [snapshot.reference(name)[place] for name in names]
        made.append(_made("the clinicians together", snapshot.evidence.reference_words, scores))
    if jury.jurors and jury.jury:
        scores = [snapshot.scores(name, jury.jury)[place] for name in names]
        made.append(_made(jury.jury, f"{snapshot.table.jury_rule.rule} of its judges", scores))
    return [*votes[:behind], *made, *votes[behind:]]


def difference_of(state: State, place: int) -> Vote | None:
    """By how much the rater on trial is above the clinicians, dimension by dimension."""
    snapshot = state.snapshot
    if not snapshot.difference_words:
        return None
    found = [snapshot.difference(each.name)[place] for each in snapshot.dimensions]
    cells = tuple(Cell("–", "absent") if value != value else Cell(signed(value)) for value in found)
    return Vote(snapshot.difference_words, "difference", cells)


def signed(value: float) -> str:
    return "0" if value == 0 else f"{value:+.4g}".replace("-", "−")


def _made(name: str, note: str, scores: Sequence[float]) -> Vote:
    cells = tuple(Cell("–", "absent") if score != score else Cell(grade(score)) for score in scores)
    return Vote(name, "together", cells, note)


def criterion_text(snapshot: Snapshot, row: Mapping[str, Any]) -> str:
    """The words of the criterion that a row marks; none where it marks none."""
    own = snapshot.table.criteria.get(row["item"], ())
    return next((each.text for each in own if each.id == row.get(CRITERION)), "")


def grade(score: float) -> str:
    """As the report prints a vote."""
    return f"{score:.3g}"


def _given(state: State, place: int, names: Sequence[str]) -> Iterator[Vote]:
    """Each rater's vote; where there are repeats, what they are together by the table's rule, then each of them."""
    rows = state.snapshot.of_answer(place)
    for (kind, rater), part in rows.group_by("rater_kind", "rater", maintain_order=True):
        name, word = str(rater), _KINDS.get(str(kind), str(kind or "rater"))
        repeats = [
            _one(state, name, word, names, int(str(repeat)), each)
            for (repeat,), each in part.group_by("repeat", maintain_order=True)
        ]
        if len(repeats) == 1:
            yield repeats[0] if state.snapshot.table.pairs else replace(repeats[0], note="")
            continue
        cells = tuple(_together(state.snapshot, dimension, name, place, repeats[0].cells[number])
                      for number, dimension in enumerate(names))  # fmt: skip
        together = "orders" if state.snapshot.table.pairs else "repeats"
        yield Vote(name, word, cells, f"{state.snapshot.table.repeats} of {len(repeats)} {together}")
        yield from (replace(each, again=True) for each in repeats)


def _one(
    state: State, rater: str, kind: str, names: Sequence[str], repeat: int, part: polars.DataFrame
) -> Vote:
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in part.iter_rows(named=True):
        by_name.setdefault(row["dimension"], []).append(row)
    cells = tuple(_cell(by_name.get(name, [])) for name in names)
    said = () if state.hidden else _said(state.snapshot, by_name)
    first = part[SHOWN_FIRST][0] if SHOWN_FIRST in part.columns else None
    return Vote(rater, kind, cells, f"repeat {repeat + 1}" if first is None else f"{first} shown first", said)


def _together(snapshot: Snapshot, dimension: str, rater: str, place: int, first: Cell) -> Cell:
    score = snapshot.scores(dimension, rater)[place]
    return first if score != score else Cell(grade(score))


def _cell(rows: Sequence[dict[str, Any]]) -> Cell:
    if not rows:
        return Cell("–", "absent")
    if rows[0].get(CRITERION) is not None:
        return _marked(rows)
    row = rows[-1]
    if row["score"] is not None:
        return Cell(grade(row["score"]))
    if row["status"] == "not_applicable":
        return Cell("not applicable", "not_applicable")
    return Cell(f"no score: {str(row['reason'] or 'not known').replace('_', ' ')}", "unscored")


def _marked(rows: Sequence[dict[str, Any]]) -> Cell:
    """The marks of an answer's criteria in one cell."""
    scored = [row["score"] for row in rows if row["score"] is not None]
    open_ = sum(row["status"] == "unscored" for row in rows)
    text = f"{sum(scored):.3g} of {len(scored)} met"
    return Cell(f"{text}, {open_} without a mark", "unscored") if open_ else Cell(text)


def _said(snapshot: Snapshot, rows: dict[str, list[dict[str, Any]]]) -> tuple[tuple[str, str], ...]:
    """What was said, once where it is the same for several dimensions; of criteria each by itself."""
    by_text: dict[str, list[str]] = {}
    for name, own in rows.items():
        for row in own:
            label = criterion_text(snapshot, row) or snapshot.evidence.label(name)
            if row.get("explanation"):
                by_text.setdefault(row["explanation"], []).append(label)
    alone = len(by_text) == 1 and len(next(iter(by_text.values()))) > 1
    return tuple(("" if alone else ", ".join(labels), words) for words, labels in by_text.items())
