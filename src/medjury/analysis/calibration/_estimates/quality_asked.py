"""What is asked of one dimension: labels and jury scores, as they are or as dangerous or not, and who counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._estimates.danger_rates import DangerRates, danger_rates, plan_labels
from medjury.analysis.calibration._estimates.prediction_powered import (
    PredictionPowered,
    estimate_difference,
    estimate_mean,
    estimate_mixture,
)
from medjury.analysis.calibration._estimates.prediction_powered_part import FEW_CASES
from medjury.analysis.calibration._estimates.share_ends import with_share_ends
from medjury.analysis.calibration._estimates.strata import refuse_missing
from medjury.analysis.calibration._estimates.weighted_estimates import (
    NOT_WEIGHTED,
    estimate_weighted,
    no_rates,
)
from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._maps.folds import Cases
from medjury.analysis.calibration._part import Marks, Part
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, counted_share

EVERY_SYSTEM = "all"
RARE = 5


@dataclass(frozen=True, eq=False)
class Asked:
    """One dimension and its jury. With `dangerous_at` labels and scores are 1 where they are this bad or worse, and
    else 0."""

    part: Part
    jury: str
    dangerous_at: float | None
    labels_random: bool
    confidence: float
    weights: Floats | None = None  # one over the probability of each answer, where these differ

    @property
    def quantity(self) -> str:
        return "mean" if self.dangerous_at is None else "share dangerous"

    @cached_property
    def labels(self) -> Floats:
        return self._read(self.part.labels)

    @cached_property
    def scores(self) -> Floats:
        return self._read(self.part.scores(self.jury))

    @cached_property
    def counted(self) -> Marks:
        """The answers that count: labelled, or put to the jury and not found to be none of this dimension's."""
        asked = self.part.asked(self.jury) & ~self.part.not_applicable(self.jury)
        return np.asarray(~np.isnan(self.part.labels) | asked)

    def of(self, system: str) -> Marks:
        return np.asarray(self.counted & ((self.part.grid.systems == system) | (system == EVERY_SYSTEM)))

    def mean(self, here: Marks) -> PredictionPowered:
        if self.weights is not None:
            return estimate_weighted(
                self.labels[here],
                self.scores[here],
                self.weights[here],
                cases=self.part.cases[here],
                confidence=self.confidence,
                share=self.dangerous_at is not None,
            )
        make = estimate_mean if self.dangerous_at is None else share_of
        return make(self.labels[here], self.scores[here], cases=self.part.cases[here], **self._how)

    def mixture(
        self, here: Marks, strata: NDArray[np.object_], column: str, shares: Mapping[str, float]
    ) -> PredictionPowered:
        self._refuse_weights()
        refuse_missing(column, shares, strata[here])
        found = estimate_mixture(
            self.labels[here],
            self.scores[here],
            strata=strata[here].tolist(),
            shares=shares,
            cases=self.part.cases[here],
            **self._how,
        )
        if self.dangerous_at is None:
            return found
        inside = {
            name: here & (strata == name) & ~np.isnan(self.labels) for name, share in shares.items() if share
        }
        rare = any(_rare(self.labels[each]) for each in inside.values())
        # As many cases as would know the mean as well if the shares were those of the sample.
        parts = (
            shares[name] ** 2 / len(set(self.part.cases[each].tolist())) for name, each in inside.items()
        )
        return as_shares(found, rare, 1.0 / sum(parts), self.confidence)

    def difference(self, first: str, second: str) -> PredictionPowered:
        self._refuse_weights()
        here = self.counted
        return estimate_difference(
            self.labels[here],
            self.scores[here],
            systems=self.part.grid.systems[here].tolist(),
            first=first,
            second=second,
            cases=self.part.cases[here],
            **self._how,
        )

    def rates(self, here: Marks) -> DangerRates:
        if self.weights is not None:
            return no_rates(int((~np.isnan(self.labels[here])).sum()))
        return danger_rates(
            self.labels[here], self.scores[here], cases=self.part.cases[here], confidence=self.confidence
        )

    def said(self, system: str, rates: DangerRates, here: Marks, planned: int | None) -> list[str]:
        """The threshold, what the jury's verdicts are worth, and whom to label next."""
        assert self.dangerous_at is not None
        if self.weights is not None:
            return []
        side = "or less" if self.part.measured.higher_is_better else "or more"
        whose = f"{self.part.dimension}, {system}"
        right = " and ".join(
            f"{name} {value:.3f}"
            for name, value in (("sensitivity", rates.sensitivity), ("specificity", rates.specificity))
            if value is not None
        )
        safe, dangerous = rates.labels_by_verdict
        found = [
            f"{whose}: dangerous is a score of {self.dangerous_at:g} {side}, of the clinicians' mean and of the "
            f"jury; {right} ({safe} labels where the jury says safe, {dangerous} where it says dangerous)"
        ]
        plan = None if planned is None else plan_labels(
            self.labels[here], self.scores[here], planned, confidence=self.confidence
        )  # fmt: skip
        if plan is not None:
            found.append(
                f"{whose}: of the next {planned} labels give {plan.dangerous} to answers that the jury calls "
                f"dangerous and {plan.safe} to the others, drawn at random within each: half-width by_verdict "
                f"about {plan.half_width:.3f} (random over all: {plan.half_width_random:.3f}). Only by_verdict "
                "holds for labels drawn so"
            )
        return found

    def _refuse_weights(self) -> None:
        if self.weights is not None:
            raise MedjuryError(f"{NOT_WEIGHTED}; ask for the mean of each system instead (--by-system).")

    @property
    def _how(self) -> dict[str, Any]:
        return {"labels_random": self.labels_random, "confidence": self.confidence}

    def _read(self, values: Floats) -> Floats:
        if self.dangerous_at is None:
            return values
        bad = (
            values <= self.dangerous_at
            if self.part.measured.higher_is_better
            else values >= self.dangerous_at
        )
        return np.where(np.isnan(values), np.nan, bad.astype(np.float64))


def share_of(
    labels: Floats, verdicts: Floats, *, cases: Cases, labels_random: bool, confidence: float
) -> PredictionPowered:
    """The share of ones among labels of which only some are known (NaN), from verdicts on all."""
    found = estimate_mean(labels, verdicts, cases=cases, labels_random=labels_random, confidence=confidence)
    return as_shares(found, _rare(labels), found.n_labelled_cases, confidence)


def as_shares(found: PredictionPowered, rare: bool, cases: float, confidence: float) -> PredictionPowered:
    """Between 0 and 1; and where fewer than five labels are dangerous, or fewer than five are not, no narrower
    than the interval of so many cases counted: a rare danger that nobody saw is not none."""
    seen = found.classical.value
    assert seen is not None
    least = max(int(cases), 1)
    hits = np.arange(least) < round(seen * least)
    wide = counted_share(hits, confidence=confidence) if rare else None

    def share(one: Estimate, wide: Estimate | None) -> Estimate:
        one = with_share_ends(one, confidence)
        if one.value is None or one.low is None or one.high is None:
            return one
        low, high = one.low, one.high
        if wide is not None and wide.low is not None and wide.high is not None:
            low, high = min(low, wide.low), max(high, wide.high)
        method = one.method if wide is None else f"{one.method}, no narrower than a count of cases"
        return replace(one, low=low, high=high, method=method)

    return replace(
        found,
        power_tuned=share(found.power_tuned, wide),
        fixed=_with_enough_labels(share(found.fixed, None), found.n_labelled_cases),
        classical=share(found.classical, wide),
        naive=share(found.naive, None),
        warnings=tuple(text for text in found.warnings if not (rare and text.startswith("all labelled"))),
    )


def _with_enough_labels(found: Estimate, cases: int) -> Estimate:
    """With full weight on the jury the interval of a share held in 99 % of simulated studies with 20 labels."""
    why = f"{cases} labelled cases are too few, at least {FEW_CASES} are needed"
    return found.without_interval(why) if cases < FEW_CASES and found.low is not None else found


def _rare(labels: Floats) -> bool:
    """Fewer than five labels are dangerous, or fewer than five are not."""
    return bool(min(np.nansum(labels), np.nansum(1.0 - labels)) < RARE)
