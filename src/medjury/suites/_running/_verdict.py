"""What may be said of a jury: its verdict, and its agreement with clinicians beside that of text metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from medjury.analysis.agreement import icc_3_k_z, mean_icc_3_k_z
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats
from medjury.store.runs import RunFolder
from medjury.suites._leaderboard import AgreementResult, JuryResult
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of

_UNRATED = "No clinician has rated these answers: nobody knows how far the jury agrees with one."
# Text metrics of a study by the names that a benchmark gives them.
_METRICS = {"rouge_l": "rouge_l", "bert_score": "bertscore", "bertscore": "bertscore"}


def verdict_of(folder: Path, judges: Sequence[str], shown: str, resamples: int) -> JuryResult:
    """The verdict on the jury of one run folder; `shown` is how the page names the folder."""
    try:
        table = open_run(folder, resamples=resamples)
        people = len(table.clinicians)
        found = validation_of(evidence_of(table, checks=RunFolder(folder).verify(unlisted=False)))
    except MedjuryError:
        return JuryResult(
            tuple(judges), shown, {}, "There is no verdict: `medjury gate` on its run folder says why."
        )
    words = {each.label: each.word for each in found.verdicts}
    reasons = dict.fromkeys(reason for each in found.verdicts for reason in each.reasons)
    why = " ".join(list(reasons)[:3]) if people else _UNRATED
    return JuryResult(tuple(judges), shown, words, why, people)


@dataclass(frozen=True)
class Rated:
    """Answers that clinicians rated: by row one answer, the clinicians' mean over the axes in columns, the jury's
    beside them, and those of text metrics."""

    benchmark: str
    items: tuple[str, ...]
    clinicians: Floats
    others: Mapping[str, Floats]


def rated_answers(folder: Path, benchmark: str, axes: Sequence[str]) -> Rated | None:
    """The answers of a run that clinicians rated; None where nobody did."""
    import polars as pl

    table = open_run(folder)
    people = table.default_reference
    if not people:
        return None
    rows = table.rows.filter(pl.col("dimension").is_in(list(axes)), pl.col("score").is_not_null())
    means: dict[str, dict[tuple[str, str], float]] = {}
    for rater, item, system, score in (
        rows.group_by("rater", "item", "system").agg(pl.col("score").mean()).iter_rows()
    ):
        means.setdefault(rater, {})[item, system] = score
    answers = sorted({key for name in people for key in means.get(name, {})})
    if not answers:
        return None

    def column(rater: str) -> list[float]:
        return [means.get(rater, {}).get(key, np.nan) for key in answers]

    others = {"jury": np.array(column(table.stored_jury))} if table.stored_jury else {}
    for rater, kind in table.raters.items():
        if kind == "metric" and rater in _METRICS:
            others[_METRICS[rater]] = np.array(column(rater))
    scores = np.column_stack([column(name) for name in people])
    return Rated(benchmark, tuple(item for item, _ in answers), scores, others)


def agreement_of(rated: Sequence[Rated], **how: Any) -> tuple[AgreementResult, ...]:
    """One row for each benchmark that clinicians rated, and one for all together where they are several."""
    rows = [_row(each.benchmark, each.items, each.clinicians, each.others, how) for each in rated]
    if len(rated) < 2:
        return tuple(rows)
    width = sum(each.clinicians.shape[1] for each in rated)
    blocks, start = [], 0
    for each in rated:  # clinicians of two benchmarks are taken as different people
        block = np.full((len(each.items), width), np.nan)
        block[:, start : start + each.clinicians.shape[1]] = each.clinicians
        start += each.clinicians.shape[1]
        blocks.append(block)
    names = [name for name in rated[0].others if all(name in each.others for each in rated)]
    others = {name: np.concatenate([each.others[name] for each in rated]) for name in names}
    items = tuple(f"{each.benchmark}/{item}" for each in rated for item in each.items)
    return (_row("combined", items, np.vstack(blocks), others, how), *rows)


def _row(
    name: str, items: Sequence[str], clinicians: Floats, others: Mapping[str, Floats], how: Mapping[str, Any]
) -> AgreementResult:
    columns: dict[str, Estimate] = {
        each: icc_3_k_z(clinicians, scores, order="standardise_first", clusters=list(items), **how)
        for each, scores in others.items()
        if np.isfinite(scores).any()
    }
    if clinicians.shape[1] > 1:
        columns["clinicians"] = mean_icc_3_k_z(clinicians, clusters=list(items), **how)
    people = int(np.isfinite(clinicians).any(axis=0).sum())
    return AgreementResult(name, len(items), people, columns)
