"""What to know before a prediction-powered estimate is believed: how labels were drawn, and what has no score."""

from __future__ import annotations

from medjury.analysis.calibration._estimates.prediction_powered_part import (
    FEW_CASES,
    LABELLED_CASES,
    UNLABELLED_CASES,
    Part,
)
from medjury.statistics import counted, percent


def warnings_of(parts: list[Part], labels_random: bool, cases: int, variance: float) -> tuple[str, ...]:
    found = []
    if not labels_random:
        found.append(
            "the labelled items were not stated to be a random draw; if they were chosen in any other "
            "way (the difficult ones, the first ones), no estimate here is valid"
        )
    found += [
        f"the jury scores labelled items differently from unlabelled ones (z = {part.imbalance:.1f}): "
        "they do not look like a random draw"
        for part in parts
        if abs(part.imbalance) > 3
    ]
    found += [
        f"too few {which} cases ({count}, at least {least} are needed): the jury is not used, the labels speak "
        "alone"
        for part in parts
        for which, count, least in (
            ("unlabelled", part.n_scored_cases[1], UNLABELLED_CASES),
            ("labelled and scored", part.n_scored_cases[0], LABELLED_CASES),
        )
        if count < least
    ]
    found += [text for part in parts for text in _about_unscored(part)]
    if cases < FEW_CASES:
        found.append(f"only {cases} labelled cases: read the interval with care below {FEW_CASES}")
    if variance <= 1e-20:
        found.append("all labelled items agree, so the interval has no width and says nothing")
    return tuple(found)


def _about_unscored(part: Part) -> list[str]:
    """Answers without a jury score: how many, whether clinicians think less of them, whether they were labelled."""
    if not part.n_unscored:
        return []
    one = part.n_unscored_labelled == 1
    found = [
        f"{part.whose}: {counted(part.n_unscored, 'answer')} without a jury score, {part.n_unscored_labelled} of "
        f"them with a label{', which counts' if one else ', which count' if part.n_unscored_labelled else ''}"
    ]
    if part.unscored_apart is not None and abs(part.unscored_apart[0]) > 2.0 * part.unscored_apart[1]:
        lower = part.unscored_apart[0] < 0
        found.append(
            f"{part.whose}: the clinicians' mean of answers that the jury left unscored is "
            f"{abs(part.unscored_apart[0]):.2f} {'lower' if lower else 'higher'} than of the others: what is "
            "missing depends on quality, and the jury's own mean leaves it out"
        )
    labelled, rest = part.missing
    error = (rest * (1.0 - rest) / max(int(part.labelled_cases.sum()), 1)) ** 0.5
    if error > 0 and rest - labelled > 3.0 * error:
        found.append(
            f"{part.whose}: {percent(labelled, 1)} of labelled and {percent(rest, 1)} of unlabelled answers have "
            "no jury score: the labelled ones do not look like a random draw, and no estimate holds for the "
            "unscored"
        )
    return found
