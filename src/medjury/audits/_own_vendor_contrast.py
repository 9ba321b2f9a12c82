"""The paired contrast: does a judge raise its own vendor's answers above what other judges see in them?

No model: the same answers, this judge less the judges of other vendors, own vendor's answers less the others.
What makes a vendor simply better makes it better for all judges, and cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medjury.audits._audit import Finding
from medjury.audits._audited import Audited
from medjury.audits._resampled import Floats, resampled_p, sums_by_cluster
from medjury.audits._vendors import Vendors
from medjury.statistics import Estimate, Read, Replicates, undefined
from medjury.tables import Grid

PLAIN, SCALED = "own_vendor_contrast", "own_vendor_contrast_scaled"
NO_SCALE = "the other systems are too few, or too alike, to show how the judge uses the scale"
# A straight line through fewer systems than this fits too well to say anything.
LEAST_SYSTEMS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """What one judge is compared on: its scores and its baseline's on the same answers (NaN where one of them
    is missing), which answers are its own vendor's, and which are the others to compare them with."""

    judge: str
    scores: Floats
    baseline: Floats
    own: NDArray[np.bool_]
    others: NDArray[np.bool_]

    @property
    def used(self) -> NDArray[np.bool_]:
        known = ~np.isnan(self.scores) & ~np.isnan(self.baseline)
        return np.asarray(known & (self.own | self.others))

    @property
    def n(self) -> int:
        return int(np.count_nonzero(self.used))


def contrast_findings(
    about: Audited, grid: Grid, vendors: Vendors, *, dimension: str
) -> tuple[list[Finding], list[str]]:
    """Both contrasts of every judge with judges of other vendors as the baseline, and their mean over judges;
    with reference raters, the same with those as the baseline (`own_vendor_contrast_reference…`)."""
    findings: list[Finding] = []
    warnings: list[str] = []
    baselines = {"": {judge: vendors.baseline(judge) for judge in vendors.judges}}
    if about.reference:
        baselines["_reference"] = {judge: list(about.reference) for judge in vendors.judges}
    for suffix, baseline in baselines.items():
        contrasts = []
        for judge in vendors.judges:
            if not vendors.own(judge):
                continue
            others = vendors.neutral(judge, [] if suffix else baseline[judge])
            if not others:
                others = [system for system in vendors.systems if system not in vendors.own(judge)]
                warnings.append(
                    f"{dimension}: every other system shares a vendor with a judge, so what {judge} is "
                    "compared with holds the other judges' own preferences too"
                )
            made = _contrast(grid, judge, baseline[judge], vendors.own(judge), others)
            if made is None:
                reason = (
                    f"no answers of its own vendor and of others were scored by both {judge} and its baseline"
                )
                nothing = undefined(reason, 0, "paired contrast")
                findings.append(Finding(PLAIN + suffix, nothing, judge, dimension, vendors.judges[judge]))
            else:
                contrasts.append(made)
        if not contrasts:
            continue
        drawn = about.drawn(*contrast_sums(contrasts, grid))
        for kind in (PLAIN, SCALED):
            for contrast in contrasts:
                of = f"{kind} {contrast.judge}"
                estimate = _estimate(about, drawn, of, contrast.n)
                findings.append(
                    Finding(
                        kind + suffix,
                        estimate,
                        contrast.judge,
                        dimension,
                        vendors.judges[contrast.judge],
                        p_value=resampled_p(drawn, of, estimate),
                    )
                )
            together = int(np.count_nonzero(np.any([each.used for each in contrasts], axis=0)))
            estimate = _estimate(about, drawn, kind, together)
            p_value = resampled_p(drawn, kind, estimate)
            findings.append(Finding(kind + suffix, estimate, "", dimension, p_value=p_value))
    return findings, warnings


def _contrast(
    grid: Grid, judge: str, baseline: Sequence[str], own: Sequence[str], others: Sequence[str]
) -> Contrast | None:
    if not baseline:
        return None
    # The mean of whoever is there would change its meaning from answer to answer: all of them, or none.
    base = np.mean([grid.scores[name] for name in baseline], axis=0)
    made = Contrast(
        judge,
        grid.scores[judge],
        base,
        np.isin(grid.systems, list(own)),
        np.isin(grid.systems, list(others)),
    )
    return made if (made.used & made.own).any() and (made.used & made.others).any() else None


def _estimate(about: Audited, drawn: Replicates, name: str, n: int) -> Estimate:
    return replace(drawn.estimate(name, confidence=about.confidence, reason=NO_SCALE), n=n)


def contrast_sums(contrasts: Sequence[Contrast], grid: Grid) -> tuple[Floats, Callable[[Floats], Read]]:
    """Of every case the sums that both contrasts are made of, and how to read them: of every judge
    (`NAME JUDGE`), and their means over judges (`NAME`).

    With d = judge − baseline, `own_vendor_contrast` is mean(d | own) − mean(d | others). Judges who use the
    scale differently would bias it: where a vendor is better and the judge spreads its scores more than the
    baseline does, d grows with quality. `own_vendor_contrast_scaled` therefore maps the baseline to the
    judge's scale by the straight line through the means of the other systems, and asks how far the judge's
    mean of its own vendor's answers lies above that line."""
    systems = np.unique(grid.systems, return_inverse=True)[1]
    inside = np.eye(int(systems.max()) + 1)[systems]
    # Every part of both contrasts is a sum over answers, so a case is one row of sums.
    features = np.hstack([_features(each, inside) for each in contrasts])

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            found: dict[str, Floats] = {}
            parts = np.split(weights @ rows, len(contrasts), axis=1)
            for each, sums in zip(contrasts, parts, strict=True):
                found[f"{PLAIN} {each.judge}"], found[f"{SCALED} {each.judge}"] = _both(sums)
            for kind in (PLAIN, SCALED):
                found[kind] = np.mean([found[f"{kind} {each.judge}"] for each in contrasts], axis=0)
            return found

        return read

    return sums_by_cluster(features, grid.clusters), statistics


def _features(contrast: Contrast, inside: Floats) -> Floats:
    """Of every answer: is it used as own, and the two scores; then the same per system for the others."""
    own, others = (contrast.used & role for role in (contrast.own, contrast.others))
    judge, base = (np.where(contrast.used, values, 0.0) for values in (contrast.scores, contrast.baseline))
    of_system = inside * others[:, np.newaxis]
    return np.hstack(
        [
            np.column_stack([own, judge * own, base * own]),
            of_system,
            of_system * judge[:, np.newaxis],
            of_system * base[:, np.newaxis],
        ]
    )


def _both(sums: Floats) -> tuple[Floats, Floats]:
    size, judge_own, base_own = sums[:, :3].T
    counts, judge, base = np.split(sums[:, 3:], 3, axis=1)
    judge_own, base_own = judge_own / size, base_own / size
    plain = judge_own - base_own - (judge.sum(axis=1) - base.sum(axis=1)) / counts.sum(axis=1)
    return plain, judge_own - _line(judge / counts, base / counts, base_own)


def _line(judge_means: Floats, base_means: Floats, at: Floats) -> Floats:
    """The judge's score expected at `at`, on the straight line through the system means of each resample."""
    present = ~np.isnan(judge_means)
    enough = present.sum(axis=1) >= LEAST_SYSTEMS
    counts = np.where(enough, present.sum(axis=1), np.nan)
    x, y = (np.where(present, values, 0.0) for values in (base_means, judge_means))
    mean_x, mean_y = x.sum(axis=1) / counts, y.sum(axis=1) / counts
    centred = np.where(present, x - mean_x[:, np.newaxis], 0.0)
    spread = (centred**2).sum(axis=1)
    slope = (centred * y).sum(axis=1) / np.where(spread > 1e-9, spread, np.nan)
    return np.asarray(mean_y + slope * (at - mean_x))
