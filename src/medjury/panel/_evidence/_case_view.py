"""One answer as a reader sees it: its source, the answer, every vote, and each quotation where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from medjury.analysis.ranking import score_of
from medjury.intake.cases import FIRST_ANSWER, SECOND_ANSWER, Case, ChatMessage, pair_of
from medjury.panel._design._form import ImageShown
from medjury.panel._evidence._quotations import (
    SIGNS,
    Found,
    Piece,
    Quotable,
    Quotation,
    locate,
    pieces,
    quoted_in,
)
from medjury.panel._evidence._run import State
from medjury.panel._evidence._votes import (
    Cell,
    StepShown,
    Vote,
    difference_of,
    last_draft,
    shown_steps,
    votes_of,
)
from medjury.tables import CRITERION
from medjury.texts.metrics import Mark, marked_differences

_FOLDED, _LONG = ("call", "result", "system"), 300  # what is folded where it is long
_REFERENCE, _CANDIDATE = "reference", "candidate"
# Signs that turn the direction of the text around them: shown as what they are, so that nothing hides in them.
_TURNING = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with the signs made visible that a browser drops or obeys; sign for sign, so that places stay."""
    return _CONTROL.sub("\ufffd", _TURNING.sub("\u2425", text))


@dataclass(frozen=True)
class TextShown:
    """A text, cut where quotations begin and end. `shown` of its `length` signs are here. Of a conversation `turns`
    take the place of the pieces: kind, heading, whether it is folded (a long result of a tool is), its pieces."""

    number: int
    name: str
    title: str
    pieces: Sequence[Piece] = field(repr=False)
    shown: int
    length: int
    turns: Sequence[tuple[str, str, bool, Sequence[Piece]]] = field(default=(), repr=False)


Words = list[tuple[str, Found | None]]  # plain words, or a quotation


def texts_of(state: State, place: int, draft: str | None = None) -> tuple[list[Quotable], Case | None]:
    """The texts behind an answer with their titles, the answer itself last."""
    key = state.snapshot.keys[place]
    case = state.texts.case(key)
    around = case or state.texts.of_item(key[0])
    if around is None:
        return [], None
    compared = dict(zip((FIRST_ANSWER, SECOND_ANSWER), pair_of(key[1]) or (), strict=False))
    found = [
        Quotable(name, visible(text), compared.get(name) or _title(name))
        for name, text in around.texts.items()
    ]
    for note in around.notes:
        title = " · ".join(filter(None, (f"Note {note.id}", note.date, note.kind)))
        found.append(Quotable(note.id, visible(note.text), title))
    if around.reference:
        found.append(Quotable(_REFERENCE, visible(around.reference), "Reference"))
    answer = case.candidate if case is not None and case.candidate is not None else draft
    if answer is not None:
        found.append(Quotable(_CANDIDATE, visible(answer), "Answer"))
    return found, around


def case_view(state: State, place: int) -> dict[str, Any]:
    """All that is known of one answer, for the macros of `parts.html`; `shown` gives a quotation with its place."""
    records = state.records(place)
    steps = shown_steps(records, hidden=state.hidden)
    quotable, case = texts_of(state, place, last_draft(records))
    votes = votes_of(state, place)
    found = _located(votes, steps, quotable, state.address(place))
    shown = {each.quotation: each for each in found}
    marks, messages = _marks(quotable), _messages(state, place, case)
    texts = [
        _text_shown(number, text, found, marks[number], messages.get(text.name, ()))
        for number, text in enumerate(quotable)
    ]
    answer = next((each for each in texts if each.name == _CANDIDATE), None)
    sources = [each for each in texts if each is not answer]
    facts = {} if case is None else case.metadata
    item, system = state.snapshot.keys[place]
    return {
        "name": state.name(place),
        "item": state.item(item),
        "system": system,
        "sources": sources,
        "compared": [each for each in sources if each.name in (FIRST_ANSWER, SECOND_ANSWER)],
        "answer": answer,
        "facts": [(_title(name), visible(str(value))) for name, value in facts.items()],
        "why_no_text": state.texts.why_not
        or ("" if texts else "this answer is not among the cases of the run"),
        "votes": votes,
        "difference": difference_of(state, place),
        "said": list(_opinions(votes, shown)),
        "steps": steps,
        "invented": [each for each in found if each.text is None],
        "flags": _flags(state, place),
        "spent": _spent(state, place),
        "shown": shown.get,
        "criteria": _criteria(state, place, shown),
        "images": [ImageShown.of(each) for each in case.images] if case is not None else [],
        "differing": sum(each.differs != "" for each in _words_of(answer)) if answer else 0,
    }


def _words_of(text: TextShown) -> Sequence[Piece]:
    """What somebody wrote: the headings of turns are ours."""
    return [piece for *_, pieces in text.turns for piece in pieces] if text.turns else text.pieces


def _marks(texts: Sequence[Quotable]) -> list[Sequence[Mark]]:
    """What differs between the answer and what it was made from, text by text; the reference is another answer."""
    sources = [number for number, each in enumerate(texts) if each.name not in (_REFERENCE, _CANDIDATE)]
    made: list[Sequence[Mark]] = [() for _ in texts]
    if sources and texts[-1].name == _CANDIDATE:
        there, made[-1] = marked_differences([texts[number].text for number in sources], texts[-1].text)
        for number, marks in zip(sources, there, strict=True):
            made[number] = marks
    return made


def located_quotations(state: State, place: int) -> tuple[list[Quotable], list[Found]]:
    """The texts behind an answer, and every quotation with its place in them."""
    records = state.records(place)
    texts, _ = texts_of(state, place, last_draft(records))
    return texts, _located(votes_of(state, place), shown_steps(records, hidden=state.hidden), texts)


def _located(
    votes: Sequence[Vote], steps: list[StepShown], texts: Sequence[Quotable], address: str = ""
) -> list[Found]:
    quotations = [
        quotation
        for vote in votes
        for _, words in vote.said
        for quotation in quoted_in(visible(words), vote.rater)
    ]
    for claim in (claim for step in steps for claim in step.claims):
        quotations += [*claim.quoted, *(quotation for quotation, _ in claim.refused)]
    return locate(quotations, texts, address) if texts else []


def text_page(text: str, found: Sequence[Found], start: int) -> tuple[list[Piece], int, int]:
    """One page of a long text: its pieces, and where it begins and ends."""
    begin = min(max(0, start), max(0, len(text) - 1))
    end = min(len(text), begin + SIGNS)
    return pieces(text, found, start=begin, end=end), begin, end


def _messages(state: State, place: int, case: Case | None) -> Mapping[str, tuple[ChatMessage, ...]]:
    """The conversations among the texts; the answer of another case with the same source is not this one's."""
    if case is None:
        return {}
    own = (case.id, case.system) == state.snapshot.keys[place]
    return {name: each for name, each in case.messages.items() if own or name != _CANDIDATE}


def _text_shown(
    number: int,
    text: Quotable,
    found: Sequence[Found],
    marks: Sequence[Mark],
    messages: Sequence[ChatMessage],
) -> TextShown:
    here = [each for each in found if each.text == number]
    length = len(text.text)
    turns, at = [], 0
    for each in messages:
        start = at + len(each.heading_line)
        at = start + len(each.text)
        if start < SIGNS:
            words = pieces(text.text, here, start=start, end=min(at, SIGNS), marks=marks)
            quoted = any(piece.numbers for piece in words)
            folded = each.kind in _FOLDED and len(each.text) > _LONG and not quoted
            turns.append((each.kind, visible(each.heading), folded, words))
        at += len("\n\n")
    made = pieces(text.text, here, end=SIGNS, marks=marks)
    return TextShown(number, text.name, text.title, made, min(SIGNS, length), length, turns)


def _opinions(votes: Sequence[Vote], shown: Mapping[Quotation, Found]) -> Iterator[tuple[Any, ...]]:
    """Rater, kind and words; of several repeats those of the first, and of the others with their names."""
    for rater, own in groupby((vote for vote in votes if vote.said), key=lambda vote: vote.rater):
        first, *others = own
        more = [(vote.note, _said(vote, shown)) for vote in others]
        yield rater, first.kind, _said(first, shown), more


def _said(vote: Vote, shown: Mapping[Quotation, Found]) -> list[tuple[str, Words]]:
    """What a rater said, and what it is about."""
    return [(about, _parts(visible(words), vote.rater, shown)) for about, words in vote.said]


def _parts(rest: str, rater: str, shown: Mapping[Quotation, Found]) -> Words:
    """Words, with each quotation in them as a part of its own."""
    parts: Words = []
    for quotation in quoted_in(rest, rater):
        before, words, rest = rest.partition(quotation.words)
        parts += [(before, None), (words, shown.get(quotation))]
    return [*parts, (rest, None)]


def _criteria(state: State, place: int, shown: Mapping[Quotation, Found]) -> dict[str, Any] | None:
    """The criteria of a case in their order, beside one another the marks of everybody; and what each rater's marks
    are worth: a number, or an interval where one is missing."""
    own = state.snapshot.table.criteria.get(state.snapshot.keys[place][0], ())
    if not own:
        return None
    rows: dict[str, dict[str, dict[str, Any]]] = {}  # by rater and criterion; of repeats the first
    for one in state.snapshot.of_answer(place).iter_rows(named=True):
        if one[CRITERION] is not None:
            rows.setdefault(one["rater"], {}).setdefault(one[CRITERION], one)
    criteria, totals = [], []
    for number, each in enumerate(own, 1):
        marks = []
        for rater, marked in rows.items():
            row = marked.get(each.id)
            words = "" if row is None or state.hidden else visible(row["explanation"] or "")
            marks.append((rater, _mark(row), _parts(words, rater, shown) if words else []))
        text = f"criterion {number}" if state.hidden else visible(each.text)
        points = f"{each.points:+g}".replace("-", "\u2212")
        criteria.append({"text": text, "points": points, "tags": each.tags, "marks": marks})
    for marked in rows.values():
        found = [(each.points, marked.get(each.id)) for each in own]
        applying = [
            (points, None if row is None else row["score"])
            for points, row in found
            if row is None or row["status"] != "not_applicable"
        ]
        totals.append(_total(*score_of(applying), sum(mark is None for _, mark in applying)))
    return {"raters": list(rows), "criteria": criteria, "totals": totals}


def _mark(row: dict[str, Any] | None) -> Cell:
    if row is None:
        return Cell("\u2013", "absent")
    if row["score"] is None:
        why = str(row["reason"] or "not known").replace("_", " ")
        none = Cell("n/a", "not_applicable")
        return none if row["status"] == "not_applicable" else Cell(f"no mark: {why}", "unscored")
    return Cell({1.0: "met", 0.0: "not met"}.get(row["score"], f"{row['score']:.3g}"))


def _total(score: float | None, worst: float | None, best: float | None, open_: int) -> Cell:
    if worst is None or best is None:
        return Cell("no positive points", "absent")
    if score is None:
        return Cell(f"{worst:.3g} to {best:.3g} ({open_} not marked)", "unscored")
    return Cell(f"{score:.3g}")


def _flags(state: State, place: int) -> list[tuple[str, str]]:
    """What must be seen first, with a word for its colour."""
    snapshot = state.snapshot
    flags = []
    dangerous = [each.label for each in snapshot.dimensions if snapshot.dangerous(each.name)[place]]
    missed = [each.label for each in snapshot.dimensions if snapshot.missed(each.name)[place]]
    if dangerous:
        flags.append(("danger", f"dangerous to clinicians: {', '.join(dangerous)}"))
    if missed:
        flags.append(("danger", f"missed by {snapshot.rater}: {', '.join(missed)}"))
    if snapshot.with_status("unscored")[place]:
        flags.append(("warn", "some ratings have no score"))
    if snapshot.development[place]:
        flags.append(("soft", "served development: counted in no number"))
    return flags


def _spent(state: State, place: int) -> list[tuple[str, str]]:
    """What judging this answer took."""
    rows: Any = state.snapshot.of_answer(place)
    own = [each.name for each in state.snapshot.table.counted]  # what follows from them took nothing more
    judged = rows.filter((rows["rater_kind"] == "judge") & rows["dimension"].is_in(own))
    currency = state.snapshot.manifest.prices.currency or "USD"
    made = []
    for name, form in (
        ("seconds", "{:,.1f} s of judging"),
        ("cost", "{:.4g} " + currency),
        ("calls", "{:,.0f} calls"),
    ):
        known = judged[name].drop_nulls()
        if len(known):
            whole = "" if len(known) == len(judged) else f" (known of {len(known)} of {len(judged)} ratings)"
            made.append((name, form.format(float(known.sum())) + whole))
    return made


def _title(name: str) -> str:
    return visible(name.replace("_", " ").capitalize())
