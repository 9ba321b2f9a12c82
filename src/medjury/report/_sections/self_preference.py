"""Self-preference: does a judge score answers of its own vendor higher than other judges do?"""

from __future__ import annotations

import numpy as np
import polars as pl

from medjury.audits import self_preference
from medjury.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section

_CASES = 300
_STATISTICS = {"same_vendor": "mixed model", "own_vendor_contrast": "paired contrast"}


def section(material: Material) -> Section | None:
    evidence = material.evidence
    if len(evidence.judges) < 2 or len(evidence.systems) < 2:
        return None
    title = "Self-preference"
    systems = dict(evidence.settings.system_vendors or {})
    if not systems:
        text = (
            "Who made the systems is not stated, so it cannot be known whether a judge favours its own "
            "vendor's answers. "
            "State it in the study file: `report: {system_vendors: {SYSTEM: VENDOR}}`; `none` is a system "
            "of no vendor."
        )
        return Section("self-preference", title, paragraph(text, class_="note"))
    vendors = {
        str(judge.get("name")): str((judge.get("models") or [{}])[0].get("vendor") or "none")
        for judge in evidence.manifest.get("judges", ())
    }
    rows = evidence.ratings.filter(
        pl.col("rater_kind") == "judge", pl.col("dimension").is_in([each.name for each in evidence.gated])
    )
    items = rows["item"].unique().sort().to_numpy()
    note = ""
    if len(items) > _CASES:
        items = np.random.default_rng(evidence.settings.seed).choice(items, _CASES, replace=False)
        rows = rows.filter(pl.col("item").is_in(items.tolist()))
        note = (
            f"On {_CASES} cases drawn at random (seed {evidence.settings.seed}); `medjury audit` takes "
            "them all."
        )
    try:
        audit = self_preference(
            rows,
            judge_vendor=vendors,
            system_vendor={system: systems.get(system, "none") for system in evidence.systems},
            resamples=500,
            seed=evidence.settings.seed,
        )
    except (MedjuryError, ImportError) as error:
        return Section("self-preference", title, paragraph(str(error), class_="note"))
    lines: list[tuple[Cell, ...]] = [
        (
            evidence.label(each.dimension),
            each.rater or "all judges",
            _STATISTICS[each.statistic],
            each.estimate.n,
            each.estimate,
            each.p_adjusted,
            each.verdict,
        )
        for each in audit.findings
        if each.statistic in _STATISTICS
    ]
    table = material.exhibits.table(
        "self-preference",
        ("dimension", "judge", "method", "n", "grades more for its own", "adjusted p", "verdict"),
        lines,
        caption="How much higher a judge scores answers of its own vendor, with 95 % intervals",
        digits=3,
        shown=60,
    )
    return Section(
        "self-preference",
        title,
        Html((paragraph(note, class_="soft") if note else Html("")) + table + bullets(audit.warnings)),
    )
