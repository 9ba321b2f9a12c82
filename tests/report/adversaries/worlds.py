"""Planted studies: cases of known quality, clinicians who err by a known amount, and what is known of each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

Floats = np.ndarray[Any, np.dtype[np.float64]]
NOISE = 0.5
# What a run folder has in a file of its own.
KNOWN = ("specialty", "group", "length")
SPECIALTIES = ("cardiology", "oncology", "surgery")


@dataclass(frozen=True, eq=False)
class World:
    """One row per answer: `truth` is its quality on grades 1 to 5 before rounding, `clinicians` has a column of
    grades for each clinician, NaN where he or she did not rate. Case by case: specialty, group, length, day."""

    case: Any
    system: Any
    truth: Floats
    names: tuple[str, ...]
    clinicians: Floats
    specialty: Any
    group: Any
    length: Floats
    draw: np.random.Generator

    @property
    def size(self) -> int:
        return len(self.truth)

    def rater(self, noise: float, offset: float = 0.0) -> Floats:
        """The grades of one more rater who errs independently of all others."""
        return graded(self.truth + offset + self.draw.normal(0, noise, self.size))

    def jury(self) -> Floats:
        """The mean of three judges, each about as good as a clinician: a good jury."""
        return np.mean([self.rater(noise) for noise in (0.5, 0.6, 0.7)], axis=0)

    def noise(self) -> Floats:
        """Grades that have nothing to do with the answers, in the shares that clinicians use."""
        return self.draw.permutation(graded(self.truth))

    @property
    def mean(self) -> Floats:
        known = ~np.isnan(self.clinicians)
        return np.nansum(self.clinicians, axis=1) / known.sum(axis=1)

    @property
    def lowest(self) -> Floats:
        return np.nanmin(self.clinicians, axis=1)


def graded(quality: Floats) -> Floats:
    return np.clip(np.floor(quality + 0.5), 1.0, 5.0)


def world(
    seed: int,
    *,
    cases: int = 200,
    systems: Sequence[float] = (-0.2, 0.2),
    spread: float | None = None,
    noise: float = NOISE,
    clinicians: int = 2,
    each: int = 2,
    doubly: int | None = None,
) -> World:
    """A study of the planned size: `cases` answered by systems of these effects, quality uniform over the scale (or
    normal with a `spread`), each case rated by `each` of the `clinicians`, or by one beyond the first `doubly`."""
    draw = np.random.default_rng([seed, 20])
    case = np.repeat(np.arange(cases), len(systems))
    effect = np.tile(np.asarray(systems, dtype=float), cases)
    size = len(case)
    quality = draw.uniform(0.8, 5.2, size) if spread is None else 3.0 + draw.normal(0, spread, size)
    truth = quality + effect
    scores = np.full((size, clinicians), np.nan)
    seats = np.argsort(draw.random((cases, clinicians)), axis=1)[:, :each]
    for place in range(clinicians):
        rated = (seats == place).any(axis=1)
        if doubly is not None:
            rated &= (np.arange(cases) < doubly) | (seats[:, 0] == place)
        grades = graded(truth + draw.normal(0, noise, size))
        scores[:, place] = np.where(rated[case], grades, np.nan)
    return World(
        case,
        np.asarray([f"system-{number}" for number in range(len(systems))])[
            np.tile(np.arange(len(systems)), cases)
        ],
        truth,
        tuple(f"clinician-{number + 1:02d}" for number in range(clinicians)),
        scores,
        np.asarray(SPECIALTIES)[draw.integers(0, 3, cases)][case],
        np.where(draw.random(cases) < 0.35, "65 and older", "younger")[case],
        np.round(draw.lognormal(6.5, 0.6, cases))[case],
        draw,
    )


def ratings(made: World, said: Floats, excused: Any = None) -> pl.DataFrame:
    """The rows of a run, with what is known of each case: the jury's scores (NaN is unscored, or not applicable
    where `excused`) and the clinicians'."""
    items = np.asarray([f"case-{number:04d}" for number in range(int(made.case.max()) + 1)])[made.case]
    days = np.asarray([f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T09:00:00+00:00" for day in range(336)])
    moment = days[(made.case * 336) // (int(made.case.max()) + 1)]
    columns = {
        "item": items,
        "system": made.system,
        "specialty": made.specialty,
        "group": made.group,
        "length": made.length,
        "created_at": moment,
    }
    parts = []
    for name, kind, scores in (
        ("jury", "jury", said),
        *((name, "clinician", made.clinicians[:, place]) for place, name in enumerate(made.names)),
    ):
        missing = np.isnan(scores)
        kept = ~missing if kind == "clinician" else np.ones(made.size, dtype=bool)
        away = np.zeros(made.size, dtype=bool) if excused is None else np.asarray(excused)
        status = np.where(missing, np.where(away, "not_applicable", "unscored"), "scored")
        parts.append(
            pl.DataFrame(
                {
                    **columns,
                    "rater": [name] * made.size,
                    "rater_kind": [kind] * made.size,
                    "instrument": ["note_quality@1.0"] * made.size,
                    "dimension": ["accuracy"] * made.size,
                    "repeat": [0] * made.size,
                    "score": scores,
                    "status": status,
                    "reason": np.where(status == "unscored", "no_quorum", ""),
                    "explanation": [""] * made.size,
                    "key": ["key"] * made.size,
                }
            ).filter(pl.Series(kept))
        )
    return pl.concat(parts).with_columns(
        pl.when(pl.col("score").is_nan()).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(pl.col("reason") != "").then(pl.col("reason")).alias("reason"),
        *(pl.lit(None, dtype=pl.Float64).alias(name) for name in ("seconds", "cost")),
        *(pl.lit(None, dtype=pl.Int64).alias(name) for name in ("tokens_in", "tokens_out")),
    )
