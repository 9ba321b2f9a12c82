"""Simulated studies of reasons: how often a judge names the problem that a clinician names, as it was planted."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks._rate_studies import together
from benchmarks._studies import Truthful
from medjury.analysis.audits import reason_overlap

SHARES = (0.3, 0.7)
PROBLEMS = ("the dose of the drug", "an allergy was left out", "no follow up is planned")
# Of the judge that compares reasons without quotations; one pair in three has a clinician's label.
SENSITIVITY, SPECIFICITY, LABELLED = 0.85, 0.8, 3


def reason_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """By quotations of n cases, and without any by a judge that errs, on three times as many cases of which n are
    labelled."""
    generator = np.random.default_rng(seed)
    found: dict[str, Truthful] = {}
    for share in SHARES:
        same, whose = together(generator, share, cases, answers)
        table = _ratings(generator, same, whose, quoted=True)
        found[f"reasons that overlap in {share:g}, by quotations"] = (
            reason_overlap(table).rows[0].overlap,
            share,
        )
        same, whose = together(generator, share, cases * LABELLED, answers)
        table = _ratings(generator, same, whose, quoted=False)
        pairs = [f"a{number} - accuracy anna llm" for number in range(len(same))]
        said = np.where(
            same, generator.random(len(same)) < SENSITIVITY, generator.random(len(same)) >= SPECIFICITY
        )
        rows = [(pair, "matcher", "judge", int(each)) for pair, each in zip(pairs, said, strict=True)]
        rows += [
            (pair, "anna", "clinician", int(each))
            for pair, each, case in zip(pairs, same, whose, strict=True)
            if case < cases
        ]
        names = ["item", "rater", "rater_kind", "score"]
        matched = pl.DataFrame(rows, schema=names, orient="row").with_columns(dimension=pl.lit("same"))
        estimate = reason_overlap(table, matched=matched).rows[0].overlap
        found[f"reasons that overlap in {share:g}, by a judge"] = (estimate, share)
    return found


def _ratings(
    generator: np.random.Generator, same: np.ndarray, whose: np.ndarray, *, quoted: bool
) -> pl.DataFrame:
    """A clinician and a judge with a reason each; where these are not the same, the judge names another problem."""
    mark = '"' if quoted else ""
    rows = []
    for number, (alike, case) in enumerate(zip(same.tolist(), whose.tolist(), strict=True)):
        problem = int(generator.integers(len(PROBLEMS)))
        other = problem if alike else (problem + 1 + int(generator.integers(2))) % len(PROBLEMS)
        for rater, kind, named in (("anna", "clinician", problem), ("llm", "judge", other)):
            reason = f"See {mark}{PROBLEMS[named]}{mark}."
            rows.append((f"a{number}", f"p{case}", rater, kind, "accuracy", 2, reason))
    names = ["item", "patient", "rater", "rater_kind", "dimension", "score", "explanation"]
    return pl.DataFrame(rows, schema=names, orient="row")
