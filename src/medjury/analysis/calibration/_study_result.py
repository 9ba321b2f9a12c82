"""What a calibration comes to: every rater on every dimension, before and after, on cases that taught no map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.analysis.calibration._before_after import (
    CalibrationRow,
    Reliability,
    before_after,
    calibration_curve,
    reliability,
    reliability_figure,
)
from medjury.analysis.calibration._cross_fit import CrossFitted, OutOfFold
from medjury.analysis.calibration._part import Marks, Part, Unit, units_of
from medjury.analysis.calibration._written import as_json
from medjury.foundation.screen import fits_one_screen
from medjury.instruments import Instrument, derive_columns
from medjury.statistics import Estimate, Floats, Printable, Result, Row, flat, shown, text_table
from medjury.tables import JURY, Grid, JuryRule

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Calibration curves of a study as rows: every rater's map, and what maps make of composites.

# As many bins as a composite's curve has points; its scores lie between grades.
_BINS = 8
FINAL = "final"


@dataclass(frozen=True, slots=True)
class CurvePoint(Row):
    """What `score` becomes: by the `final` map or by the one `without fold N`; of what follows from calibrated
    scores, the mean calibrated score of the `n` answers around it, of all or of one fold."""

    dimension: str
    rater: str
    map: str
    score: float
    calibrated: float
    n: int | None = None


def mapped_points(
    rater: str, dimension: str, fitted: CrossFitted, grades: Sequence[float]
) -> list[CurvePoint]:
    """The curve of a rater with a map of its own, at its grades, by the final map and by each fold's."""
    return [
        CurvePoint(dimension, rater, name, float(at), float(value))
        for name, values in calibration_curve(fitted, grades).items()
        for at, value in zip(grades, values, strict=True)
    ]


def followed_points(rater: str, dimension: str, pairs: OutOfFold) -> list[CurvePoint]:
    """The curve of what follows from calibrated scores (composites, reversed dimensions, the mean of calibrated
    judges): the mean calibrated score, each by a map that never saw its case, over equal shares of the answers
    ordered by the score as it was given; of all answers, and fold by fold."""
    known = ~np.isnan(pairs.scores) & ~np.isnan(pairs.calibrated)
    folds = sorted(set(pairs.fold[known & pairs.known].tolist()))
    parts = {FINAL: (known, _BINS)} | {
        f"fold {number + 1}": (known & pairs.known & (pairs.fold == number), _BINS // 2) for number in folds
    }
    points = []
    for name, (here, bins) in parts.items():
        if here.any():
            cases = np.asarray(pairs.cases)[here]
            found = reliability(
                pairs.scores[here], pairs.calibrated[here], cases=cases, bins=bins, resamples=0
            )
            points += [
                CurvePoint(dimension, rater, name, point.score, point.label.value or 0.0, point.label.n)
                for point in found.points
            ]
    return points


@dataclass(frozen=True, slots=True, eq=False)
class RaterCalibration:
    """One rater on one dimension, cross-fitted; a jury that was formed here has several `members`."""

    rater: str
    members: tuple[str, ...]
    part: Part
    fitted: CrossFitted

    @property
    def dimension(self) -> str:
        return self.part.dimension

    @property
    def grades(self) -> tuple[float, ...]:
        return self.part.grades

    @property
    def pairs(self) -> OutOfFold:
        return self.fitted.out_of_fold

    def as_dict(self) -> dict[str, Any]:
        """What taught the map, in numbers."""
        return {
            **flat(self, "rater", "dimension"),
            **flat(self.part, "instrument"),
            **flat(self.fitted, "method"),
            "n_labels": self.pairs.n,
            **flat(self.pairs, "n_cases", "n_unscored"),
            **flat(self.fitted, "n_outside"),
        }


def derived_values(
    instrument: Instrument, units: Iterable[Unit], parts: Mapping[str, tuple[Grid, Floats, Marks]]
) -> dict[str, Floats]:
    """What follows, unit by unit, from each part's values; the marks tell where a part does not apply."""
    place = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    given = {}
    for name, (grid, values, applies_not) in parts.items():
        scores, skipped = np.full(len(place), np.nan), np.zeros(len(place), dtype=bool)
        filled, of = np.flatnonzero(applies_not | ~np.isnan(values)), units_of(grid)
        here = np.array([place[of[row]] for row in filled.tolist()], dtype=np.int64)
        scores[here], skipped[here] = np.where(applies_not, np.nan, values)[filled], applies_not[filled]
        given[name] = scores, skipped
    return {name: scores for name, (scores, _) in derive_columns(instrument, given, len(place)).items()}


def side_of(each: RaterCalibration, side: str) -> tuple[Grid, Floats, Marks]:
    part = each.part
    skipped = part.label_not_applicable if side == "labels" else part.not_applicable(each.rater)
    return part.grid, getattr(each.pairs, side), skipped


@dataclass(frozen=True, slots=True, eq=False)
class ComparedScores:
    """Scores before and after without a map of their own: what follows from calibrated scores (the mean of
    calibrated judges, reversed dimensions, composites), or what a calibration file made of a table."""

    rater: str
    dimension: str
    grades: tuple[float, ...]
    pairs: OutOfFold


@dataclass(frozen=True, slots=True)
class Refusal(Row):
    """A rater and dimension that could not be calibrated, and why."""

    rater: str
    dimension: str
    reason: str

    def __str__(self) -> str:
        return f"not calibrated: {self.rater}, {self.dimension}: {self.reason}"


# What is shown of a long study, and how much of it.
_SHORT = ("offset", "rmse", "kappa_quadratic")
_SHORT_LINES, _FEW_REFUSED = 45, 3


def _plain(estimate: Estimate) -> str:
    return "–" if estimate.value is None else shown(estimate.value, 2)


@dataclass(frozen=True, eq=False)
class CalibrationStudy(Result[CalibrationRow]):
    """Everything that was calibrated, what follows from it, what was refused, and `rows`: before and after.

    The rows are computed when they are first asked for; `only` keeps those of some raters."""

    calibrations: tuple[RaterCalibration, ...]
    derived: tuple[ComparedScores, ...]
    refused: tuple[Refusal, ...]
    warnings: tuple[str, ...]
    reference: tuple[str, ...]
    jury_rule: JuryRule
    confidence: float
    resamples: int
    seed: int

    @property
    def compared(self) -> tuple[RaterCalibration | ComparedScores, ...]:
        return (*self.calibrations, *self.derived)

    @cached_property
    def rows(self) -> tuple[CalibrationRow, ...]:  # type: ignore[override]
        return tuple(row for each in self.compared for row in self._rows(each))

    def only(self, *raters: str) -> CalibrationStudy:
        """The same study with these raters' scores; nothing is fitted anew."""
        return replace(
            self,
            calibrations=tuple(each for each in self.calibrations if each.rater in raters),
            derived=tuple(each for each in self.derived if each.rater in raters),
            refused=tuple(each for each in self.refused if each.rater in raters),
        )

    def reliability(self, rater: str, dimension: str) -> tuple[Reliability, Reliability]:
        """The reference's mean by the rater's score, as scored and calibrated."""
        found = next(each for each in self.compared if (each.rater, each.dimension) == (rater, dimension))
        pairs = found.pairs
        effort = {"resamples": self.resamples, "seed": self.seed}
        before, after = (
            reliability(scores, pairs.labels, cases=pairs.cases, confidence=self.confidence, **effort)
            for scores in (pairs.scores, np.where(pairs.known, pairs.calibrated, np.nan))
        )
        return before, after

    def curve_points(self) -> tuple[CurvePoint, ...]:
        """The calibration curves of every rater on every dimension, composites too, point by point."""
        own = (
            mapped_points(each.rater, each.dimension, each.fitted, each.grades) for each in self.calibrations
        )
        follow = (followed_points(each.rater, each.dimension, each.pairs) for each in self.derived)
        return tuple(point for part in (*own, *follow) for point in part)

    def followed_scores(self, instrument: Instrument) -> dict[tuple[str, str], dict[Unit, float]]:
        """By rater and dimension, what follows from calibrated parts: the score of every unit that has one."""
        by_rater: dict[str, dict[str, RaterCalibration]] = {}
        for each in self.calibrations:
            by_rater.setdefault(each.rater, {})[each.dimension] = each
        found: dict[tuple[str, str], dict[Unit, float]] = {}
        for rater, parts in by_rater.items():
            units = list(dict.fromkeys(unit for each in parts.values() for unit in units_of(each.part.grid)))
            sides = {name: side_of(each, "calibrated") for name, each in parts.items()}
            for name, values in derived_values(instrument, units, sides).items():
                known = zip(units, values.tolist(), strict=True)
                found[rater, name] = {unit: value for unit, value in known if value == value}
        return found

    def plot(self) -> Figure:
        """Reliability of every rater on every dimension that has a map of its own or of a file."""
        pairs = [(each.rater, each.dimension) for each in self.calibrations or self.derived]
        return reliability_figure([(", ".join(pair), *self.reliability(*pair)) for pair in pairs])

    def to_json(self, *, curves: bool = False) -> str:
        """An object of `changes`, `refused` and `warnings`; with `curves` also reliability and maps, and all
        curves point by point, those of composites too."""
        content: dict[str, Any] = {
            "changes": [row.as_dict() for row in self.rows],
            "refused": [each.as_dict() for each in self.refused],
            "warnings": list(self.warnings),
        }
        if curves:
            content["curves"] = [self._curves(each) for each in self.calibrations]
            content["points"] = [each.as_dict() for each in self.curve_points()]
        return as_json(content)

    def short_text(self) -> str:
        """On one screen: of every rater, else of the juries and single judges on trial, before and after."""
        whole = self.text()
        if fits_one_screen(whole):
            return whole
        wide: dict[tuple[str, str], dict[str, Printable]] = {}
        for row in self.rows:
            line = wide.setdefault(
                (row.dimension, row.rater), {"dimension": row.dimension, "rater": row.rater}
            )
            if row.statistic in _SHORT:
                line[row.statistic] = f"{_plain(row.before)} to {_plain(row.after)}"
                line["n"] = row.n
        lines = list(wide.values())
        last = list(dict.fromkeys(row.rater for row in self.rows))
        if len(lines) > _SHORT_LINES:  # a jury, and a jury of calibrated jurors, come last
            juries = [name for name in last if name.startswith((JURY, self.jury_rule.name))] or last[:1]
            lines = [line for line in lines if line["rater"] in juries][:_SHORT_LINES]
        refused = [f"! {each}" for each in self.refused[:_FEW_REFUSED]]
        if more := len(self.refused) - len(refused):
            refused.append(f"! {more:,} more could not be calibrated")
        columns = ("dimension", "rater", *_SHORT, "n")
        return "\n".join(
            [
                *refused,
                "Before to after calibration, out of fold by case. Offset: rater − reference.",
                *text_table([{name: line.get(name) for name in columns} for line in lines]),
                f"--all shows all {len(self.rows):,} rows: every rater and statistic, with intervals",
            ]
        )

    def text(self) -> str:
        return "\n".join(
            [
                *(f"! {each}" for each in self.refused),
                super().text(),
                "",
                "Out of fold by case. Offset: rater − reference; change: after − before on the same resamples.",
                "Calibration shrinks to the mean: RMSE may fall while the kappa of a single judge falls too.",
            ]
        )

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        names = ("dimension", "rater", "statistic", "before", "after", "change", "n")
        return [{name: getattr(row, name) for name in names} for row in self.rows]

    def _rows(self, each: RaterCalibration | ComparedScores) -> list[CalibrationRow]:
        whose = (each.rater, each.dimension, ",".join(self.reference))
        effort = {"resamples": self.resamples, "seed": self.seed}
        found = before_after(
            each.pairs, grades=each.grades, whose=whose, confidence=self.confidence, **effort
        )
        return [*found.values()]

    def _curves(self, each: RaterCalibration) -> dict[str, Any]:
        sides = zip(("before", "after"), self.reliability(each.rater, each.dimension), strict=True)
        return {
            "rater": each.rater,
            "dimension": each.dimension,
            "reliability": {
                side: [{**flat(point, "score", "label"), "n": point.label.n} for point in curve.points]
                for side, curve in sides
            },
            "at": list(each.grades),
            "maps": calibration_curve(each.fitted, each.grades),
        }
