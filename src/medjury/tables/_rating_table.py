"""The rating table: ratings from anywhere, made ready once, so that every analysis reads the same truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.runs import GateRules, Manifest, Protocol, Records, ReportSettings
from medjury.tables._consensus import mean_of_raters
from medjury.tables._danger import danger_reference
from medjury.tables._grid import Grid, RepeatRule, count_unscored, joined, make_grids
from medjury.tables._jury import JuryRule, JuryVotes, jury_votes
from medjury.tables._measured import Measured, Numbers
from medjury.tables._roles import MACHINES, Names, Roles, assign

if TYPE_CHECKING:
    import polars

POOLED = "all"


@dataclass(frozen=True, eq=False)
class RatingTable:
    """Clean rows with all that a run folder, an instrument or the caller says about them.

    `rows` are those of held-out cases: whatever served development (tuning, examples, calibration) is in
    `development_rows` and counts in no analysis. The unit is one system's answer to one item; `cluster` names its
    patient, or the item where no patient is known. `raters` maps every rater to its kind ("" where none is named).
    `records` tell how ratings of several steps came about; only a run folder has any.
    `seats` names who rated each dimension at all: the judges who have a seat in its jury.
    """

    rows: polars.DataFrame
    development_rows: polars.DataFrame
    dimensions: tuple[Measured, ...]
    raters: Mapping[str, str]
    jury_rule: JuryRule = field(default_factory=JuryRule)
    jury_asked: bool = False
    rules: GateRules = field(default_factory=GateRules)
    settings: ReportSettings = field(default_factory=ReportSettings)
    judge_vendors: Mapping[str, str] = field(default_factory=dict)
    system_vendors: Mapping[str, str] = field(default_factory=dict)
    instrument: Instrument | None = None
    manifest: Manifest | None = None
    protocol: Protocol | None = None  # of ratings that come from no run folder; a run's is in its manifest
    folder: Path | None = None
    records: Records = field(default_factory=Records)
    repeats: RepeatRule = "mean"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seats: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def everything(self) -> polars.DataFrame:
        """Held-out and development rows together: for what a run did, not for what it proves."""
        import polars as pl

        return pl.concat([self.rows, self.development_rows])

    @property
    def counted(self) -> tuple[Measured, ...]:
        """The dimensions that raters gave themselves: what follows from them is no further evidence."""
        return tuple(each for each in self.dimensions if not each.derived)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.rows["system"].unique().to_list()) - {""}))

    @property
    def clinicians(self) -> tuple[str, ...]:
        return self.of_kind("clinician")

    @property
    def judges(self) -> tuple[str, ...]:
        return self.of_kind("judge")

    @property
    def stored_jury(self) -> str:
        """The rater whose stored rows are the jury's: the run's own, else the first of that kind."""
        found = self.of_kind("jury")
        return self.jury_rule.name if self.jury_rule.name in found else found[0] if found else ""

    @cached_property
    def left_aside(self) -> int:
        """How many cases served development and are left out."""
        return self.development_rows["item"].n_unique() if self.development_rows.height else 0

    @cached_property
    def by_patient(self) -> bool:
        """Whether some patient has several items, so that patients are resampled and not items."""
        return self.rows["cluster"].n_unique() < self.rows["item"].n_unique()

    @cached_property
    def unscored(self) -> dict[str, dict[str, int]]:
        """`unscored[rater][reason]` counts held-out ratings without a score."""
        return count_unscored(self.rows)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name, own in self.raters.items() if own == kind)

    def dimension(self, name: str) -> Measured:
        found = next((each for each in self.dimensions if each.name == name), None)
        if found is None:
            known = [each.name for each in self.dimensions]
            raise MedjuryError(f"there is no dimension {name!r} in the ratings; {nearest(name, known)}")
        return found

    def chosen(self, dimensions: Names | None = None, *, derived: bool = True) -> tuple[Measured, ...]:
        """The dimensions that are named, or all of them; without `derived`, only those that raters gave."""
        if dimensions is None:
            return self.dimensions if derived else self.counted
        listed = (dimensions,) if isinstance(dimensions, str) else tuple(dimensions)
        return tuple(self.dimension(name) for name in listed)

    def roles(
        self,
        raters: Names | None = None,
        reference: Names | None = None,
        *,
        kinds: Sequence[str] = MACHINES,
        aside: Sequence[str] = (),
        jury: bool = False,
        need_reference: bool = True,
    ) -> Roles:
        """Who is compared with whom (see `assign`); `jury` forms one even of judges that are named."""
        found = assign(
            self.raters,
            raters=raters,
            reference=reference,
            allowed=kinds,
            aside=aside,
            stored=self.stored_jury if not self.jury_asked else "",
            asked=jury or self.jury_asked,
            need_reference=need_reference,
        )
        if self.jury_asked and not found.jurors:
            # Whoever names a jury whose rows are stored has one.
            own = [name for name in found.raters if self.raters[name] == "jury"]
            if not own:
                raise MedjuryError("a jury needs two or more compared raters that are judges.")
            return replace(found, jury=own[0])
        return found

    def grid(self, dimension: str, roles: Roles | None = None) -> Grid:
        """The units of one dimension with every rater's score, and the jury of `roles` where it is formed here."""
        grid = self._grids[self.dimension(dimension).name]
        votes = self.jury_votes(dimension, roles)
        if roles is None or votes is None:
            return grid
        return grid.with_rater(roles.jury, votes.scores, votes.states)

    def pooled(self, dimensions: Sequence[Measured], roles: Roles | None = None) -> Grid:
        """All units of several dimensions in one grid. What follows from others is not for pooling: it would count
        their scores twice."""
        if not dimensions or any(each.derived for each in dimensions):
            names = [each.name for each in dimensions if each.derived]
            follow = "follows" if len(names) == 1 else "follow"
            said = f"{', '.join(names)} {follow} from other dimensions" if names else "no dimension is named"
            raise MedjuryError(f"nothing can be pooled: {said}; name dimensions that raters gave themselves.")
        scales = {None if each.grades is None else each.grades.values for each in dimensions}
        scale = dimensions[0].grades if len(scales) == 1 else None
        return joined(POOLED, [self.grid(each.name, roles) for each in dimensions], scale)

    def jury_votes(self, dimension: str, roles: Roles | None) -> JuryVotes | None:
        """The jury that `roles` forms here, on every unit of a dimension; None where it forms none."""
        if roles is None or not roles.jurors:
            return None
        seated = [name for name in roles.jurors if name in self.seats.get(dimension, ())]
        return jury_votes(self._grids[dimension], seated, self.jury_rule)

    def reference_mean(self, grid: Grid, reference: Sequence[str] | None = None) -> Numbers:
        """The mean of the reference raters (by default the clinicians) on every unit; NaN where none scored it."""
        names = self.clinicians if reference is None else reference
        if not names:
            return np.full(len(grid.items), np.nan)
        return mean_of_raters(np.column_stack([grid.scores[name] for name in names]))

    def danger_word(self, grid: Grid, dimension: Measured, reference: Sequence[str]) -> Numbers:
        """The reference raters' score by which the rules call a unit dangerous, low being dangerous."""
        if not reference:
            return np.full(len(grid.items), np.nan)
        scores = np.column_stack([grid.scores[name] for name in reference])
        return danger_reference(dimension.oriented(scores), self.rules.danger_by)

    def resamples(self, asked: int | None) -> int:
        """How often to resample: what is asked for, else the run's own number, fewer for very large tables, whose
        intervals are narrow anyway."""
        if asked is not None:
            return asked
        units = max((len(grid.items) for grid in self._grids.values()), default=0)
        stated = self.settings.resamples
        return stated if units <= 3000 else min(stated, 1000 if units <= 10_000 else 400)

    def seed(self, asked: int | None) -> int:
        return self.settings.seed if asked is None else asked

    def where(self, rows: polars.DataFrame) -> RatingTable:
        """The same table with some of its rows."""
        return replace(self, rows=rows)

    @cached_property
    def _grids(self) -> dict[str, Grid]:
        scales = {each.name: each.grades for each in self.dimensions}
        return make_grids(self.rows, scales, list(self.raters), repeats=self.repeats)
