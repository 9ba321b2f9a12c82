"""The jury of calibrated jurors: each juror's own map first, and one score of the calibrated ones after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._part import Marks, Part
from medjury.analysis.calibration._saved import SavedCalibration
from medjury.analysis.calibration._study import JURY_OF_CALIBRATED
from medjury.foundation.errors import MedjuryError
from medjury.tables import Grid, RatingTable, mean_of_raters

Applied = Mapping[str, Mapping[str, tuple[Grid, Floats, Marks]]]


def jury_of_calibrated(
    table: RatingTable, parts: Sequence[tuple[SavedCalibration, Part]], applied: Applied
) -> tuple[dict[str, tuple[Part, Floats, Marks, Marks]], list[str]]:
    """By dimension: the part, the scores, where a juror was asked and where the dimension applies to none of them;
    and what to tell the reader. As in `calibrate report`, a unit that lacks the score of a juror has none: where
    jurors vary from unit to unit, each juror's map cannot put right what the change does to the mean."""
    rule = table.jury_rule.rule
    if rule == "majority":
        raise MedjuryError(
            "calibrated scores are no grades, so that there are no equal votes to count; form the jury of "
            "calibrated jurors by --jury mean or --jury median"
        )
    formed = {member for each, _ in parts if len(each.members) > 1 for member in each.members}
    judges = {each.rater for each, _ in parts if table.raters.get(each.rater) not in ("jury", "metric", None)}
    jurors = sorted(formed or judges)
    found: dict[str, tuple[Part, Floats, Marks, Marks]] = {}
    told: list[str] = []
    for dimension, part in {each.dimension: part for each, part in parts}.items():
        missing = [name for name in jurors if dimension not in applied.get(name, {})]
        if len(jurors) < 2 or missing:
            why = f"no calibration of {', '.join(missing)}" if missing else "it takes two calibrated jurors"
            told.append(f"dimension {dimension!r} has no {JURY_OF_CALIBRATED}: {why}")
            continue
        scores = np.column_stack([applied[name][dimension][1] for name in jurors])
        skipped = np.column_stack([applied[name][dimension][2] for name in jurors]).all(axis=1)
        asked = np.column_stack([part.asked(name) for name in jurors]).any(axis=1)
        complete = ~np.isnan(scores).any(axis=1)
        joined = np.full(len(scores), np.nan)
        joined[complete] = (
            mean_of_raters(scores[complete]) if rule == "mean" else np.median(scores[complete], axis=1)
        )
        if left := int((asked & ~complete & ~skipped).sum()):
            told.append(
                f"dimension {dimension!r}: {left} units lack the score of a juror; {JURY_OF_CALIBRATED} has none"
            )
        found[dimension] = (part, joined, np.asarray(asked), np.asarray(skipped))
    return found, told
