"""The answers of a round that were drawn for review, held against the study: its answers, and its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medjury.analysis.calibration import QueueRow
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.statistics import counted
from medjury.studies import HashedCases, RatedRound


@dataclass(frozen=True)
class Drawn:
    """The cases that were drawn, and their rows of the queue by id and system."""

    cases: list[Case]
    rows: Mapping[tuple[str, str], QueueRow]
    warnings: tuple[str, ...] = ()


def answers_of(each: RatedRound) -> Drawn | None:
    """What was drawn for the round; None where it is rated whole. A queue of another study, or of texts that have
    changed since, is refused: its probabilities are those of other answers."""
    if each.queue is None:
        return None
    rows = {(row.item, row.system): row for row in each.queue}
    hashed, cases, seen = HashedCases(each.cases), [], set()
    for case in hashed:
        key = (case.id, case.system)
        seen.add(key)
        if key in rows and rows[key].drawn:
            cases.append(case)
    draw = f"the draw of the round {each.name!r}"
    if foreign := sorted(set(rows) - seen):
        item, system = foreign[0]
        answer = f"the case {item!r}" + (f" by {system!r}" if system else "")
        raise MedjuryError(
            f"{draw} names {answer}, which the case file lacks; draw from a run of this study "
            "(`medjury plan review`)"
        )
    if (data := each.queue[0].data) and data != hashed.hash:
        raise MedjuryError(
            f"{draw} was made for other cases: a text, a name or the order has changed since the run from which it "
            "was drawn. Put the case file back as it was, or run the study and draw again."
        )
    return Drawn(cases, rows, tuple(_warnings(each, draw, len(seen - set(rows)), bool(data))))


def _warnings(each: RatedRound, draw: str, never: int, is_held: bool) -> list[str]:
    told = []
    if never:
        told.append(
            f"{each.name}: {counted(never, 'answer')} of the study could not be drawn, because the jury did not "
            "judge them or they served development. What the review finds does not hold for them."
        )
    if not is_held:
        told.append(
            f"{draw} was made from scores that belong to no run, so nobody can tell whether the texts are still "
            "the same. Draw from the run folder where there is one."
        )
    return told
