"""The placebo of self-preference: the vendors are shuffled over the systems, and the audit is made again.

A shuffled vendor made nothing, so whatever is flagged then is a false alarm of these judges on these systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medjury.analysis.audits._audit import Finding
from medjury.analysis.audits._multiplicity import Adjustment, adjust
from medjury.analysis.audits._self_preference.judge_by_system import Cells
from medjury.analysis.audits._self_preference.same_vendor_model import same_vendor
from medjury.analysis.audits._self_preference.vendors import Vendors
from medjury.statistics import Estimate, percent, undefined

SHUFFLES = 100
# Fewer ways to shuffle say nothing of a share of one in twenty.
LEAST_WAYS = 20
METHOD = "mixed model with the vendors shuffled over the systems"


def placebo_findings(
    cells: Mapping[str, Cells], vendors: Vendors, *, adjustment: Adjustment, confidence: float, seed: int
) -> list[Finding]:
    """The share of rows (a judge, or all of them, on a dimension) that would be flagged with shuffled vendors:
    `placebo_flagged` after the same correction as the findings, `placebo_flagged_uncorrected` before it."""
    draw = np.random.default_rng(seed)
    names, labels = list(vendors.systems), np.array(list(vendors.systems.values()), dtype=object)
    drawn = {tuple(draw.permutation(labels).tolist()) for _ in range(SHUFFLES)} - {tuple(labels.tolist())}
    shuffled = [replace(vendors, systems=dict(zip(names, each, strict=True))) for each in sorted(drawn)]
    shares = [_flagged(cells, each, adjustment, 1.0 - confidence) for each in shuffled]
    rows = np.sum(shares, axis=0) if shares else np.zeros(3)
    findings = []
    for place, name in enumerate(("placebo_flagged", "placebo_flagged_uncorrected")):
        if len(drawn) < LEAST_WAYS:
            reason = f"the vendors can be shuffled in {len(drawn)} ways; {LEAST_WAYS} are the least"
            findings.append(Finding(name, undefined(reason, len(drawn), METHOD)))
        elif not rows[2]:
            findings.append(Finding(name, undefined("no row has an estimate", len(drawn), METHOD)))
        else:
            method = f"no interval: share of rows over {len(drawn)} shuffles, {METHOD}"
            findings.append(
                Finding(name, Estimate(float(rows[place] / rows[2]), None, None, len(drawn), method))
            )
    return findings


def placebo_warnings(placebo: Sequence[Finding], confidence: float) -> list[str]:
    """What the placebo says in words; louder where twice as many rows as the level allows would be flagged."""
    after, before = (each.estimate.value for each in placebo)
    if after is None or before is None:
        return [f"no placebo: {placebo[0].estimate.reason}"]
    said = [f"placebo: with the vendors shuffled, {percent(after)} of the rows would be flagged"]
    if before > 2.0 * (1.0 - confidence):
        said.append(
            f"placebo: before correction it would be {percent(before)} where {percent(1.0 - confidence)} are due: "
            "these judges like single systems too unevenly for any verdict here to be believed"
        )
    return said


def _flagged(
    cells: Mapping[str, Cells], vendors: Vendors, adjustment: Adjustment, level: float
) -> tuple[int, int, int]:
    """Rows flagged after correction, before it, and rows in all; corrected together as the findings are."""
    found = [same_vendor(each, vendors)[0] for each in cells.values()]
    families = ([each[""].p_value() for each in found],
                [effect.p_value() for each in found for judge, effect in each.items() if judge])  # fmt: skip
    after = [p for family in families for p in adjust(family, adjustment) if p is not None]
    before = [p for family in families for p in family if p is not None]
    return sum(p <= level for p in after), sum(p <= level for p in before), len(before)
