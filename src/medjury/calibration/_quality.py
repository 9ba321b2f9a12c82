"""Mean quality of systems from a rating table: few clinicians' labels, many jury scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from medjury.calibration._calibrator import check_confidence
from medjury.calibration._part import Marks, Part, judging_roles, jurors_of, jury_of, parts_of
from medjury.calibration._prediction_powered import PredictionPowered, estimate_difference, estimate_mean
from medjury.calibration._written import as_json, flat
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result, counted
from medjury.tables import Names, rating_table

EVERY_SYSTEM = "all"
_ESTIMATORS = {
    "power_tuned": "prediction_powered",
    "fixed": "prediction_powered_fixed",
    "classical": "classical",
    "naive": "naive",
}


@dataclass(frozen=True, slots=True)
class QualityEstimate:
    """A mean (of one system, or of all) or the difference of two systems' means, on one dimension."""

    dimension: str
    quantity: Literal["mean", "difference"]
    system: str
    found: PredictionPowered


@dataclass(frozen=True, slots=True)
class QualityRow:
    """One of the four ways to estimate a quantity; `prediction_powered` is the one to report."""

    dimension: str
    quantity: str
    system: str
    estimator: str
    value: Estimate
    found: PredictionPowered

    def as_dict(self) -> dict[str, Any]:
        tuned = self.estimator == "prediction_powered"
        return {
            **flat(self, "dimension", "quantity", "system", "estimator", "value"),
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
            "warnings": list(self.found.warnings),
        }


@dataclass(frozen=True, eq=False)
class Quality(Result[QualityRow]):
    """The estimates, what could not be estimated (dimension and system, and why), and warnings about the
    data. `raters` are the judges whose scores were used."""

    estimates: tuple[QualityEstimate, ...]
    refused: tuple[tuple[str, str, str], ...]
    raters: tuple[str, ...]
    warnings: tuple[str, ...]

    @cached_property
    def rows(self) -> tuple[QualityRow, ...]:  # type: ignore[override]
        return tuple(
            QualityRow(
                each.dimension, each.quantity, each.system, name, getattr(each.found, field), each.found
            )
            for each in self.estimates
            for field, name in _ESTIMATORS.items()
        )

    def to_json(self) -> str:
        """An object of `estimates`, `raters` (also as `judges`), `refused` and `warnings`."""
        refused = [{"dimension": one, "system": two, "reason": why} for one, two, why in self.refused]
        return as_json(
            {
                "estimates": [row.as_dict() for row in self.rows],
                "raters": list(self.raters),
                "judges": list(self.raters),
                "refused": refused,
                "warnings": list(self.warnings),
            }
        )

    def text(self) -> str:
        refused = [f"! not estimated: {one}, {two}: {why}" for one, two, why in self.refused]
        said = "\nReport `prediction_powered`. `naive` trusts the jury blindly and inherits its bias."
        return "\n".join([*refused, super().text(), said])

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                **{
                    name: getattr(row, name)
                    for name in ("dimension", "quantity", "system", "estimator", "value")
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
) -> Quality:
    """Prediction-powered means of every dimension from the jury's scores.

    Without `differences` the mean over all systems is given and, with `by_system`, each system's; with
    them, the two systems' means and their difference. These intervals need no resampling: `resamples` and
    `seed` are taken, as by every analysis, and change nothing.
    """
    table = rating_table(table)
    check_confidence(confidence)
    roles = judging_roles(table, raters, reference)
    jury = jury_of(roles)
    parts, _ = parts_of(table, roles, table.chosen(dimensions), need_scale=False)
    found: list[QualityEstimate] = []
    refused = []
    bounds: list[str] = []
    how: dict[str, Any] = {"labels_random": labels_random, "confidence": confidence}
    for part in parts:
        for first, second in _quantities(part, by_system, differences):
            system = f"{first} − {second}" if second else first
            try:
                made = _powered(part, jury, first, second, how)
            except MedjuryError as error:
                refused.append((part.dimension, system, str(error)))
                continue
            found.append(QualityEstimate(part.dimension, "difference" if second else "mean", system, made))
            if made.n_unscored and not second:
                bounds += _bounds(part, jury, first, how)
    if not found:
        reasons = "\n".join(f"  {dimension}, {system}: {reason}" for dimension, system, reason in refused)
        raise MedjuryError(f"nothing could be estimated:\n{reasons}")
    told = (text for each in found for text in each.found.warnings)
    warnings = dict.fromkeys([*table.warnings, *told, *bounds])
    return Quality(tuple(found), tuple(refused), jurors_of(table, roles), tuple(warnings))


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


def _powered(part: Part, jury: str, first: str, second: str, how: Mapping[str, Any]) -> PredictionPowered:
    if second:
        here = _asked(part, jury)
        return estimate_difference(
            part.labels[here],
            part.scores(jury)[here],
            systems=part.grid.systems[here].tolist(),
            first=first,
            second=second,
            cases=part.cases[here],
            **how,
        )
    here = _asked(part, jury) & _of(part, first)
    return estimate_mean(part.labels[here], part.scores(jury)[here], cases=part.cases[here], **how)


def _of(part: Part, system: str) -> Marks:
    return np.asarray((part.grid.systems == system) | (system == EVERY_SYSTEM))


def _asked(part: Part, jury: str) -> Marks:
    """The answers that count: labelled, or put to the jury and not found to be none of this dimension's."""
    return ~np.isnan(part.labels) | (part.asked(jury) & ~part.not_applicable(jury))


def _bounds(part: Part, jury: str, system: str, how: Mapping[str, Any]) -> list[str]:
    """What the mean would be if all answers that have neither score nor label had the lowest grade, or the
    highest."""
    here = _asked(part, jury) & _of(part, system)
    labels, scores = part.labels[here], part.scores(jury)[here]
    scored, unknown = ~np.isnan(scores), np.isnan(scores) & np.isnan(labels)
    if not unknown.any() or not part.grades:
        return []
    try:
        seen = estimate_mean(
            labels[scored], scores[scored], cases=part.cases[here][scored], **how
        ).power_tuned
    except MedjuryError:
        return []
    assert seen.value is not None
    known = seen.value * scored.sum() + labels[~scored & ~unknown].sum()
    low, high = ((known + unknown.sum() * end) / len(labels) for end in part.scale)
    return [
        f"{part.dimension}, {system}: {counted(int(unknown.sum()), 'answer')} with neither a jury score nor a "
        f"label; the mean would be {low:.3f} if all of them had the lowest grade, {high:.3f} if the highest"
    ]
