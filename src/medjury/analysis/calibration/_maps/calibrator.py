"""What every calibrator is: a frozen fitted map from a judge's scores to the clinicians' scale."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.foundation.errors import MedjuryError

Floats = NDArray[np.float64]
Method = Literal["isotonic", "offset", "linear", "ordinal"]
_SAME = 1e-9


class Calibrator(Protocol):
    """`predict` never reverses the judge's order, never leaves the scale, and keeps a missing score missing.

    `seen` is the range of scores the fit saw. A score off the scale is refused; one on the scale but beyond
    `seen` gets a prediction, and `count_outside` counts it so that nobody overlooks it.
    """

    method: ClassVar[Method]

    @property
    def scale(self) -> tuple[float, float]: ...

    @property
    def seen(self) -> tuple[float, float]: ...

    def predict(self, scores: ArrayLike) -> Floats: ...


def check_confidence(confidence: float) -> None:
    """A confidence is a share between 0 and 1; 95 is refused, not taken for 0.95."""
    if not 0 < confidence < 1:
        raise MedjuryError(f"the confidence is a share between 0 and 1, such as 0.95, not {confidence:g}.")


def count_outside(calibrator: Calibrator, scores: ArrayLike) -> int:
    """How many scores lie beyond the range the calibrator was fitted on."""
    values = np.asarray(scores, dtype=float)
    low, high = calibrator.seen
    return int(np.count_nonzero((values < low - _SAME) | (values > high + _SAME)))


def on_scale(scores: ArrayLike, scale: tuple[float, float], whose: str) -> Floats:
    """The scores as numbers, NaN where missing; a score off the scale is refused with its value."""
    values = np.array(scores, dtype=float)
    if values.ndim != 1:
        raise MedjuryError(f"{whose} scores form one list, one score per item, not {values.ndim} axes.")
    low, high = scale
    if not low < high:
        raise MedjuryError(f"a scale runs from a lowest to a highest grade, not from {low:g} to {high:g}.")
    wrong = values[~np.isnan(values) & ~((values >= low - _SAME) & (values <= high + _SAME))]
    if wrong.size:
        shown = ", ".join(f"{value:g}" for value in np.unique(wrong)[:5])
        raise MedjuryError(
            f"{wrong.size} of {whose} scores lie off the scale {low:g} to {high:g}: {shown}. "
            "Give the scale they were made on, or leave them out as unscored."
        )
    return values


def labelled_pairs(
    scores: ArrayLike, labels: ArrayLike, scale: tuple[float, float], what: str = "the judge"
) -> tuple[Floats, Floats]:
    """The pairs that can teach something: both numbers there, and neither side constant."""
    given, wanted = on_scale(scores, scale, f"{what}'s"), on_scale(labels, scale, "the reference's")
    if given.shape != wanted.shape:
        raise MedjuryError(
            f"{given.size} scores and {wanted.size} labels: give one label (or NaN) per score."
        )
    both = ~np.isnan(given) & ~np.isnan(wanted)
    given, wanted = given[both], wanted[both]
    if given.size < 2:
        raise MedjuryError(f"{given.size} items have both a score and a label; a calibration needs more.")
    if np.ptp(given) <= _SAME:
        raise MedjuryError(
            f"{what} gave the score {given[0]:g} to all {given.size} labelled items: a single-valued score "
            "holds nothing that could be calibrated. Judge more varied cases, or leave this judge out."
        )
    if np.ptp(wanted) <= _SAME:
        raise MedjuryError(
            f"the reference gave {wanted[0]:g} to all {wanted.size} labelled items: every calibration "
            f"would map every score to {wanted[0]:g}. Label more varied cases."
        )
    return given, wanted
