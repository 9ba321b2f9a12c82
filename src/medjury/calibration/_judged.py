"""Rating tables as calibration sees them: for each dimension, every judge's score and the reference's, unit
by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.calibration._calibrator import Floats
from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.instruments import Instrument, list_instruments, load_instrument
from medjury.tables import (
    ABSENT,
    NOT_APPLICABLE,
    Grid,
    clean_rows,
    grades_from_instrument,
    grades_of,
    grids,
    mean_of_raters,
)

if TYPE_CHECKING:
    import polars

JURY = "jury"
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDimension:
    """One dimension of one instrument. Rows are units (one system's answer to one item); `cases` names the
    patient, or the item where no patient is named. NaN is missing.

    `jurors` are the judges that form the jury: all but those that are a jury's own rows already. `labels` is the
    mean of the reference raters who scored the unit. `asked` marks where a judge has a row at all,
    `not_applicable` where the judge said that the dimension does not apply, `label_not_applicable` where every
    reference rater with a row said so.
    """

    dimension: str
    instrument: str
    grades: tuple[float, ...]
    items: NDArray[np.str_]
    systems: NDArray[np.str_]
    cases: NDArray[np.object_]
    judges: Mapping[str, Floats]
    jurors: tuple[str, ...]
    labels: Floats
    asked: Mapping[str, Marks]
    not_applicable: Mapping[str, Marks]
    label_not_applicable: Marks

    @property
    def scale(self) -> tuple[float, float]:
        return self.grades[0], self.grades[-1]

    @property
    def jury(self) -> Floats:
        return self.scores_of(self.jurors)

    def scores_of(self, members: Sequence[str]) -> Floats:
        """A judge's scores, or the mean of several where more than half of them gave one; NaN elsewhere."""
        return jury_mean({name: self.judges[name] for name in members})

    def not_applicable_to(self, members: Sequence[str]) -> Marks:
        """Where the judge, or more than half of several, said that the dimension does not apply."""
        votes = np.sum([self.not_applicable[name] for name in members], axis=0)
        return np.asarray(2 * votes > len(members))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The dimensions of a rating table, the instrument where it is known, and what the reader must be
    told."""

    dimensions: tuple[JudgedDimension, ...]
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    instrument: Instrument | None
    unscored: Mapping[str, Mapping[str, int]]
    warnings: tuple[str, ...]


def read_judged(
    ratings: object,
    *,
    reference: Sequence[str] = (),
    judges: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    scale: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
    instrument: Instrument | None = None,
) -> Judged:
    """From a rating table (polars, or `Rating` objects) to scores and labels.

    `judges` defaults to every rater that is not a reference and, where the table says, neither a clinician
    nor a text metric; where it calls everybody a clinician, to everybody else. The scale is the one given,
    else the instrument's; where neither is known but every score lies from 1 to 5 (or is 0 or 1), that scale is
    assumed and a warning says so.
    """
    frame = clean_rows(ratings)
    raters = frame["rater"].unique().sort().to_list()
    for name in (*reference, *(judges or ())):
        if name not in raters:
            raise MedjuryError(f"there is no rater {name!r} in the ratings; {nearest(name, raters)}")
    chosen = tuple(judges) if judges is not None else _default_judges(frame, reference)
    both = sorted(set(chosen) & set(reference))
    if both:
        raise MedjuryError(f"{both[0]!r} is named as a judge and as the reference; it cannot be both.")
    if not chosen:
        raise MedjuryError("there is no judge in the ratings: every rater is a reference.")
    frame = _of_dimensions(frame, dimensions)
    label, known = _instrument_of(frame, chosen, instrument)
    names = frame["dimension"].unique().sort().to_list()
    scales, warnings = _scales(frame, names, scale, known, (*chosen, *reference))
    made = grids(frame, scale=scales)
    juries = set(frame.filter(frame["rater_kind"] == JURY)["rater"].to_list())
    jurors = tuple(name for name in chosen if name not in juries) or chosen
    parts = tuple(
        _part(grid, chosen, jurors, reference, label.get(grid.dimension, ""), scales[grid.dimension])
        for grid in made.grids
    )
    return Judged(parts, chosen, tuple(reference), known, made.unscored, (*warnings, *made.warnings))


def jury_mean(judges: Mapping[str, Floats]) -> Floats:
    """The mean of the judges' scores where more than half of them gave one; NaN elsewhere."""
    table = np.column_stack(list(judges.values()))
    enough = 2 * (~np.isnan(table)).sum(axis=1) > table.shape[1]
    return np.where(enough, mean_of_raters(table), np.nan)


def instrument_label(instrument: Instrument) -> str:
    return f"{instrument.name}@{instrument.version}"


def _part(
    grid: Grid,
    judges: Sequence[str],
    jurors: tuple[str, ...],
    reference: Sequence[str],
    instrument: str,
    grades: Sequence[float],
) -> JudgedDimension:
    nothing = np.full(len(grid.items), np.nan)
    references = [grid.scores.get(name, nothing) for name in reference]
    labels = mean_of_raters(np.column_stack(references)) if references else nothing
    return JudgedDimension(
        grid.dimension,
        instrument,
        tuple(float(grade) for grade in grades),
        grid.items,
        grid.systems,
        grid.clusters.astype(object),
        {name: grid.scores.get(name, nothing) for name in judges},
        jurors,
        labels,
        {name: np.asarray(_states(grid, name) != ABSENT) for name in judges},
        {name: _not_applicable(grid, (name,)) for name in judges},
        _not_applicable(grid, reference),
    )


def _not_applicable(grid: Grid, raters: Sequence[str]) -> Marks:
    """Where at least one of the raters said "not applicable" and none gave a score or failed to."""
    states = [_states(grid, name) for name in raters]
    if not states:
        return np.zeros(len(grid.items), dtype=bool)
    table = np.column_stack(states)
    said = (table == NOT_APPLICABLE).any(axis=1)
    return np.asarray(said & ((table == NOT_APPLICABLE) | (table == ABSENT)).all(axis=1))


def _states(grid: Grid, rater: str) -> NDArray[np.uint8]:
    """What became of the rater's rows; a rater without a row in this dimension is absent everywhere."""
    return grid.states.get(rater, np.full(len(grid.items), ABSENT, dtype=np.uint8))


def _default_judges(frame: polars.DataFrame, reference: Sequence[str]) -> tuple[str, ...]:
    import polars as pl

    others = frame.filter(~pl.col("rater").is_in(list(reference)))
    judges = others.filter(~pl.col("rater_kind").fill_null("").is_in(["clinician", "metric"]))
    # A table without a column of kinds is read as clinicians all: then everybody else is a judge.
    return tuple((judges if judges.height else others)["rater"].unique().sort().to_list())


def _of_dimensions(frame: polars.DataFrame, dimensions: Sequence[str] | None) -> polars.DataFrame:
    import polars as pl

    if dimensions is None:
        return frame
    known = frame["dimension"].unique().sort().to_list()
    for name in dimensions:
        if name not in known:
            raise MedjuryError(f"there is no dimension {name!r} in the ratings; {nearest(name, known)}")
    return frame.filter(pl.col("dimension").is_in(list(dimensions)))


def _instrument_of(
    frame: polars.DataFrame, judges: Sequence[str], given: Instrument | None
) -> tuple[dict[str, str], Instrument | None]:
    """The label (name@version) of each dimension's instrument, and the instrument itself where it can be
    had."""
    import polars as pl

    stated = (
        frame.filter(pl.col("rater").is_in(list(judges)) & (pl.col("instrument").fill_null("") != ""))
        .group_by("dimension")
        .agg(pl.col("instrument").unique().sort())
    )
    labels: dict[str, str] = {}
    for dimension, found in stated.iter_rows():
        if len(found) > 1:
            raise MedjuryError(
                f"dimension {dimension!r} was judged with {' and '.join(found)}; scores of two "
                "instruments cannot be calibrated together. Keep the ratings of one."
            )
        labels[dimension] = found[0]
    if given is not None:
        own = instrument_label(given)
        for dimension, label in labels.items():
            if label not in (own, given.name):
                raise MedjuryError(f"dimension {dimension!r} was judged with {label}, not with {own}.")
        return dict.fromkeys(frame["dimension"].unique().to_list(), own), given
    named = set(labels.values())
    if len(named) == 1:
        name, _, version = named.pop().partition("@")
        if name in list_instruments():
            built_in = load_instrument(name)
            if version in ("", built_in.version):
                return labels, built_in
    return labels, None


def _scales(
    frame: polars.DataFrame,
    names: Sequence[str],
    given: Sequence[float] | Mapping[str, Sequence[float]] | None,
    instrument: Instrument | None,
    raters: Sequence[str],
) -> tuple[dict[str, Sequence[float]], list[str]]:
    import polars as pl

    found: dict[str, Sequence[float]] = {}
    warnings = []
    for name in names:
        of_instrument = None if instrument is None else instrument_grades(instrument, name)
        stated = given.get(name) if isinstance(given, Mapping) else given
        if stated is not None:
            found[name] = grades_of(stated).values
        elif of_instrument is not None:
            found[name] = of_instrument
        else:
            here = frame.filter((pl.col("dimension") == name) & pl.col("rater").is_in(list(raters)))
            found[name] = _assumed(name, here["score"].drop_nulls().to_numpy())
            low, high = found[name][0], found[name][-1]
            warnings.append(
                f"dimension {name!r}: the scale {low:g} to {high:g} was assumed; give the scale to be sure"
            )
    return found, warnings


def instrument_grades(instrument: Instrument, dimension: str) -> tuple[float, ...] | None:
    """The grades of a dimension or reversed dimension; for a composite those of its parts, or the whole
    numbers they span where they differ. None for a name the instrument does not know."""
    own = grades_from_instrument(instrument, dimension)
    if own is not None:
        return own.values
    weights = next((each.weights for each in instrument.composites if each.name == dimension), {})
    parts = [grades_from_instrument(instrument, part) for part, weight in weights.items() if weight > 0]
    values = {part.values for part in parts if part is not None}
    if len(values) < 2:
        return values.pop() if values else None
    low, high = min(each[0] for each in values), max(each[-1] for each in values)
    return tuple(float(grade) for grade in range(int(np.floor(low)), int(np.ceil(high)) + 1))


def _assumed(name: str, scores: Floats) -> tuple[float, ...]:
    whole = np.array_equal(scores, np.rint(scores))
    if len(scores) and whole and set(np.unique(scores)) <= {0.0, 1.0}:
        return (0.0, 1.0)
    if len(scores) and scores.min() >= 1 and scores.max() <= 5:
        return (1.0, 2.0, 3.0, 4.0, 5.0)
    raise MedjuryError(
        f"dimension {name!r}: the scale is not known and cannot be told from the scores"
        + (f", which run from {scores.min():g} to {scores.max():g}" if len(scores) else "")
        + ". Give it with --scale LOW HIGH, or name the instrument."
    )
