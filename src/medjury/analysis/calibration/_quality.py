"""Quality of systems from a rating table: few clinicians' labels, many jury scores. The mean, or the share of
dangerous answers; of this sample, of a stated population, of parts of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._maps import check_confidence
from medjury.analysis.calibration._part import Marks, Part, judging_roles, jurors_of, jury_of, parts_of
from medjury.analysis.calibration._prediction_powered import PredictionPowered
from medjury.analysis.calibration._quality_asked import EVERY_SYSTEM, Asked
from medjury.analysis.calibration._written import as_json
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result, counted, flat
from medjury.tables import Grid, Names, RatingTable, rating_table, read_plain_table

_ESTIMATORS = {
    "power_tuned": "prediction_powered",
    "fixed": "prediction_powered_fixed",
    "classical": "classical",
    "naive": "naive",
}
_RATES = ("by_verdict", "rogan_gladen", "plug_in")
Quantity = Literal["mean", "difference", "share dangerous"]


@dataclass(frozen=True, slots=True)
class QualityRow:
    """One of the ways to estimate a mean or a share of dangerous answers (of one system, or of all), or the
    difference of two systems, on one dimension; `prediction_powered` is the one to report. `population` says for
    whom: "" this sample, `target`, or a slice such as `specialty: cardiology`."""

    dimension: str
    quantity: str
    system: str
    population: str
    estimator: str
    value: Estimate
    found: PredictionPowered

    def as_dict(self) -> dict[str, Any]:
        tuned = self.estimator == "prediction_powered"
        return {
            **flat(self, "dimension", "quantity", "system", "population", "estimator", "value"),
            **flat(
                self.found,
                "n_labelled",
                "n_unlabelled",
                "n_labelled_cases",
                "n_unscored",
                "n_unscored_labelled",
            ),
            "jury_weight": list(self.found.weights) if tuned else None,
            "effective_labels": self.found.effective_labels if tuned else None,
            "method": self.value.method,
            "reason": self.value.reason,
            "warnings": list(self.found.warnings),
        }


@dataclass(frozen=True, eq=False)
class Quality(Result[QualityRow]):
    """The estimates, each in several ways, what could not be estimated (dimension and system, and why), and
    warnings about the data. `raters` are the judges whose scores were used; `notes` are read beside the table."""

    rows: tuple[QualityRow, ...]
    refused: tuple[tuple[str, str, str], ...]
    raters: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def estimates(self) -> tuple[QualityRow, ...]:
        """One row for each quantity: the estimate to report."""
        return tuple(row for row in self.rows if row.estimator == "prediction_powered")

    def to_json(self) -> str:
        """An object of `estimates`, `raters`, `refused` and `warnings`."""
        refused = [{"dimension": one, "system": two, "reason": why} for one, two, why in self.refused]
        return as_json(
            {
                "estimates": [row.as_dict() for row in self.rows],
                "raters": list(self.raters),
                "refused": refused,
                "warnings": list(self.warnings),
                "notes": list(self.notes),
            }
        )

    def text(self) -> str:
        refused = [f"! not estimated: {one}, {two}: {why}" for one, two, why in self.refused]
        trusted = ", ".join(self.raters)
        advice = f"\nReport `prediction_powered`. `naive` trusts {trusted} blindly and inherits the bias."
        return "\n".join([*refused, super().text(), advice, *self.notes])

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                **{
                    name: getattr(row, name)
                    for name in ("dimension", "quantity", "system", "population", "estimator", "value")
                    if name != "population" or any(each.population for each in self.rows)
                },
                "labels": row.found.n_labelled,
                "unlabelled": row.found.n_unlabelled,
                "unscored": row.found.n_unscored,
            }
            for row in self.rows
        ]


def estimate(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    by_system: bool = False,
    differences: Sequence[tuple[str, str]] = (),
    labels_random: bool = False,
    dangerous_at: float | None = None,
    target: tuple[str, Mapping[str, float]] | None = None,
    slices: Mapping[str, Sequence[float]] | None = None,
    strata: Mapping[str, Mapping[str, str]] | None = None,
    labels_planned: int | None = None,
) -> Quality:
    """Prediction-powered means of every dimension from the jury's scores.

    Without `differences` the mean over all systems is given and, with `by_system`, each system's; with
    them, the two systems' means and their difference. These intervals need no resampling: `resamples` and
    `seed` are taken, as by every analysis, and change nothing.

    With `dangerous_at` it is the share of dangerous answers, those of this score or worse, and beside it what
    sensitivity and specificity of the jury's verdicts make of it (`DangerRates`); `labels_planned` then says whom
    to label next. `target` is a column and the share of each of its levels in the population that is meant: every
    quantity is given for it too. `slices` are columns (and where to cut them); of each level there is an estimate,
    with intervals that hold for all levels of a dimension together (Bonferroni). Columns are those of the ratings,
    or `strata`: for a column the level of every item.
    """
    table = rating_table(table).with_weights
    check_confidence(confidence)
    roles = judging_roles(table, raters, reference)
    jury = jury_of(roles)
    parts, _ = parts_of(table, roles, table.chosen(dimensions), need_scale=False)
    target = None if target is None else (target[0], check_shares(*target))
    rows: list[QualityRow] = []
    refused: list[tuple[str, str, str]] = []
    notes: list[str] = []
    bounds: list[str] = []
    for part in parts:
        known = {name: levels(table, part.grid, name, cuts, (strata or {}).get(name)) for name, cuts in
                 {**({target[0]: ()} if target else {}), **(slices or {})}.items()}  # fmt: skip
        weights = table.weights(part.grid, roles.reference)
        of = Asked(part, jury, dangerous_at, labels_random, confidence, weights)
        for name, found_levels in known.items():
            if lost := int((of.counted & (found_levels == "")).sum()):
                bounds.append(f"{part.dimension}: {counted(lost, 'answer')} without {name}, left out of it")
        wanted: list[tuple[str, str, str, Callable[[], PredictionPowered], Marks | None]] = []
        for first, second in _quantities(part, by_system, differences):
            system = f"{first} − {second}" if second else first
            if second:
                wanted.append((system, "difference", "", partial(of.difference, first, second), None))
                continue
            here = of.of(first)
            wanted.append((system, of.quantity, "", partial(of.mean, here), here))
            if target is not None:
                mixed = partial(of.mixture, here, known[target[0]], *target)
                wanted.append((system, of.quantity, "target", mixed, None))
        cut = [(f"{name}: {level}", known[name] == level) for name in slices or {} for level in
               sorted(set(known[name][of.counted].tolist()) - {""})]  # fmt: skip
        # All slices of a dimension are looked at together, so each has less to be wrong with.
        level_of_each = 1.0 - (1.0 - confidence) / max(len(cut), 1)
        together = replace(of, confidence=level_of_each)
        for name, inside in cut:
            wanted.append(
                (EVERY_SYSTEM, of.quantity, name, partial(together.mean, of.counted & inside), None)
            )
        for system, quantity, population, make, marked in wanted:
            try:
                made = make()
            except MedjuryError as error:
                refused.append(
                    (part.dimension, f"{system}{', ' if population else ''}{population}", str(error))
                )
                continue
            values = {name: getattr(made, field) for field, name in _ESTIMATORS.items()}
            if marked is not None and dangerous_at is not None:
                rates = of.rates(marked)
                notes += of.remarks(system, rates, marked, labels_planned)
                values |= {name: getattr(rates, name) for name in _RATES}
            rows += [
                QualityRow(part.dimension, quantity, system, population, name, value, made)
                for name, value in values.items()
            ]
            if made.n_unscored and marked is not None and dangerous_at is None:
                bounds += _bounds(of, system, marked)
        if cut:
            notes.append(
                f"{part.dimension}: intervals of the {len(cut)} slices hold for all of them together"
            )
    if not rows:
        reasons = "\n".join(f"  {dimension}, {system}: {reason}" for dimension, system, reason in refused)
        raise MedjuryError(f"nothing could be estimated:\n{reasons}")
    cautions = (text for row in rows for text in row.found.warnings)
    warnings = dict.fromkeys([*table.warnings, *cautions, *bounds])
    return Quality(tuple(rows), tuple(refused), jurors_of(table, roles), tuple(warnings), tuple(notes))


def _quantities(part: Part, by_system: bool, differences: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Systems whose mean is wanted, as (system, ""), and pairs whose difference is."""
    known = sorted(set(part.grid.systems.tolist()) - {""})
    wanted = list(dict.fromkeys(system for pair in differences for system in pair))
    for system in wanted:
        if system not in known:
            named = ", ".join(known) or "no system is named"
            raise MedjuryError(f"there is no system {system!r} in the ratings; known: {named}.")
    means = wanted or [EVERY_SYSTEM, *(known if by_system else ())]
    return [*((system, "") for system in means), *differences]


def _bounds(of: Asked, system: str, here: Marks) -> list[str]:
    """What the mean would be if all answers that have neither score nor label had the lowest grade, or the
    highest."""
    part, labels, scores = of.part, of.labels[here], of.scores[here]
    scored, unknown = ~np.isnan(scores), np.isnan(scores) & np.isnan(labels)
    if not unknown.any() or not part.grades:
        return []
    try:
        seen = of.mean(here & ~np.isnan(of.scores)).power_tuned
    except MedjuryError:
        return []
    assert seen.value is not None
    known = seen.value * scored.sum() + labels[~scored & ~unknown].sum()
    low, high = ((known + unknown.sum() * end) / len(labels) for end in part.scale)
    return [
        f"{part.dimension}, {system}: {counted(int(unknown.sum()), 'answer')} with neither a jury score nor a "
        f"label; the mean would be {low:.3f} if all of them had the lowest grade, {high:.3f} if the highest"
    ]


# Strata: the level of every answer in a column (specialty, site, length, group), and the target's shares.


# More levels than this are numbers that were not cut into bands.
MOST_LEVELS = 50
# Shares are often rounded to whole percent.
ROUNDED = 0.02


def levels(
    table: RatingTable,
    grid: Grid,
    column: str,
    cuts: Sequence[float] = (),
    given: Mapping[str, str] | None = None,
) -> NDArray[np.object_]:
    """The level of each answer in the grid, "" where it has none: `given` by item, else from the column of the
    ratings, by answer where it has a value there and else by item. `cuts` turn a number into bands."""
    import polars as pl

    if given is not None:
        known = {(item, ""): value for item, value in given.items()}
    elif column in table.rows.columns:
        text = pl.col(column).cast(pl.String).str.strip_chars()
        rows = table.rows.filter(text.is_not_null() & (text != "")).with_columns(text.alias(column))
        known = {}
        for keys in (["item"], ["item", "system"]):
            for *unit, values in rows.group_by(keys).agg(pl.col(column).unique()).iter_rows():
                if len(values) == 1:
                    known[unit[0], unit[1] if len(unit) > 1 else ""] = values[0]
                elif len(keys) == 2:
                    raise MedjuryError(
                        f"{column}: the answer of {unit[1]!r} to {unit[0]!r} has {len(values)} values. Give it one."
                    )
    else:
        there = ", ".join(table.rows.columns[:20])
        raise MedjuryError(f"there is no column {column!r} in the ratings or the cases; there are {there}.")
    pairs = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
    found = [known.get((item, system)) or known.get((item, ""), "") for item, system in pairs]
    if cuts:
        found = [_band(column, value, cuts) if value else "" for value in found]
    if len(set(found)) > MOST_LEVELS:
        raise MedjuryError(
            f"{column} has {len(set(found))} levels. Cut a number into bands, as in {column}=18,65."
        )
    return np.array(found, dtype=object)


def check_shares(column: str, shares: Mapping[str, float]) -> dict[str, float]:
    """The target's shares, adding up to one; refused where they do not."""
    if any(not 0.0 <= share <= 1.0 for share in shares.values()) or abs(sum(shares.values()) - 1.0) > ROUNDED:
        raise MedjuryError(
            f"the shares of {column} in the target add up to {sum(shares.values()):g}, not to 1."
        )
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def read_target(path: str | Path) -> tuple[str, dict[str, float]]:
    """A table with the columns COLUMN, share: the name of the first is the column of the ratings."""
    frame = read_plain_table(path)
    if frame is None:
        raise MedjuryError(f"{path}: a target is a table (.csv, .xlsx, .parquet, .jsonl).")
    others = [name for name in frame.columns if name != "share"]
    if len(others) != 1 or len(frame.columns) != 2:
        raise MedjuryError(
            f"{path}: a target has two columns, the stratum's and `share`, not {frame.columns}."
        )
    found: dict[str, float] = {}
    for row, (level, share) in enumerate(frame.select(others[0], "share").iter_rows(), start=2):
        try:
            value = float(share)
        except (TypeError, ValueError):
            raise MedjuryError(f"{path}, line {row}: {share!r} is not a share, such as 0.25.") from None
        name = "" if level is None else str(level).strip()
        if not name or name in found:
            raise MedjuryError(f"{path}, line {row}: the stratum {name!r} appears twice or is empty.")
        found[name] = value
    return others[0], found


def _band(column: str, value: str, cuts: Sequence[float]) -> str:
    """`below 18`, `18 to below 65`, `65 and above`."""
    points = sorted(cuts)
    try:
        place = bisect_right(points, float(value))
    except ValueError:
        raise MedjuryError(f"{column}: {value!r} is not a number, so it cannot be cut into bands.") from None
    if place == 0:
        return f"below {points[0]:g}"
    return (
        f"{points[-1]:g} and above"
        if place == len(points)
        else f"{points[place - 1]:g} to below {points[place]:g}"
    )
