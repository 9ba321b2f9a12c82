"""Applying saved calibrations to a rating table: what they make of its scores, and how well they hold there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.calibration._cross_fit import OutOfFold
from medjury.analysis.calibration._maps import check_confidence
from medjury.analysis.calibration._part import Marks, Part, Unit, instruments_of, part_of, units_of
from medjury.analysis.calibration._saved import AppliedCalibration, SavedCalibration
from medjury.analysis.calibration._study import JURY_OF_CALIBRATED
from medjury.analysis.calibration._study_result import CalibrationStudy, ComparedScores, derived_values
from medjury.analysis.calibration._written import as_json, write_frame
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Reason
from medjury.statistics import Floats, Result
from medjury.store.ratings import RaterKind, Rating, rating_frame, write_ratings
from medjury.tables import (
    CALIBRATED,
    Grades,
    Grid,
    Names,
    RatingTable,
    add_jury,
    case_column,
    mean_of_raters,
    rating_table,
)

if TYPE_CHECKING:
    import polars


# Ratings that a calibration made: rows like any others, beside the original ones where that is wanted.

_PLAIN = (
    "item", "patient", "system", "rater", "rater_kind", "instrument", "dimension", "repeat", "score", "status",
    "reason",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class CalibratedRatings(Result[AppliedCalibration]):
    """One rating per rater, unit and dimension, the rater's name ending in `:calibrated`; composites are
    recomputed from calibrated dimensions. `unused` lists calibrations whose judge or dimension the table does not
    have. `originals` are the rows of the table; `n_written` counts what `save` put into `path`."""

    ratings: tuple[Rating, ...]
    rows: tuple[AppliedCalibration, ...]
    unused: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    originals: polars.DataFrame
    path: str = ""
    n_written: int = 0

    def save(self, path: str, *, with_originals: bool = False) -> CalibratedRatings:
        """Write the calibrated ratings, with the original ones in the same table where that is wanted."""
        made = rating_frame(self.ratings)
        count = (
            write_frame(self._beside(made), path, what="a table of ratings")
            if with_originals
            else write_ratings(made, path)
        )
        return replace(self, path=path, n_written=count)

    def to_json(self) -> str:
        return as_json(
            {
                "file": self.path,
                "ratings": self.n_written,
                "applied": [row.as_dict() for row in self.rows],
                "refused": [],
                "warnings": list(self.warnings),
            }
        )

    def text(self) -> str:
        wrote = f"\nWrote {self.n_written:,} ratings to {self.path}; calibrated raters end in `{CALIBRATED}`."
        return super().text() + (wrote if self.path else "")

    def _beside(self, made: polars.DataFrame) -> polars.DataFrame:
        """Original and calibrated ratings in one plain table; what an earlier calibration made of the same raters
        gives way."""
        import polars as pl

        rows = self.originals.filter(~pl.col("rater").is_in(made["rater"].unique().to_list()))
        if case_column(rows) != "item":  # whose marks are of one case is known from the file alone
            rows = rows.with_columns(
                pl.coalesce("patient", "case " + pl.col(case_column(rows))).alias("patient")
            )
        columns = [name for name in _PLAIN if name in rows.columns and rows[name].null_count() < rows.height]
        calibrated = made.select(name for name in columns if name in made.columns)
        if "patient" in columns:
            patients = rows.select("item", "patient").unique()
            calibrated = calibrated.join(patients, on="item", how="left", maintain_order="left")
        return pl.concat([rows.select(columns), calibrated.select(columns)], how="vertical_relaxed")


@dataclass(frozen=True, slots=True)
class RatingMaker:
    """Makes the ratings of one calibrated rater, under the name of the one that was calibrated unless it has a
    `name` of its own."""

    saved: SavedCalibration
    kind: RaterKind
    when: str
    name: str = ""
    missing: str = "the judge gave no score to calibrate"

    def of_units(self, part: Part, scores: Floats, asked: Marks, skipped: Marks) -> Iterator[Rating]:
        units = units_of(part.grid)
        for place in np.flatnonzero(asked).tolist():
            score = None if np.isnan(scores[place]) else float(scores[place])
            yield self._rating(units[place], part.dimension, score, bool(skipped[place]))

    def derived(
        self, instrument: Instrument, known: Mapping[str, tuple[Grid, Floats, Marks]]
    ) -> Iterator[Rating]:
        units = list(dict.fromkeys(unit for grid, _, _ in known.values() for unit in units_of(grid)))
        for name, scores in derived_values(instrument, units, known).items():
            for unit, score in zip(units, scores.tolist(), strict=True):
                if score == score:  # not NaN
                    yield self._rating(unit, name, score)

    def _rating(self, unit: Unit, dimension: str, score: float | None, skipped: bool = False) -> Rating:
        rater = self.name or self.saved.rater + CALIBRATED
        key = "\0".join((*unit, rater, dimension, self.saved.data_sha256))
        missing = score is None and not skipped
        return Rating(
            item=unit[0],
            system=unit[1],
            rater=rater,
            rater_kind=self.kind,
            instrument=self.saved.instrument,
            dimension=dimension,
            repeat=0,
            score=score,
            status="scored" if score is not None else "not_applicable" if skipped else "unscored",
            reason=Reason.MISSING if missing else None,
            explanation=self.missing if missing else "",
            seconds=0.0,
            tokens_in=0,
            tokens_out=0,
            cost=0.0,
            created_at=self.when,
            key=hashlib.sha256(key.encode()).hexdigest(),
            calls=0,
        )


# The jury of calibrated jurors: each juror's own map first, and one score of the calibrated ones after.

Applied = Mapping[str, Mapping[str, tuple[Grid, Floats, Marks]]]


def jury_of_calibrated(
    table: RatingTable, parts: Sequence[tuple[SavedCalibration, Part]], applied: Applied
) -> tuple[dict[str, tuple[Part, Floats, Marks, Marks]], list[str]]:
    """By dimension: the part, the scores, where a juror was asked and where the dimension applies to none of them;
    and what to tell the reader. As in `calibrate report`, a unit that lacks the score of a juror has none: where
    jurors vary from unit to unit, each juror's map cannot put right what the change does to the mean."""
    rule = table.jury_rule.rule
    if rule == "majority":
        raise MedjuryError(
            "calibrated scores are not grades, so there are no equal votes to count; form the jury of "
            "calibrated jurors by --jury mean or --jury median"
        )
    formed = {member for each, _ in parts if len(each.members) > 1 for member in each.members}
    judges = {each.rater for each, _ in parts if table.raters.get(each.rater) not in ("jury", "metric", None)}
    jurors = sorted(formed or judges)
    found: dict[str, tuple[Part, Floats, Marks, Marks]] = {}
    notes: list[str] = []
    for dimension, part in {each.dimension: part for each, part in parts}.items():
        missing = [name for name in jurors if dimension not in applied.get(name, {})]
        if len(jurors) < 2 or missing:
            why = f"no calibration of {', '.join(missing)}" if missing else "it takes two calibrated jurors"
            notes.append(f"dimension {dimension!r} has no {JURY_OF_CALIBRATED}: {why}")
            continue
        scores = np.column_stack([applied[name][dimension][1] for name in jurors])
        skipped = np.column_stack([applied[name][dimension][2] for name in jurors]).all(axis=1)
        asked = np.column_stack([part.asked(name) for name in jurors]).any(axis=1)
        complete = ~np.isnan(scores).any(axis=1)
        joined = np.full(len(scores), np.nan)
        joined[complete] = (
            mean_of_raters(scores[complete]) if rule == "mean" else np.median(scores[complete], axis=1)
        )
        if left := int((asked & ~complete & ~skipped).sum()):
            notes.append(
                f"dimension {dimension!r}: {left} units lack the score of a juror; {JURY_OF_CALIBRATED} has none"
            )
        found[dimension] = (part, joined, np.asarray(asked), np.asarray(skipped))
    return found, notes


def apply_calibrations(
    table: object,
    saved: Sequence[SavedCalibration],
    *,
    raters: Names | None = None,
    dimensions: Names | None = None,
    with_jury: bool = False,
) -> CalibratedRatings:
    """Calibrate a table with a saved file. A case that taught a calibration gets the map fitted without it.

    Another instrument, or another version of it, is refused. A score on the scale but beyond what the fit saw is
    calibrated, counted and warned of. A jury is formed anew from its judges, by the rule it was fitted with;
    `with_jury` adds the jury of the calibrated jurors, `jury_of_calibrated`, by the table's rule. Cases that served
    development are calibrated like all others: nothing is concluded from them here.
    """
    table = rating_table(table)
    asked = chosen_calibrations(saved, raters, dimensions)
    every, parts = _parts(table, asked, (), everything=True)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    made: list[Rating] = []
    rows = []
    makers: dict[str, RatingMaker] = {}
    known: dict[str, dict[str, tuple[Grid, Floats, Marks]]] = {}
    for each, part in parts:
        jury = len(each.members) > 1 or table.raters[each.rater] == "jury"
        maker = makers.setdefault(each.rater, RatingMaker(each, "jury" if jury else "judge", when))
        applied = each.apply(part.scores(each.rater), cases=part.cases)
        rows.append(applied)
        skipped = part.not_applicable(each.rater)
        known.setdefault(each.rater, {})[each.dimension] = (part.grid, applied.scores, skipped)
        made += maker.of_units(part, applied.scores, part.asked(each.rater), skipped)
    notes: list[str] = []
    if with_jury:
        seated, notes = jury_of_calibrated(table, parts, known)
        if seated:
            maker = makers[JURY_OF_CALIBRATED] = RatingMaker(
                parts[0][0], "jury", when, JURY_OF_CALIBRATED, "a juror gave no score to calibrate"
            )
        for dimension, (part, scores, asked_units, skipped) in seated.items():
            known.setdefault(JURY_OF_CALIBRATED, {})[dimension] = (part.grid, scores, skipped)
            made += maker.of_units(part, scores, asked_units, skipped)
    if every.instrument is not None and not every.instrument.by_case:  # a score follows from marks and points
        for rater, maker in makers.items():
            made += maker.derived(every.instrument, known[rater])
    unused = [each for each in asked if all(each is not one for one, _ in parts)]
    warnings = [f"not in the ratings: {each.rater}, {each.dimension}" for each in unused]
    warnings += [
        f"{row.rater}, {row.dimension}: {row.n_outside} scores lie beyond the range that the calibration was "
        "fitted on"
        for row in rows
        if row.n_outside
    ]
    return CalibratedRatings(
        tuple(made),
        tuple(rows),
        tuple((each.rater, each.dimension) for each in unused),
        (*every.warnings, *warnings, *notes),
        table.everything,
    )


def evaluate_calibrations(
    table: object,
    saved: Sequence[SavedCalibration],
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> CalibrationStudy:
    """What a saved file does on a labelled table: how well does last year's calibration hold? Cases that taught it
    are calibrated by the maps fitted without them."""
    table = rating_table(table)
    check_confidence(confidence)
    labels = table.roles(None, reference).reference
    table, parts = _parts(table, chosen_calibrations(saved, raters, dimensions), labels)
    found = []
    for each, part in parts:
        scores = part.scores(each.rater)
        pairs = OutOfFold(
            scores,
            each.apply(scores, cases=part.cases).scores,
            part.labels,
            part.cases,
            each.fold_numbers(part.cases),
            np.zeros(len(scores), dtype=bool),
            f"{each.final.method}, fitted {each.created_at}",
        )
        found.append(ComparedScores(each.rater, each.dimension, part.grades, pairs))
    return CalibrationStudy(
        (),
        tuple(found),
        (),
        table.warnings,
        labels,
        table.jury_rule,
        confidence,
        table.resamples(resamples),
        table.seed(seed),
    )


def chosen_calibrations(
    saved: Sequence[SavedCalibration], raters: Names | None, dimensions: Names | None
) -> list[SavedCalibration]:
    """The calibrations that are asked for."""
    wanted_raters, wanted_dimensions = (
        (names,) if isinstance(names, str) else names for names in (raters, dimensions)
    )
    found = [
        each
        for each in saved
        if (wanted_raters is None or each.rater in wanted_raters)
        and (wanted_dimensions is None or each.dimension in wanted_dimensions)
    ]
    if not found:
        known = ", ".join(f"{each.rater} on {each.dimension}" for each in saved)
        raise MedjuryError(f"the file holds no such calibration; it has {known}")
    return found


def _parts(
    table: RatingTable,
    saved: Sequence[SavedCalibration],
    reference: Sequence[str],
    *,
    everything: bool = False,
) -> tuple[RatingTable, list[tuple[SavedCalibration, Part]]]:
    """The table on the scale of the file, and those calibrations whose judges and dimension it has, each checked
    against its instrument."""
    names = {each.name for each in table.dimensions}
    usable = [each for each in saved if set(each.members) <= set(table.raters) and each.dimension in names]
    if not usable:
        raise MedjuryError(
            "no calibration of the file fits the ratings: it is for the judges "
            f"{', '.join(sorted({each.rater for each in saved}))} on "
            f"{', '.join(sorted({each.dimension for each in saved}))}."
        )
    judges = sorted({member for each in usable for member in each.members})
    labels = instruments_of(table, judges)
    for each in usable:
        each.check(instrument=labels.get(each.dimension, ""))
    table = rating_table(
        table, scale={each.dimension: Grades(each.grades, "calibration file") for each in usable}
    )
    if everything:
        table = table.where(table.everything)
    parts = []
    for each in usable:
        grid = table.grid(each.dimension)
        if len(each.members) > 1:
            grid = add_jury(grid, each.members, each.rule)
        parts.append((each, part_of(table, table.dimension(each.dimension), grid, reference)))
    return table, parts
