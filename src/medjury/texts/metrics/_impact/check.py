"""How good is the impact estimate? Cross-validation by call against clinicians' labels, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics._impact.impact import impact_features
from medjury.texts.metrics._impact.model import fit_impact_model

if TYPE_CHECKING:
    from medjury.statistics import Estimate

Floats = NDArray[np.float64]
LEVELS = (0, 1, 2)
# With fewer pairs the interval of a rate held in all of 120 simulated studies of 20 calls.
FEWEST_OF_A_LEVEL = 50


@dataclass(frozen=True, slots=True, eq=False)
class ImpactCheck:
    """Out-of-fold predictions and what they are worth.

    `estimates` holds `kendall_tau_b` (of the score), `kappa_quadratic`, `accuracy`, `recall_2` and
    `precision_2` (of the level), each with an interval that resamples whole calls. `confusion[truth][said]`
    counts pairs.
    """

    levels: NDArray[np.int64]
    scores: Floats
    estimates: dict[str, Estimate]
    confusion: NDArray[np.int64]
    calls: int

    def content(self) -> dict[str, Any]:
        """Every estimate with its interval, and the labels (rows) against the estimates (columns)."""
        from medjury.statistics import ends

        estimates = {name: ends(each) for name, each in self.estimates.items()}
        return {"calls": self.calls, "estimates": estimates, "confusion": self.confusion.tolist()}

    def text(self) -> str:
        """Every estimate with its interval, and the labels against the estimates, for a reader."""
        from medjury.statistics import shown

        lines = [f"Against the labels, cross-validated over {self.calls} calls, 95 % intervals by call:"]
        lines += [f"  {name:<18}{shown(estimate):>24}" for name, estimate in self.estimates.items()]
        lines.append("  label \\ estimate" + "".join(f"{level:>6}" for level in LEVELS))
        for level, row in enumerate(self.confusion.tolist()):
            lines.append(f"  {level:>16}" + "".join(f"{count:>6}" for count in row))
        return "\n".join(lines)


def check_impact(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    questions: Sequence[str | None] | None,
    labels: Sequence[int],
    calls: Sequence[object],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> ImpactCheck:
    """Leave out one call at a time, learn the coefficients from the others, predict the call left out.

    Word lists, features, prior and thresholds are fixed; only coefficients and cuts are learned in a fold.
    """
    from medjury.analysis.agreement import cohen_kappa, kendall_tau_b

    truth = np.asarray(labels, dtype=np.int64)
    if not len(truth) == len(references) == len(calls):
        raise MedjuryError(
            f"{len(references)} pairs, {len(truth)} labels and {len(calls)} calls do not match."
        )
    if not set(truth.tolist()) <= set(LEVELS):
        raise MedjuryError("The labels of impact are 0, 1 and 2; there are others.")
    names = [str(call) for call in calls]
    if len(set(names)) < 2:
        raise MedjuryError("Cross-validation by call needs at least two calls; there is one.")
    features = impact_features(references, hypotheses, questions)
    probabilities = np.zeros((len(truth), 3))
    levels = np.zeros(len(truth), dtype=np.int64)
    for call in sorted(set(names)):
        left_out = np.array([name == call for name in names])
        model = fit_impact_model(features[~left_out], truth[~left_out])
        probabilities[left_out] = model.probabilities(features[left_out])
        levels[left_out] = model.levels(probabilities[left_out])
    scores = probabilities[:, 1] + 2.0 * probabilities[:, 2]
    options: dict[str, Any] = {"clusters": names, "resamples": resamples, "seed": seed}
    estimates = {
        "kendall_tau_b": kendall_tau_b(scores, truth, **options),
        "kappa_quadratic": cohen_kappa(truth, levels, scale=LEVELS, weights="quadratic", **options),
        **rates(truth, levels, options),
    }
    confusion = np.zeros((3, 3), dtype=np.int64)
    np.add.at(confusion, (truth, levels), 1)
    return ImpactCheck(levels, scores, estimates, confusion, len(set(names)))


def rates(
    truth: NDArray[np.int64], levels: NDArray[np.int64], options: dict[str, Any]
) -> dict[str, Estimate]:
    """Accuracy, and of level 2 recall and precision, with intervals that resample whole calls."""
    from medjury.statistics import bootstrap, clustered_proportion

    found = bootstrap(np.column_stack([truth, levels]).astype(np.float64), _rates, **options)
    calls = np.asarray(options["clusters"], dtype=object)
    for name, counted in (("accuracy", truth >= 0), ("recall_2", truth == 2), ("precision_2", levels == 2)):
        if found[name].value in (0.0, 1.0):
            # No resample moves a rate of 0 or 1, and it is not certain for that.
            found[name] = clustered_proportion((truth == levels)[counted], calls[counted])
        elif counted.sum() < FEWEST_OF_A_LEVEL and found[name].low is not None:
            why = f"{counted.sum()} pairs are too few, at least {FEWEST_OF_A_LEVEL} are needed"
            found[name] = found[name].without_interval(why)
    return found


def _rates(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
    truth, said = rows[:, 0], rows[:, 1]
    right = (truth == said).astype(np.float64)
    both = ((truth == 2) & (said == 2)).astype(np.float64)
    is_two, said_two = (truth == 2).astype(np.float64), (said == 2).astype(np.float64)

    def read(weights: Floats) -> dict[str, Floats]:
        return {
            "accuracy": weights @ right / weights.sum(axis=-1),
            "recall_2": weights @ both / (weights @ is_two),
            "precision_2": weights @ both / (weights @ said_two),
        }

    return read
