"""What raters agree on in the end: said alike from the start, settled together, or decided by the adjudicator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Score
from medjury.panel._design import Round
from medjury.panel._meeting._items import MeetingItem, meeting_items
from medjury.panel._meeting._opening import RatedItem, meeting_of, rated_items
from medjury.panel._meeting._rule import all_the_same
from medjury.panel._rating._answers import RatedAnswer

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class ReconciledLabel:
    """The one word on one dimension of one answer, and how it came about. The originals stay beside it."""

    item: str
    system: str
    dimension: str
    outcome: Outcome
    how: Literal["agreed", "reconciled", "adjudicated"]
    participants: tuple[str, ...]  # those who gave it: raters, or the adjudicator
    reason: str
    at: str
    version: int
    probability: float | None
    fingerprint: str


def reconciled_labels(connection: Connection, round_: Round) -> Iterator[ReconciledLabel]:
    """The labels of a round over which its raters have met. What is not settled has none: neither what is still
    talked over, nor a difference too small for the study's rule, nor what one rater alone has seen."""
    meeting = meeting_of(connection, round_.id)
    if meeting is None:
        return
    open_ = {each.item: each for each in meeting_items(connection, meeting)}
    for rated in rated_items(connection, round_):
        item = open_.get(rated.id)
        for dimension in round_.instrument.dimensions:
            name = dimension.name
            given = [own[name] for own in rated.said.values()]
            if item is not None and name in item.dimensions:
                yield from _settled(item, rated, name, given)
            elif all_the_same([each.outcome for each in given]):
                last = max(given, key=lambda each: each.saved_at)
                outcome: Outcome = NotApplicable()
                if isinstance(last.outcome, Score):
                    outcome = Score(last.outcome.value)
                people = tuple(sorted(rated.said))
                yield ReconciledLabel(
                    rated.item, rated.system, name, outcome, "agreed", people, "", last.saved_at,
                    1, probability_of(given), last.fingerprint,
                )  # fmt: skip


def _settled(
    item: MeetingItem, rated: RatedItem, name: str, given: Sequence[RatedAnswer]
) -> Iterator[ReconciledLabel]:
    settled = item.settled
    if settled is None:
        return
    by_raters = item.state == "reconciled"
    people = tuple(sorted(item.participants)) if by_raters else (settled.person,)
    yield ReconciledLabel(
        rated.item,
        rated.system,
        name,
        settled.outcomes[name],
        "reconciled" if by_raters else "adjudicated",
        people,
        settled.said[name]["why"],
        settled.said_at,
        settled.version,
        probability_of(given),
        given[0].fingerprint,
    )


def probability_of(given: Sequence[RatedAnswer]) -> float | None:
    """That of the answer being drawn for review; None where it was to be rated in any case."""
    known = {each.probability for each in given}
    if None in known:
        return None
    if len(known) > 1:
        raise MedjuryError(
            f"{given[0].item}: its raters were given it with different probabilities, so its label has none; "
            "draw each case once, for all its raters"
        )
    return known.pop()
