"""What every way of judging does with outcomes: refuse what is not whole, find what may pass, make rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from medjury.foundation.clock import utc_now
from medjury.instruments import (
    TRANSIENT,
    Instrument,
    NotApplicable,
    Outcome,
    Reason,
    Score,
    Unscored,
    faults,
    problems,
)
from medjury.judging._asking import Unusable
from medjury.judging._rater import Unit
from medjury.models import Answer
from medjury.store.ratings import Rating, Status


def whole(outcomes: Mapping[str, Outcome], instrument: Instrument | None = None) -> Mapping[str, Outcome]:
    """The outcomes where each dimension was read; else `Unusable` with what is wrong and what there is so far.
    With the instrument the complaint names the dimensions to answer."""
    lost = [each for each in outcomes.values() if isinstance(each, Unscored)]
    if not lost:
        return outcomes
    complaint = "" if instrument is None else problems(instrument, outcomes)
    raise Unusable(faults(outcomes), lost[0].reason, so_far=outcomes, lacking=len(lost), complaint=complaint)


def first_failure(outcomes: Iterable[Outcome]) -> Unscored | None:
    """The first failure; one that may pass comes before all others, for it is the one to try again."""
    failed = [each for each in outcomes if isinstance(each, Unscored)]
    return min(failed, key=lambda each: each.reason not in TRANSIENT, default=None)


def passing_failure(outcomes: Iterable[Outcome]) -> Unscored | None:
    """The first failure that may be gone another time."""
    first = first_failure(outcomes)
    return first if first is not None and first.reason in TRANSIENT else None


def outcome_columns(outcome: Outcome) -> tuple[float | None, Status, Reason | None, str]:
    """An outcome as the columns score, status, reason and explanation of a rating."""
    if isinstance(outcome, Score):
        return outcome.value, "scored", None, outcome.explanation
    if isinstance(outcome, NotApplicable):
        return None, "not_applicable", None, outcome.explanation
    return None, "unscored", outcome.reason, outcome.message


def rows_of(
    unit: Unit,
    outcomes: Mapping[str, Outcome],
    answers: Sequence[Answer] | None,
    *,
    system: str | None = None,
) -> list[Rating]:
    """One row per dimension; the calls, their tokens, seconds and cost are shared out so that sums stay true.
    No call made (None) costs 0; calls that failed (none answered) cost nobody knows how much. `system` names
    another author than the case's, where the text that was graded is not the case's own."""
    now = utc_now()
    rows = len(unit.dimensions)
    known = answers is None or bool(answers)
    costs: list[float | None] = []
    times: list[float] = []
    tokens_in = tokens_out = 0
    models: set[tuple[str, str]] = set()
    for answer in answers or ():
        reply = answer.reply
        costs.append(answer.worth)
        times.append(reply.seconds)
        tokens_in += reply.tokens_in
        tokens_out += reply.tokens_out
        models.add((answer.asked, answer.answered))
    cost = sum([each or 0.0 for each in costs]) / rows if known and None not in costs else None
    seconds = sum(times) / rows if known else None
    instrument = f"{unit.rater.instrument.name}@{unit.rater.instrument.version}"
    shares: Iterable[Sequence[int | None]] = zip(
        shared(tokens_in, rows), shared(tokens_out, rows), shared(len(answers or ()), rows), strict=True
    )
    # Each pair of names once, in the order of the names: a row reads the same whatever answered first.
    asked = answered = None
    if models:
        asked, answered = (", ".join(names) for names in zip(*sorted(models), strict=True))
    item, rater, repeat, key = unit.case.id, unit.rater.name, unit.repeat, unit.key
    system = unit.case.system if system is None else system
    ratings = []
    for dimension, (into, out, calls) in zip(unit.dimensions, shares, strict=True):
        score, status, reason, explanation = outcome_columns(outcomes[dimension])
        if not known:
            into, out, calls = None, None, None
        ratings.append(
            Rating(
                item, system, rater, "judge", instrument, dimension, repeat, score, status, reason, explanation,
                seconds, into, out, cost, now, key, calls, asked, answered,
            )
        )  # fmt: skip
    return ratings


def shared(total: int, rows: int) -> list[int]:
    """A whole number split over rows so that the parts sum to it exactly."""
    part, rest = divmod(total, rows)
    return [part + 1] * rest + [part] * (rows - rest)
