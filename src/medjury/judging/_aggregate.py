"""Rows that follow from rows: the jury's rating from its judges' votes, and composites from dimensions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from medjury.errors import MedjuryError
from medjury.instruments import GRADES_ITSELF, Instrument, Outcome, derive, remarked
from medjury.judging._combine import Rule, combine
from medjury.judging._outcomes import outcome_columns
from medjury.ratings import RaterKind, Rating


def aggregate(
    votes: Iterable[Rating],
    *,
    judges: Sequence[str],
    repeats: int = 1,
    rule: Rule = "mean",
    quorum: int | None = None,
    name: str = "jury",
) -> Iterator[Rating]:
    """One jury row per case and dimension. First each judge's repeats become one vote, then the votes one row.

    Rows must come grouped by item and system, as the store gives them; every vote stays where it was.
    """
    for _, rows in groupby(votes, key=lambda row: (row.item, row.system)):
        dimensions: dict[str, dict[str, list[Rating]]] = {}
        for row in rows:
            if row.rater_kind == "judge" and row.rater in judges:
                dimensions.setdefault(row.dimension, {}).setdefault(row.rater, []).append(row)
        for dimension, by_judge in dimensions.items():
            for judge, ballot in by_judge.items():
                if len(ballot) > repeats:
                    raise MedjuryError(
                        f"{judge} has {len(ballot)} votes on {dimension} of {ballot[0].item!r} where {repeats} "
                        "were asked for: these are votes of different runs; give one run's votes"
                    )
            ballots = [
                ballot[0].outcome
                if repeats == 1
                else combine([row.outcome for row in ballot], seats=repeats, rule=rule)
                for ballot in by_judge.values()
            ]
            outcome = combine(ballots, seats=len(judges), rule=rule, quorum=quorum)
            sources = [row for ballot in by_judge.values() for row in ballot]
            yield _follow(sources, outcome, rater=name, kind="jury", dimension=dimension, repeat=0)


def derived(rows: Iterable[Rating], instrument: Instrument) -> Iterator[Rating]:
    """Reversed dimensions and composites of every rater, repeat by repeat. Rows come grouped as above."""
    if not instrument.reversed and not instrument.composites:
        return
    label = f"{instrument.name}@{instrument.version}"
    for _, group in groupby(rows, key=lambda row: (row.item, row.system)):
        raters: dict[tuple[str, RaterKind, int], dict[str, Rating]] = {}
        for row in group:
            if row.instrument == label:
                raters.setdefault((row.rater, row.rater_kind, row.repeat), {})[row.dimension] = row
        for (rater, kind, repeat), given in raters.items():
            outcomes: Mapping[str, Outcome] = {dimension: row.outcome for dimension, row in given.items()}
            for dimension, outcome in derive(instrument, outcomes).items():
                yield _follow(
                    list(given.values()), outcome, rater=rater, kind=kind, dimension=dimension, repeat=repeat
                )


def _follow(
    sources: Sequence[Rating], outcome: Outcome, *, rater: str, kind: RaterKind, dimension: str, repeat: int
) -> Rating:
    """A row that no call was made for: its key is the hash of the rows it follows from, its cost is 0. What nobody
    measured of a clinician stays unknown."""
    first = sources[0]
    told = [row for row in sources if row.explanation.startswith(GRADES_ITSELF)]
    score, status, reason, explanation = outcome_columns(
        remarked(outcome, f"{GRADES_ITSELF}.") if told else outcome
    )
    keys = sorted([row.key for row in sources])
    digest = hashlib.sha256("\0".join([rater, dimension, *keys]).encode())
    return Rating(
        item=first.item,
        system=first.system,
        rater=rater,
        rater_kind=kind,
        instrument=first.instrument,
        dimension=dimension,
        repeat=repeat,
        score=score,
        status=status,
        reason=reason,
        explanation=explanation,
        seconds=None if kind == "clinician" else 0.0,
        tokens_in=0,
        tokens_out=0,
        cost=0.0,
        created_at=max([row.created_at for row in sources]),
        key=digest.hexdigest(),
        calls=0,
    )
