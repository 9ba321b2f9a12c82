"""Mean quality of systems from a rating table: few clinicians' labels, many jury scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from medjury.calibration._calibrator import check_confidence
from medjury.calibration._part import Part, judging_roles, jurors_of, jury_of, parts_of
from medjury.calibration._prediction_powered import PredictionPowered, estimate_difference, estimate_mean
from medjury.calibration._written import as_json, flat
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result
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
            **flat(self.found, "n_labelled", "n_unlabelled", "n_labelled_cases", "n_unscored"),
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
    if not found:
        reasons = "\n".join(f"  {dimension}, {system}: {reason}" for dimension, system, reason in refused)
        raise MedjuryError(f"nothing could be estimated:\n{reasons}")
    warnings = dict.fromkeys([*table.warnings, *(told for each in found for told in each.found.warnings)])
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
    # Where the dimension does not apply there is no quality to estimate; where the jury merely failed there is.
    applies = ~part.not_applicable(jury) & ~part.label_not_applicable
    labels, cases = part.labels[applies], part.cases[applies]
    scores, systems = part.scores(jury)[applies], part.grid.systems[applies]
    if second:
        return estimate_difference(
            labels, scores, systems=systems.tolist(), first=first, second=second, cases=cases, **how
        )
    here = (systems == first) | (first == EVERY_SYSTEM)
    return estimate_mean(labels[here], scores[here], cases=cases[here], **how)
