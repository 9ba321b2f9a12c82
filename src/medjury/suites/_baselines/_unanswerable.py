"""Gold answers that cannot be reached from the input: what leaving them out does to scores and ranks.

Which they are a judge says, with the instrument `answerable`: 1 or 0 for an item, nothing where it could not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted


@dataclass(frozen=True, slots=True)
class CandidateEffect:
    """One candidate's mean score and rank over all items, and over those that can be answered."""

    candidate: str
    score: float
    kept_score: float
    left_out_score: float | None  # on the items that cannot be answered
    rank: int
    kept_rank: int


@dataclass(frozen=True, slots=True)
class UnanswerableEffect:
    """What changes without the items whose gold answer a judge finds out of reach."""

    candidates: tuple[CandidateEffect, ...]
    items: int
    left_out: int
    not_judged: int  # kept: nobody said that they cannot be answered

    @property
    def moved(self) -> tuple[str, ...]:
        """The candidates whose rank changes."""
        return tuple(each.candidate for each in self.candidates if each.rank != each.kept_rank)

    def text(self) -> str:
        """One sentence for the page."""
        of_all = f"{self.left_out} of {counted(self.items, 'item')}"
        said = f"{of_all} cannot be answered from their input by the judge's word"
        judged = f" ({self.not_judged} not judged)" if self.not_judged else ""
        ranks = f"the ranks of {', '.join(self.moved)} change" if self.moved else "no rank changes"
        return f"{said}{judged}; without them {ranks}"


def effect_of_unanswerable(
    scores: Mapping[str, Mapping[str, float]],
    answerable: Mapping[str, float | None],
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> UnanswerableEffect:
    """Scores are candidate -> item -> score from 0 to 1, `weights` those of a micro average. Only items that every
    candidate has are compared; equal means share the better rank."""
    if not scores:
        raise MedjuryError("no candidate has scores to compare")
    shared = set.intersection(*(set(each) for each in scores.values()))
    gone = {item for item in shared if answerable.get(item) == 0}
    kept = shared - gone
    if not kept:
        raise MedjuryError("no item is left that every candidate has and that can be answered")
    weighing = weights or {}
    means = {name: _mean(each, shared, weighing.get(name)) for name, each in scores.items()}
    kept_means = {name: _mean(each, kept, weighing.get(name)) for name, each in scores.items()}
    candidates = tuple(
        CandidateEffect(
            name,
            means[name],
            kept_means[name],
            _mean(scores[name], gone, weighing.get(name)) if gone else None,
            _rank(means, name),
            _rank(kept_means, name),
        )
        for name in sorted(scores, key=lambda each: (-means[each], each))
    )
    unknown = sum(answerable.get(item) is None for item in shared)
    return UnanswerableEffect(candidates, len(shared), len(gone), unknown)


def _mean(scores: Mapping[str, float], items: set[str], weights: Mapping[str, float] | None) -> float:
    own = {item: 1.0 if weights is None else weights[item] for item in sorted(items)}
    return sum(scores[item] * weight for item, weight in own.items()) / sum(own.values())


def _rank(means: Mapping[str, float], name: str) -> int:
    return 1 + sum(value > means[name] + 1e-12 for value in means.values())
