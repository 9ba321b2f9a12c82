"""One answer as a reader sees it: its source, the answer, every vote, and each quotation where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from medjury.analysis.ranking import score_of
from medjury.intake.cases import FIRST_ANSWER, SECOND_ANSWER, Case, ChatMessage, pair_of
from medjury.panel._design._shown import ImageShown
from medjury.panel._evidence._quotations import Found, Piece, Quotable, Quotation, locate, pieces, quoted_in
from medjury.panel._evidence._run import State
from medjury.panel._evidence._steps import ClaimShown, StepShown, last_draft, quotations_of, shown_steps
from medjury.panel._evidence._votes import Cell, Vote, difference_of, votes_of
from medjury.tables import CRITERION
from medjury.texts.metrics import Mark, marked_differences

# How many signs of one text are shown on a page; the rest is on pages of its own.
SIGNS = 60_000
_FOLDED, _LONG = ("call", "result", "system"), 300  # what is folded where it is long
_REFERENCE, _CANDIDATE = "reference", "candidate"
# Signs that turn the direction of the text around them: shown as what they are, so that nothing hides in them.
_TURNING = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with the signs made visible that a browser drops or obeys; sign for sign, so that places stay."""
    return _CONTROL.sub("\ufffd", _TURNING.sub("\u2425", text))


@dataclass(frozen=True)
class TurnShown:
    """A message of a conversation; a long result of a tool is folded."""

    kind: str
    heading: str
    folded: bool
    pieces: tuple[Piece, ...] = field(repr=False)


@dataclass(frozen=True)
class TextShown:
    """A text, cut where quotations begin and end. `shown` of its `length` signs are here."""

    number: int
    name: str
    title: str
    pieces: tuple[Piece, ...] = field(repr=False)
    shown: int
    length: int
    turns: tuple[TurnShown, ...] = field(
        default=(), repr=False
    )  # of a conversation, in the place of the pieces


@dataclass(frozen=True)
class QuotationShown:
    """A quotation in a rater's words. `where` names the text in which it stands ("": in none), `link` leads there
    where that is not on the same page."""

    words: str
    number: int
    link: str
    where: str


@dataclass(frozen=True)
class SaidPart:
    """A part of an explanation: plain words, or a quotation."""

    text: str
    quotation: QuotationShown | None = None


Words = tuple[tuple[str, tuple[SaidPart, ...]], ...]  # what they are about, and the words


@dataclass(frozen=True)
class Opinion:
    """What a rater said; of several repeats the first, and `more` of the others with their names."""

    rater: str
    kind: str
    words: Words
    more: tuple[tuple[str, Words], ...] = ()


@dataclass(frozen=True)
class MarkShown:
    """What one rater said of one criterion: the mark, and the words with their quotations."""

    rater: str
    cell: Cell
    words: tuple[SaidPart, ...]


@dataclass(frozen=True)
class CriterionShown:
    text: str
    points: str
    tags: tuple[str, ...]
    marks: tuple[MarkShown, ...]

    @property
    def has_evidence(self) -> bool:
        return any(mark.words for mark in self.marks)


@dataclass(frozen=True)
class CriteriaShown:
    """All criteria of a case with the marks of every rater, and what each rater's marks are worth: a number, or an
    interval where one is missing."""

    raters: tuple[str, ...]
    criteria: tuple[CriterionShown, ...]
    totals: tuple[Cell, ...]


@dataclass(frozen=True)
class CaseView:
    name: str
    item: str
    system: str
    sources: tuple[TextShown, ...]
    answer: TextShown | None
    facts: tuple[tuple[str, str], ...]
    why_no_text: str
    votes: tuple[Vote, ...]
    difference: Vote | None
    said: tuple[Opinion, ...]
    steps: tuple[StepShown, ...]
    invented: tuple[QuotationShown, ...]
    flags: tuple[tuple[str, str], ...]
    spent: tuple[tuple[str, str], ...]
    _quotations: dict[Quotation, QuotationShown] = field(repr=False)
    criteria: CriteriaShown | None = None
    images: tuple[ImageShown, ...] = field(default=(), repr=False)
    differing: int = 0  # places of the answer that are marked as differing from the source

    @property
    def compared(self) -> tuple[TextShown, ...]:
        """The two answers of a pair."""
        return tuple(each for each in self.sources if each.name in (FIRST_ANSWER, SECOND_ANSWER))

    def shown(self, quotation: Quotation) -> QuotationShown | None:
        return self._quotations.get(quotation)

    def refused(self, claim: ClaimShown) -> list[tuple[QuotationShown | None, str]]:
        return [(self.shown(quotation), why) for quotation, why in claim.refused]


def texts_of(
    state: State, place: int, draft: str | None = None
) -> tuple[list[tuple[str, Quotable]], Case | None]:
    """The texts behind an answer with their titles, the answer itself last."""
    key = state.snapshot.keys[place]
    case = state.texts.case(key)
    around = case or state.texts.of_item(key[0])
    if around is None:
        return [], None
    found: list[tuple[str, Quotable]] = []
    compared = dict(zip((FIRST_ANSWER, SECOND_ANSWER), pair_of(key[1]) or (), strict=False))
    found += [
        (compared.get(name) or _title(name), Quotable(name, visible(text)))
        for name, text in around.texts.items()
    ]
    for note in around.notes:
        title = " · ".join(filter(None, (f"Note {note.id}", note.date, note.kind)))
        found.append((title, Quotable(note.id, visible(note.text))))
    if around.reference:
        found.append(("Reference", Quotable(_REFERENCE, visible(around.reference))))
    answer = case.candidate if case is not None and case.candidate is not None else draft
    if answer is not None:
        found.append(("Answer", Quotable(_CANDIDATE, visible(answer))))
    return found, around


def case_view(state: State, place: int) -> CaseView:
    """All that is known of one answer."""
    snapshot = state.snapshot
    records = state.records(place)
    steps = shown_steps(records, hidden=state.hidden)
    titled, case = texts_of(state, place, last_draft(records))
    votes = votes_of(state, place)
    found = _located(votes, steps, titled)
    address = state.address(place)
    shown = {each.quotation: _shown(each, titled, address) for each in found}
    marks = _marks([text for _, text in titled])
    messages = _messages(state, place, case)
    texts = [
        _text_shown(number, title, text, found, marks, messages.get(text.name, ()))
        for number, (title, text) in enumerate(titled)
    ]
    answer = next((each for each in texts if each.name == _CANDIDATE), None)
    item, system = snapshot.keys[place]
    return CaseView(
        state.name(place),
        state.item(item),
        system,
        tuple(each for each in texts if each is not answer),
        answer,
        ()
        if case is None
        else tuple((_title(name), visible(str(value))) for name, value in case.metadata.items()),
        state.texts.why_not or ("" if titled else "this answer is not among the cases of the run"),
        tuple(votes),
        difference_of(state, place),
        tuple(_opinions(votes, shown)),
        tuple(steps),
        tuple(each for each in shown.values() if not each.where),
        _flags(state, place),
        _spent(state, place),
        shown,
        _criteria(state, place, shown),
        tuple(ImageShown.of(each) for each in case.images) if case is not None else (),
        sum(each.differs != "" for each in _words_of(answer)) if answer else 0,
    )


def _words_of(text: TextShown) -> Sequence[Piece]:
    """What somebody wrote: the headings of turns are ours."""
    return [piece for turn in text.turns for piece in turn.pieces] if text.turns else text.pieces


def _marks(texts: Sequence[Quotable]) -> list[Sequence[Mark]]:
    """What differs between the answer and what it was made from, text by text; the reference is another answer."""
    sources = [number for number, each in enumerate(texts) if each.name not in (_REFERENCE, _CANDIDATE)]
    made: list[Sequence[Mark]] = [() for _ in texts]
    if sources and texts[-1].name == _CANDIDATE:
        there, made[-1] = marked_differences([texts[number].text for number in sources], texts[-1].text)
        for number, marks in zip(sources, there, strict=True):
            made[number] = marks
    return made


def located_quotations(state: State, place: int) -> tuple[list[tuple[str, Quotable]], list[Found]]:
    """The texts behind an answer with their titles, and every quotation with its place in them."""
    records = state.records(place)
    titled, _ = texts_of(state, place, last_draft(records))
    return titled, _located(votes_of(state, place), shown_steps(records, hidden=state.hidden), titled)


def _located(
    votes: Sequence[Vote], steps: list[StepShown], titled: Sequence[tuple[str, Quotable]]
) -> list[Found]:
    quotations = [
        quotation
        for vote in votes
        for said in vote.said
        for quotation in quoted_in(visible(said.words), vote.rater)
    ]
    quotations += quotations_of(steps)
    return locate(quotations, [text for _, text in titled]) if titled else []


def text_page(text: str, found: Sequence[Found], start: int) -> tuple[tuple[Piece, ...], int, int]:
    """One page of a long text: its pieces, and where it begins and ends."""
    begin = min(max(0, start), max(0, len(text) - 1))
    end = min(len(text), begin + SIGNS)
    return tuple(pieces(text, found, start=begin, end=end)), begin, end


def _messages(state: State, place: int, case: Case | None) -> Mapping[str, tuple[ChatMessage, ...]]:
    """The conversations among the texts; the answer of another case with the same source is not this one's."""
    if case is None:
        return {}
    own = (case.id, case.system) == state.snapshot.keys[place]
    return {name: each for name, each in case.messages.items() if own or name != _CANDIDATE}


def _text_shown(
    number: int,
    title: str,
    text: Quotable,
    found: Sequence[Found],
    marks: Sequence[Sequence[Mark]],
    messages: Sequence[ChatMessage],
) -> TextShown:
    here = [each for each in found if each.text == number]
    length = len(text.text)
    made = tuple(pieces(text.text, here, end=SIGNS, marks=marks[number]))
    turns, at = [], 0
    for each in messages:
        start = at + len(each.heading_line)
        at = start + len(each.text)
        if start < SIGNS:
            words = tuple(pieces(text.text, here, start=start, end=min(at, SIGNS), marks=marks[number]))
            quoted = any(piece.numbers for piece in words)
            folded = each.kind in _FOLDED and len(each.text) > _LONG and not quoted
            turns.append(TurnShown(each.kind, visible(each.heading), folded, words))
        at += len("\n\n")
    return TextShown(number, text.name, title, made, min(SIGNS, length), length, tuple(turns))


def _shown(found: Found, titled: Sequence[tuple[str, Quotable]], address: str) -> QuotationShown:
    words = found.quotation.words
    if found.text is None:
        return QuotationShown(words, found.number, "", "")
    link = ""
    if found.start >= SIGNS:
        link = f"{address}/text/{found.text}?from={max(0, found.start - 500)}#q{found.number}"
    return QuotationShown(words, found.number, link, titled[found.text][0])


def _opinions(votes: Sequence[Vote], shown: dict[Quotation, QuotationShown]) -> Iterator[Opinion]:
    for rater, own in groupby((vote for vote in votes if vote.said), key=lambda vote: vote.rater):
        first, *others = own
        more = tuple((vote.note, _said(vote, shown)) for vote in others)
        yield Opinion(rater, first.kind, _said(first, shown), more)


def _said(vote: Vote, shown: dict[Quotation, QuotationShown]) -> Words:
    """What a rater said, with each quotation as a part of its own."""
    return tuple((said.about, _parts(visible(said.words), vote.rater, shown)) for said in vote.said)


def _parts(rest: str, rater: str, shown: dict[Quotation, QuotationShown]) -> tuple[SaidPart, ...]:
    """Words, with each quotation in them as a part of its own."""
    parts = []
    for quotation in quoted_in(rest, rater):
        before, words, rest = rest.partition(quotation.words)
        parts += [SaidPart(before), SaidPart(words, shown.get(quotation))]
    return (*parts, SaidPart(rest))


def _criteria(state: State, place: int, shown: dict[Quotation, QuotationShown]) -> CriteriaShown | None:
    """The criteria of a case in their order, beside one another the marks of everybody."""
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
            marks.append(MarkShown(rater, _mark(row), _parts(words, rater, shown) if words else ()))
        text = f"criterion {number}" if state.hidden else visible(each.text)
        criteria.append(
            CriterionShown(text, f"{each.points:+g}".replace("-", "\u2212"), each.tags, tuple(marks))
        )
    for marked in rows.values():
        found = [(each.points, marked.get(each.id)) for each in own]
        applying = [
            (points, None if row is None else row["score"])
            for points, row in found
            if row is None or row["status"] != "not_applicable"
        ]
        totals.append(_total(*score_of(applying), sum(mark is None for _, mark in applying)))
    return CriteriaShown(tuple(rows), tuple(criteria), tuple(totals))


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


def _flags(state: State, place: int) -> tuple[tuple[str, str], ...]:
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
    return tuple(flags)


def _spent(state: State, place: int) -> tuple[tuple[str, str], ...]:
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
    return tuple(made)


def _title(name: str) -> str:
    return visible(name.replace("_", " ").capitalize())
