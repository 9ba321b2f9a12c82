"""The rating table: ratings from anywhere, made ready once, so that every analysis reads the same truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake.cases import Criterion
from medjury.store.runs import ConsensusRule, DangerBy, GateRules, Manifest, Protocol, Records, ReportSettings
from medjury.tables._case_columns import found_columns
from medjury.tables._consensus import consensus_of, with_consensus
from medjury.tables._dimensions import Measured, Numbers
from medjury.tables._grid import Grid, RepeatRule, count_unscored, joined, make_grids
from medjury.tables._jury import JuryRule, jury_votes
from medjury.tables._marks import CRITERION, TOTAL, case_column
from medjury.tables._pairs import SHOWN_FIRST
from medjury.tables._probability import refuse_unequal, unequal_raters, weights_of
from medjury.tables._roles import MACHINES, Names, People, Roles, among_themselves, assign

if TYPE_CHECKING:
    import polars


# Whose word makes an answer dangerous, where several raters scored it.
_WHOSE_DANGER: dict[DangerBy, str] = {
    "any": "any clinician",
    "mean": "clinicians by their mean",
    "majority": "most clinicians",
}


def danger_reference(scores: NDArray[np.float64], by: DangerBy) -> NDArray[np.float64]:
    """One score of several raters (columns, NaN is no score) by which an item (row) is dangerous, low being
    dangerous: the lowest (`any` of them saw danger), their `mean`, or the upper median, which is low only
    where a `majority` of those who scored the item went that low.

    >>> two = np.array([[1.0, 4.0], [2.0, np.nan]])
    >>> [danger_reference(two, by).tolist() for by in ("any", "mean", "majority")]
    [[1.0, 2.0], [2.5, 2.0], [4.0, 2.0]]
    """
    ordered = np.sort(scores, axis=1)  # NaN last
    known = (~np.isnan(scores)).sum(axis=1)
    if by == "mean":
        return np.asarray(np.nansum(scores, axis=1) / np.where(known > 0, known, np.nan))
    place = np.zeros(len(scores), dtype=np.int64) if by == "any" else known // 2
    return np.asarray(ordered[np.arange(len(scores)), np.minimum(place, scores.shape[1] - 1)])


POOLED = "all"


@dataclass(frozen=True, slots=True, eq=False)
class RunDetails:
    """What is known of a run beside its ratings. `records` tell how ratings of several steps came about;
    `labels` has what is known of a case besides its scores, `profiles` who the raters are. `protocol` is that
    of ratings from no run folder: a run's is in its manifest."""

    manifest: Manifest | None = None
    folder: Path | None = None
    protocol: Protocol | None = None
    records: Records = field(default_factory=Records)
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lengths: Mapping[tuple[str, str], int] = field(default_factory=dict)  # of answers, in characters
    case_tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of cases with criteria
    judge_vendors: Mapping[str, str] = field(default_factory=dict)
    system_vendors: Mapping[str, str] = field(default_factory=dict)
    name: str = ""  # what ratings that come from no run are called


@dataclass(frozen=True, eq=False)
class RatingTable:
    """Clean rows with all that a run folder, an instrument or the caller says about them.

    `rows` are those of held-out cases: whatever served development (tuning, examples, calibration) is in
    `development_rows` and counts in no analysis. The unit is one system's answer to one item; `cluster` names
    its patient, or the item where no patient is known. `raters` maps every rater to its kind ("" where none
    is named). `seats` names who rated each dimension at all: the judges who have a seat in its jury.

    What a study states of its people and juries is every analysis' default: `people` names the yardstick and
    the other parts, `juries` who votes in which (none: the judges are compared side by side), and `run` is
    what its folder holds beside the ratings.

    `weighted` is what an analysis says that weights people's ratings by the probability of their answers; to
    all others the scores of people whose answers were drawn with `unequal` probabilities are refused.
    """

    rows: polars.DataFrame
    development_rows: polars.DataFrame
    dimensions: tuple[Measured, ...]
    raters: Mapping[str, str]
    seats: Mapping[str, frozenset[str]] = field(default_factory=dict)
    people: People = field(default_factory=People)
    jury_rule: JuryRule = field(default_factory=JuryRule)
    jury_asked: bool = False
    juries: tuple[JuryRule, ...] = ()
    rules: GateRules = field(default_factory=GateRules)
    settings: ReportSettings = field(default_factory=ReportSettings)
    instrument: Instrument | None = None
    criteria: Mapping[str, tuple[Criterion, ...]] = field(
        default_factory=dict
    )  # by case, where each has its own
    repeats: RepeatRule = "mean"
    weighted: bool = False
    run: RunDetails = field(default_factory=RunDetails)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def everything(self) -> polars.DataFrame:
        """Held-out and development rows together: for what a run did, not for what it proves."""
        import polars as pl

        return pl.concat([self.rows, self.development_rows])

    @property
    def counted(self) -> tuple[Measured, ...]:
        """The dimensions that raters gave themselves: what follows from them is no further evidence."""
        return tuple(each for each in self.dimensions if not each.derived)

    @property
    def rank_by(self) -> tuple[str, ...] | None:
        """What systems are ranked by: what the study names or, of marks with points, the score that they add up to;
        None for every dimension that raters gave themselves."""
        totals = tuple(each.name for each in self.dimensions if each.name == TOTAL and each.derived)
        return self.settings.rank_by or (totals if totals and self.criteria else None)

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
    def default_reference(self) -> tuple[str, ...]:
        """Whose scores are the yardstick where nobody else is named."""
        free = tuple(name for name in self.clinicians if name not in self.people.aside)
        return self.people.reference or free

    @property
    def stored_juries(self) -> tuple[str, ...]:
        """The raters whose stored rows are the juries': the run's own in order, else the first of that
        kind."""
        found = self.of_kind("jury")
        own = tuple(each.name for each in (*self.juries, self.jury_rule) if each.name in found)
        return tuple(dict.fromkeys(own)) or found[:1]

    def members_of(self, jury: str) -> tuple[str, ...]:
        """The judges who vote in a jury of the run, where it names them."""
        return next((each.members for each in self.juries if each.name == jury), ())

    @property
    def stored_jury(self) -> str:
        """The first of them."""
        return next(iter(self.stored_juries), "")

    @cached_property
    def unequal(self) -> dict[str, tuple[float, float]]:
        """The people whose answers were drawn with different probabilities: the least and the greatest."""
        return unequal_raters(self.rows, self.raters)

    @property
    def with_weights(self) -> RatingTable:
        """The table as an analysis takes it that weights by the probabilities."""
        return self if self.weighted or not self.unequal else replace(self, weighted=True)

    def weights(self, grid: Grid, raters: Sequence[str]) -> Numbers | None:
        """One over the probability of every unit that one of these raters has a row on, where an analysis
        weights; None where all are the same."""
        return weights_of(grid, raters) if self.weighted else None

    def _refuse_unweighted(self, raters: Sequence[str]) -> None:
        if not self.weighted:
            refuse_unequal(self.unequal, raters)

    @property
    def pairs(self) -> bool:
        """Whether two answers were compared: then a `system` is a pair (see `_pairs.py`)."""
        return SHOWN_FIRST in self.rows.columns

    @cached_property
    def left_aside(self) -> int:
        """How many cases served development and are left out."""
        aside = self.development_rows
        return aside[case_column(aside)].n_unique() if aside.height else 0

    @cached_property
    def by_patient(self) -> bool:
        """Whether some patient has several items, so that patients are resampled and not items."""
        return self.rows["cluster"].n_unique() < self.rows[case_column(self.rows)].n_unique()

    @cached_property
    def case_columns(self) -> tuple[str, ...]:
        """Which columns describe the case or the answer: whoever rated an answer, they have one value on it, and
        two or more over all. Text has at most 40 values, each shared by two or more patients or cases on average,
        unless it has a usual name (specialty, sex) or the rules name it; numbers may have more.

        >>> import polars as pl
        >>> from medjury.tables import rating_table
        >>> rows = {"item": ["1", "1", "2", "2"], "rater": ["a", "b"] * 2, "dimension": "accuracy", "score": 4}
        >>> rows |= {"sex": ["f", "f", "m", "m"], "specialty": ["surgery", "cardiology"] * 2}
        >>> rating_table(pl.DataFrame(rows)).case_columns
        ('sex',)
        """
        return found_columns(self.rows, self.rules.parts or ())[0]

    @cached_property
    def unscored(self) -> dict[str, dict[str, int]]:
        """`unscored[rater][reason]` counts held-out ratings without a score."""
        marked = CRITERION in self.rows.columns  # what follows from marks is no rating
        return count_unscored(self.rows.drop_nulls(CRITERION) if marked else self.rows)

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
        themselves: bool = False,
    ) -> Roles:
        """Who is compared with whom (see `assign`); `jury` forms one even of judges that are named. Where raters
        may be compared among `themselves`, clinicians alone are all the reference, with nobody beside them."""
        who = {"raters": raters, "reference": reference, "people": self.people, "aside": aside}
        if themselves and (alone := among_themselves(self.raters, **who)) is not None:  # type: ignore[arg-type]
            self._refuse_unweighted(alone.reference)
            return alone
        found = assign(
            {**self.raters, **({panel: "panel"} if (panel := self.people.panel) else {})},
            raters=raters,
            reference=reference,
            allowed=kinds,
            aside=aside,
            stored=() if self.jury_asked else self.stored_juries,
            people=self.people,
            members=self.jury_rule.members,
            side_by_side=() if self.juries or self.jury_asked else self._judges_in_order,
            asked=jury or self.jury_asked,
            need_reference=need_reference,
        )
        if self.jury_asked and not found.jurors:
            # Whoever names a jury whose rows are stored has one.
            own = [name for name in found.raters if self.raters[name] == "jury"]
            if not own:
                raise MedjuryError("a jury needs two or more compared raters that are judges.")
            found = replace(found, jury=own[0])
        self._refuse_unweighted((*found.reference, *found.raters))
        return found

    @property
    def _judges_in_order(self) -> tuple[str, ...]:
        """Those that the run's manifest names, in its order, then the others."""
        manifest = self.run.manifest
        judges = () if manifest is None else tuple(each.name for each in manifest.judges)
        return (*judges, *(name for name in self.judges if name not in judges))

    def grid(self, dimension: str, roles: Roles | None = None) -> Grid:
        """The units of one dimension with every rater's score, and the jury of `roles` where it is formed
        here."""
        grid = self._grids[self.dimension(dimension).name]
        votes = self.jury_votes(dimension, roles)
        self._refuse_unweighted(() if roles is None else (*roles.reference, *roles.raters))
        if roles is None or votes is None:
            return grid
        return grid.with_rater(roles.jury, *votes[:2])

    def pooled(self, dimensions: Sequence[Measured], roles: Roles | None = None) -> Grid:
        """All units of several dimensions in one grid. What follows from others is not for pooling: it would
        count their scores twice."""
        if not dimensions or any(each.derived for each in dimensions):
            names = [each.name for each in dimensions if each.derived]
            follow = "follows" if len(names) == 1 else "follow"
            said = f"{', '.join(names)} {follow} from other dimensions" if names else "no dimension is named"
            raise MedjuryError(f"nothing can be pooled: {said}; name dimensions that raters gave themselves.")
        scales = {None if each.grades is None else each.grades.values for each in dimensions}
        scale = dimensions[0].grades if len(scales) == 1 else None
        return joined(POOLED, [self.grid(each.name, roles) for each in dimensions], scale)

    def jury_votes(
        self, dimension: str, roles: Roles | None
    ) -> tuple[Numbers, NDArray[np.uint8], dict[str, int]] | None:
        """The jury that `roles` forms here: its score and state on every unit of a dimension, and how many units it
        left unscored, by reason; None where it forms none."""
        if roles is None or not roles.jurors:
            return None
        seated = [name for name in roles.jurors if name in self.seats.get(dimension, ())]
        return jury_votes(self._grids[dimension], seated, self.jury_rule)

    def rule_on(self, dimension: str, rule: ConsensusRule | None = None) -> ConsensusRule:
        """How scores of several raters become one on a dimension. A composite's scores are means of grades,
        on which no majority need agree: its consensus is their median."""
        rule = rule or self.people.consensus
        composite = any(each.name == dimension and each.weights for each in self.dimensions)
        return "median" if rule == "majority" and composite else rule

    def consensus_scores(
        self,
        grid: Grid,
        raters: Sequence[str],
        *,
        rule: ConsensusRule | None = None,
        adjudicator: str | None = None,
    ) -> Numbers:
        """One score of several raters on every unit, by the run's rule or the one that is asked for; the own
        scores of a single one, NaN where there is none."""
        self._refuse_unweighted(raters)
        if not raters:
            return np.full(len(grid.items), np.nan)
        if len(raters) == 1:
            return grid.scores[raters[0]]
        members = np.column_stack([grid.scores[name] for name in raters])
        wanted = self.rule_on(grid.dimension, rule)
        settles = (adjudicator or self.people.adjudicator) if wanted == "adjudicated" else ""
        if settles in raters:
            raise MedjuryError(
                f"{settles!r} settles what the reference's raters say and cannot be one of them; name the raters "
                "without the adjudicator (reference=RATER), or the adjudicator alone."
            )
        return consensus_of(members, wanted, grid.scores[settles] if settles else None)

    def reference_scores(self, grid: Grid, reference: Sequence[str] | None = None) -> Numbers:
        """The one score of the reference raters (by default the run's) on every unit, by the run's consensus
        rule; NaN where there is none."""
        return self.consensus_scores(grid, self.default_reference if reference is None else reference)

    def danger_word(self, grid: Grid, dimension: Measured, reference: Sequence[str]) -> Numbers:
        """The reference raters' score by which the rules call a unit dangerous, low being dangerous. Where an
        adjudicator settles, it is the settled one."""
        self._refuse_unweighted(reference)
        if not reference:
            return np.full(len(grid.items), np.nan)
        if self.people.consensus == "adjudicated" and len(reference) > 1:
            return dimension.oriented(self.reference_scores(grid, reference))
        scores = np.column_stack([grid.scores[name] for name in reference])
        return danger_reference(dimension.oriented(scores), self.rules.danger_by)

    def whose_danger(self, reference: Sequence[str]) -> str:
        """Whose word that is, for a reader."""
        settled = self.people.consensus == "adjudicated" and len(reference) > 1
        return "the adjudicated label" if settled else _WHOSE_DANGER[self.rules.danger_by]

    def resamples(self, asked: int | None) -> int:
        """How often to resample: what is asked for, else the run's own number, fewer for very large tables,
        whose intervals are narrow anyway."""
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
        made = make_grids(self.rows, scales, list(self.raters), repeats=self.repeats)
        return (
            made if not self.people.panel else {name: self._with_panel(grid) for name, grid in made.items()}
        )

    def _with_panel(self, grid: Grid) -> Grid:
        """The grid with the second panel's consensus as one more rater. Nobody settles what its members say:
        where the reference is adjudicated, theirs is the median."""
        rule = "median" if self.people.consensus == "adjudicated" else self.people.consensus
        scores = self.consensus_scores(grid, self.people.second_panel, rule=rule)
        return with_consensus(grid, self.people.panel, scores, self.people.second_panel)[0]
