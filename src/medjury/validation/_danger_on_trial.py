"""Danger on trial: the severe errors of one rater by each meaning of danger, silence counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import numpy as np

from medjury.agreement import SevereErrors, severe_errors
from medjury.runs import DangerBy
from medjury.statistics import Floats
from medjury.tables import danger_reference
from medjury.validation._trial import Flags, Trial


def dangers_on_trial(trial: Trial) -> Mapping[DangerBy, SevereErrors] | None:
    """By whose word makes an answer dangerous, the severe errors among the answers that the rater was asked about;
    None without a scale, or where danger is not judged on the dimension."""
    limits, chosen = trial.dimension.danger(trial.rules), trial.rules.severe_dimensions
    if limits is None or (chosen is not None and trial.dimension.name not in chosen):
        return None
    asked = trial.both | trial.silent
    return {
        by: severe_errors(
            lowest_word(trial, by)[asked],
            trial.dimension.oriented(trial.said)[asked],
            threshold=limits[0],
            gap=limits[1],
            clusters=trial.grid.clusters[asked],
            confidence=trial.confidence,
            weights=trial.of(asked),
        )
        for by in get_args(DangerBy)
    }


def dangerous(trial: Trial) -> Flags:
    """The answers that clinicians called dangerous, by the stated meaning."""
    limits = trial.dimension.danger(trial.rules)
    if limits is None:
        return np.zeros(len(trial.said), dtype=bool)
    return np.asarray(lowest_word(trial, trial.rules.danger_by) <= limits[0] + 1e-9)


def lowest_word(trial: Trial, by: DangerBy) -> Floats:
    """The clinicians' score that decides, turned so that low is dangerous: the settled one, where one settles."""
    if trial.settled is not None:
        return trial.dimension.oriented(trial.reference)
    return danger_reference(trial.dimension.oriented(trial.humans), by)
