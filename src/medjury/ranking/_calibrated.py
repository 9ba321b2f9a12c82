"""Ratings with calibrated scores, so that systems can be ranked before and after calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from medjury.calibration import CalibrationStudy
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars


def calibrated_ratings(study: CalibrationStudy, raters: Sequence[str] | None = None) -> polars.DataFrame:
    """A rating table `item, system, patient, rater, dimension, score` of calibrated scores.

    The scores are out of fold: each is calibrated by a map that never saw its case. `raters` are the judges, or
    "jury", in the study; by default all judges but the jury. An answer without a score stays without one.
    """
    import polars as pl

    frames = []
    for each in study.calibrations:
        if each.judge not in raters if raters is not None else len(each.members) > 1:
            continue
        part, pairs = each.part, each.fitted.out_of_fold
        cases = [str(case) for case in part.cases.tolist()]
        frame = pl.DataFrame(
            {
                "item": part.items.tolist(),
                "system": part.systems.tolist(),
                "patient": [
                    case.removeprefix("patient ") if case.startswith("patient ") else None for case in cases
                ],
                "score": pl.Series(pairs.calibrated).fill_nan(None),
                "asked": np.any([part.asked[name] for name in each.members], axis=0),
                "skipped": part.not_applicable_to(each.members),
            },
            schema_overrides={"patient": pl.String},
        )
        frame = frame.filter(pl.col("asked")).with_columns(
            pl.lit(each.judge).alias("rater"),
            pl.lit("jury" if len(each.members) > 1 else "judge").alias("rater_kind"),
            pl.lit(part.dimension).alias("dimension"),
            pl.when(pl.col("skipped") & pl.col("score").is_null())
            .then(pl.lit("not_applicable"))
            .alias("status"),
        )
        frames.append(frame)
    if not frames:
        raise MedjuryError(f"nothing was calibrated for {', '.join(raters or ('any judge',))}.")
    return pl.concat(frames).drop("asked", "skipped")
