"""What every way of judging does with outcomes: refuse what was not read whole, find what may pass, record it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
from medjury.store.ratings import Status


def whole(outcomes: Mapping[str, Outcome], instrument: Instrument | None = None) -> Mapping[str, Outcome]:
    """The outcomes where each dimension was read; else `Unusable` with what is wrong and what there is so far.
    With the instrument the model is told by name which dimensions to answer."""
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
