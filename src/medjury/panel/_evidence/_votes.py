"""Every vote on one answer: who gave which grade, in which words, and how ratings of several steps came about, as
a reader follows them: claims, talk, orders, drafts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from medjury.judging import (
    AdaptiveBody,
    ClaimsBody,
    ClosedLoopBody,
    ConcordanceBody,
    DeliberationBody,
    RecordedClaim,
    RecordedStep,
    RepeatsBody,
)
from medjury.panel._evidence._quotations import Quotation
from medjury.panel._evidence._run import State
from medjury.panel._evidence._snapshot import Snapshot
from medjury.panel._word_difference import Parts, word_difference
from medjury.store.runs import Body, Record, RecordedOutcome
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
            own_criteria = snapshot.table.criteria.get(row["item"], ())
            marked = next((each.text for each in own_criteria if each.id == row.get(CRITERION)), "")
            label = marked or snapshot.evidence.label(name)
            if row.get("explanation"):
                by_text.setdefault(row["explanation"], []).append(label)
    alone = len(by_text) == 1 and len(next(iter(by_text.values()))) > 1
    return tuple(("" if alone else ", ".join(labels), words) for words, labels in by_text.items())


_ENDED = {
    "agreed": "all agreed",
    "orchestrator": "the orchestrator ended it",
    "max_turns": "the most turns were taken",
    "max_stalls": "nothing new was said",
    "failed": "it failed",
}


@dataclass(frozen=True)
class ClaimShown:
    """One claim with its verdict in words; `quoted` and `refused` are the quotations behind it."""

    number: int
    words: str
    verdict: str
    importance: int
    explanation: str
    quoted: tuple[Quotation, ...]
    refused: tuple[tuple[Quotation, str], ...]


@dataclass(frozen=True)
class TurnShown:
    """Somebody's words and grades; of a draft, its difference from the one before."""

    who: str
    words: str
    grades: str = ""
    about: str = ""
    difference: Parts | None = None


@dataclass(frozen=True)
class StepShown:
    """One record: its kind, whose it is, what came of it in one line, and its claims or turns."""

    kind: str
    rater: str
    summary: str
    claims: tuple[ClaimShown, ...] = ()
    turns: tuple[TurnShown, ...] = ()


def shown_steps(records: list[Record[Body]], *, hidden: bool) -> list[StepShown]:
    """The records of an answer. Where texts are hidden, what came of each, in counts alone."""
    made = []
    for record in records:
        again = f", repeat {record.repeat + 1}" if record.repeat else ""
        step = _shown(record.body, record.rater + again)
        made.append(StepShown(step.kind, step.rater, step.summary) if hidden else step)
    return made


def last_draft(records: list[Record[Body]]) -> str | None:
    """The answer that a closed loop ended with, which is in no file of cases."""
    for record in records:
        if isinstance(record.body, ClosedLoopBody) and record.body.rounds:
            return record.body.rounds[-1].draft
    return None


def _shown(body: Body, rater: str) -> StepShown:
    if isinstance(body, ClaimsBody):
        return _claims(body, rater)
    if isinstance(body, DeliberationBody):
        return _deliberation(body, rater)
    if isinstance(body, ConcordanceBody):
        return _concordance(body, rater)
    if isinstance(body, ClosedLoopBody):
        return _closed_loop(body, rater)
    if isinstance(body, AdaptiveBody):
        turns = tuple(
            TurnShown(f"{call.juror}, round {call.round}", _reasons(call.outcomes), _grades(call.outcomes))
            for call in body.calls
        )
        summary = f"{len(body.calls)} of at most {body.rule.maximum} calls; {body.stopped}"
        return StepShown("adaptive jury", rater, summary, turns=turns)
    if isinstance(body, RepeatsBody):
        turns = tuple(
            TurnShown(f"draw {draw.draw}", _reasons(draw.outcomes), _grades(draw.outcomes))
            for draw in body.draws
        )
        return StepShown("repeats", rater, f"{len(body.draws)} draws", turns=turns)
    cut = f"{len(body.context.notes_left_out)} notes were left out of what it read" if body.context else ""
    return StepShown(body.kind.replace("_", " ") or "steps", rater, cut or "kept in records.jsonl")


def _claims(body: ClaimsBody, rater: str) -> StepShown:
    counts = [
        f"{sum(claim.verdict == verdict for claim in body.claims)} {verdict.replace('_', ' ')}"
        for verdict in ("supported", "contradicted", "not_addressed")
    ]
    lost = sum(claim.verdict is None for claim in body.claims)
    share = "" if body.share is None else f"; share of support {grade(body.share)}"
    needed = "" if body.threshold is None else f" (needed {grade(body.threshold)})"
    summary = f"{len(body.claims)} claims: {', '.join(counts)}" + (f", {lost} not verified" if lost else "")
    return StepShown(
        "claims", rater, summary + share + needed, tuple(_claim(each, rater) for each in body.claims)
    )


def _claim(claim: RecordedClaim, rater: str) -> ClaimShown:
    verdict = "not verified" if claim.verdict is None else claim.verdict.replace("_", " ")
    why = claim.explanation or (claim.failure.message if claim.failure else "")
    tone, whose = verdict.replace(" ", "-"), f"claim {claim.number} ({rater}): {verdict}"
    own = [Quotation(claim.quote, whose, claim.source, tone)] if claim.quote else []
    evidence = [Quotation(each.quote, whose, each.source, tone) for each in claim.evidence if each.quote]
    refused = [(Quotation(each.quote, rater), each.why) for each in claim.invented if each.quote]
    return ClaimShown(
        claim.number, claim.claim, verdict, claim.importance, why, (*own, *evidence), tuple(refused)
    )


def _deliberation(body: DeliberationBody, rater: str) -> StepShown:
    summary = f"{body.turns} turns between {len(body.personas)} readers; {_ENDED[body.ended]}"
    if body.undecided:
        summary += f"; undecided: {', '.join(body.undecided)}"
    return StepShown("deliberation", rater, summary, turns=tuple(_turn(each) for each in body.steps))


def _turn(step: RecordedStep) -> TurnShown:
    who = (step.persona or step.role or "orchestrator").replace("_", " ")
    said = [step.said, step.assessment, *(f"{name}: {why}" for name, why in step.reasons.items())]
    if step.failure:
        said.append(f"no usable answer: {step.failure.message}")
    grades = ", ".join(
        f"{name} {'not applicable' if given is None else grade(given)}" for name, given in step.grades.items()
    )
    to = f" to {step.to.replace('_', ' ')}" if step.to else ""
    return TurnShown(f"{who} ({step.act}{to})", "\n".join(filter(None, said)), grades, ", ".join(step.about))


def _concordance(body: ConcordanceBody, rater: str) -> StepShown:
    turns = [TurnShown("are they concordant?", _reasons(body.concordance), _grades(body.concordance))]
    for order in body.orders:
        prefers = order.failure or (f"prefers {order.prefers}" if order.prefers else "prefers neither")
        turns.append(
            TurnShown(f"{order.first} first, {order.second} second", order.reason or order.message, prefers)
        )
    verdict = _grades(body.concordance)
    return StepShown(
        "concordance", rater, f"{verdict}; preference {_outcome(body.preference)}", turns=tuple(turns)
    )


def _closed_loop(body: ClosedLoopBody, rater: str) -> StepShown:
    turns: list[TurnShown] = []
    before: str | None = None
    for each in body.rounds:
        both = None if before is None else word_difference(before, each.draft)
        passed = {True: "passed", False: f"failed: {', '.join(each.failing)}", None: "a score is missing"}[
            each.passed
        ]
        turns.append(
            TurnShown(
                f"draft {each.round}", each.draft, f"{_grades(each.scores)}; {passed}", "", both and both[1]
            )
        )
        before = each.draft
    return StepShown("closed loop", rater, f"{len(body.rounds)} drafts; {body.stopped}", turns=tuple(turns))


def _grades(outcomes: dict[str, RecordedOutcome]) -> str:
    return ", ".join(f"{name} {_outcome(outcome)}" for name, outcome in outcomes.items())


def _outcome(outcome: RecordedOutcome) -> str:
    if outcome.score is not None:
        return grade(outcome.score)
    return (
        f"no score ({(outcome.reason or 'not known').replace('_', ' ')})"
        if outcome.reason
        else "not applicable"
    )


def _reasons(outcomes: dict[str, RecordedOutcome]) -> str:
    return "\n".join(
        dict.fromkeys(outcome.explanation for outcome in outcomes.values() if outcome.explanation)
    )
