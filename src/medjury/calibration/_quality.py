"""Mean quality of systems from a rating table: few clinicians' labels, many jury scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from medjury.calibration._judged import read_judged
from medjury.calibration._prediction_powered import PredictionPowered, estimate_difference, estimate_mean
from medjury.errors import MedjuryError
from medjury.instruments import Instrument

EVERY_SYSTEM = "all"


@dataclass(frozen=True, slots=True)
class QualityEstimate:
    """A mean (of one system, or of all) or the difference of two systems' means, on one dimension."""

    dimension: str
    quantity: Literal["mean", "difference"]
    system: str
    found: PredictionPowered


@dataclass(frozen=True, slots=True)
class Quality:
    """The estimates, what could not be estimated (dimension and system, and why), and warnings about the
    data."""

    estimates: tuple[QualityEstimate, ...]
    refused: tuple[tuple[str, str, str], ...]
    judges: tuple[str, ...]
    warnings: tuple[str, ...]


def estimate_quality(
    ratings: object,
    *,
    reference: Sequence[str],
    judges: Sequence[str] | None = None,
    dimensions: Sequence[str] | None = None,
    scale: Sequence[float] | None = None,
    instrument: Instrument | None = None,
    by_system: bool = False,
    differences: Sequence[tuple[str, str]] = (),
    labels_random: bool = False,
    confidence: float = 0.95,
) -> Quality:
    """Prediction-powered means of every dimension; several judges are averaged into a jury.

    Without `differences` the mean over all systems is given and, with `by_system`, each system's; with
    them, the two systems' means and their difference.
    """
    judged = read_judged(
        ratings, reference=reference, judges=judges, dimensions=dimensions, scale=scale, instrument=instrument
    )
    found, refused = [], []
    for part in judged.dimensions:
        jury = part.jury
        wanted: list[str] = [EVERY_SYSTEM]
        if by_system:
            wanted += sorted(set(part.systems.tolist()) - {""})
        if differences:
            wanted = list(dict.fromkeys(system for pair in differences for system in pair))
            unknown = [system for system in wanted if system not in part.systems]
            if unknown:
                known = ", ".join(sorted(set(part.systems.tolist()) - {""})) or "no system is named"
                raise MedjuryError(f"there is no system {unknown[0]!r} in the ratings; known: {known}.")
        for system in wanted:
            here = part.systems == system if system != EVERY_SYSTEM else part.systems == part.systems
            try:
                made = estimate_mean(
                    part.labels[here],
                    jury[here],
                    cases=part.cases[here],
                    labels_random=labels_random,
                    confidence=confidence,
                )
            except MedjuryError as error:
                refused.append((part.dimension, system, str(error)))
                continue
            found.append(QualityEstimate(part.dimension, "mean", system, made))
        for first, second in differences:
            try:
                made = estimate_difference(
                    part.labels,
                    jury,
                    systems=part.systems.tolist(),
                    first=first,
                    second=second,
                    cases=part.cases,
                    labels_random=labels_random,
                    confidence=confidence,
                )
            except MedjuryError as error:
                refused.append((part.dimension, f"{first} − {second}", str(error)))
                continue
            found.append(QualityEstimate(part.dimension, "difference", f"{first} − {second}", made))
    if not found:
        reasons = "\n".join(f"  {dimension}, {system}: {reason}" for dimension, system, reason in refused)
        raise MedjuryError(f"nothing could be estimated:\n{reasons}")
    return Quality(tuple(found), tuple(refused), judged.judges, judged.warnings)
