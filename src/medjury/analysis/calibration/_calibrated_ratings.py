"""Ratings that a calibration made: rows like any others, beside the original ones where that is wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.analysis.calibration._composite import Unit, derived_values, units_of
from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._part import Marks, Part
from medjury.analysis.calibration._saved import AppliedCalibration, SavedCalibration
from medjury.analysis.calibration._written import as_json, write_frame
from medjury.instruments import Instrument, Reason
from medjury.statistics import Result
from medjury.store.ratings import RaterKind, Rating, rating_frame, write_ratings
from medjury.tables import CALIBRATED, Grid

if TYPE_CHECKING:
    import polars

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

    def shown_rows(self) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in row.as_dict().items() if name != "judge"} for row in self.rows
        ]

    def _beside(self, made: polars.DataFrame) -> polars.DataFrame:
        """Original and calibrated ratings in one plain table; what an earlier calibration made of the same raters
        gives way."""
        import polars as pl

        rows = self.originals.filter(~pl.col("rater").is_in(made["rater"].unique().to_list()))
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

    def of_part(self, part: Part, scores: Floats) -> Iterator[Rating]:
        rater = self.saved.rater
        yield from self.of_units(part, scores, part.asked(rater), part.not_applicable(rater))

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
