"""What is ranked: whose scores, of which dimensions, brought to one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.ranking._common_scale import AS_GIVEN, CommonScale, common_scale
from medjury.analysis.ranking._composite import composite_of, weighty
from medjury.analysis.ranking._rating_scores import (
    labelled_scores,
    ranked_answers,
    rating_scores,
    scored_dimensions,
)
from medjury.analysis.ranking._scores import Missing, SystemScores
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite
from medjury.tables import SCORED, UNSCORED, Grid, Names, RatingTable

if TYPE_CHECKING:
    import polars

    from medjury.analysis.calibration import CalibrationStudy


@dataclass(frozen=True, eq=False)
class Ranked:
    """The `raters` rank: the jury, or those there are without one; the `judges` are behind it. The `reference`
    gives an order to compare with."""

    table: RatingTable
    raters: tuple[str, ...]
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    grids: Mapping[str, Grid]
    scale: CommonScale
    composites: tuple[Composite, ...]
    missing: Missing

    def scores(self, raters: Sequence[str]) -> SystemScores:
        """What a ranking by these raters rests on."""
        if not self.table.systems:
            raise MedjuryError("a ranking needs to know who answered: the ratings have no column `system`.")
        if tuple(raters) not in self._read:
            made = rating_scores(self._answers, raters, missing=self.missing)
            unit = "patients" if self.table.by_patient else "cases"
            self._read[tuple(raters)] = replace(made, resampled=unit, scale=self.scale.words)
        return self._read[tuple(raters)]

    def on_labelled(self, raters: Sequence[str]) -> SystemScores:
        """The same on the answers that the reference scored, systems unpaired: see `labelled_scores`."""
        return labelled_scores(self._answers, raters, self.reference, missing=self.missing)

    @cached_property
    def _read(self) -> dict[tuple[str, ...], SystemScores]:
        return {}

    @cached_property
    def _answers(self) -> polars.DataFrame:
        everybody = list(dict.fromkeys((*self.raters, *self.judges, *self.reference)))
        return ranked_answers(self.grids.values(), everybody, self.table.rows, self.scale, self.composites)

    @property
    def calibrated_by(self) -> list[str]:
        """What is to be calibrated: what is ranked, or the parts of it that were graded. A composite is made of
        calibrated parts, as everywhere, and is calibrated itself only where a part of it is not there."""
        from medjury.analysis.calibration import parts_behind

        instrument, present = self.table.instrument, {each.name for each in self.table.dimensions}
        behind = {
            name: [name] if instrument is None else parts_behind(instrument, name) for name in self.grids
        }
        found = [parts if present.issuperset(parts) else [name] for name, parts in behind.items()]
        return list(dict.fromkeys(part for parts in found for part in parts))

    def calibrated(self, study: CalibrationStudy) -> Ranked:
        """The same with calibrated scores, each by a map that never saw its case."""
        from medjury.analysis.calibration import followed_scores

        own = {(each.rater, each.dimension): each.pairs.calibrated for each in study.calibrations}
        held = {each.dimension: each.part.grid for each in study.calibrations}
        followed = followed_scores(self.table.instrument, study.calibrations) if self.table.instrument else {}
        grids: dict[str, Grid] = {}
        for name, ranked in self.grids.items():
            for rater in dict.fromkeys(rater for rater, made in (*own, *followed) if made == name):
                grid = grids.get(name, held.get(name, ranked))
                units = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
                known = followed.get((rater, name), {})
                scores = own.get((rater, name), np.array([known.get(unit, np.nan) for unit in units]))
                states = grid.states[rater]
                lost = np.isnan(scores) & (states == SCORED)
                states = np.where(lost, UNSCORED, states).astype(np.uint8)
                grids[name] = grid.with_rater(rater, scores, states)
        given = self.scale.words
        words = "scores calibrated to the reference" if given == AS_GIVEN else f"{given}, calibrated"
        return replace(self, grids=grids, scale=replace(self.scale, words=words))


def ranked_by(
    table: RatingTable,
    raters: Names | None,
    reference: Names | None,
    dimensions: Names | None,
    composites: Sequence[Composite | str],
    lower_is_better: Sequence[str],
    missing: Missing,
) -> Ranked:
    """Who ranks, on what: see `rank`."""
    roles = table.roles(raters, reference, jury=True, need_reference=False)
    whose = (roles.jury,) if roles.jury else roles.raters
    stored = tuple(name for name in roles.raters if table.raters.get(name) == "judge")
    judges = roles.jurors or stored or (whose if len(whose) > 1 else ())
    made = tuple(composite_of(each) if isinstance(each, str) else each for each in composites)
    if made and dimensions is not None:
        raise MedjuryError("composites are ranked alone: name dimensions or composites, not both.")
    chosen = table.chosen(
        list(dict.fromkeys(part for each in made for part in weighty(each))) if made else dimensions,
        derived=False,
    )
    grids = {each.name: table.grid(each.name, roles) for each in chosen}
    if dimensions is None and not made:
        # Nobody named a dimension that those who rank never scored.
        scored = scored_dimensions(grids, whose)
        chosen = tuple(each for each in chosen if each.name in scored)
        grids = {name: grids[name] for name in scored}
    return Ranked(
        table,
        whose,
        tuple(name for name in judges if (name,) != whose),
        tuple(name for name in roles.reference if name not in whose),
        grids,
        common_scale(chosen, lower_is_better),
        made,
        missing,
    )
