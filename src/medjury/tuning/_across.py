"""The tuned prompt with other models: each asked several times, and every run held against the settled label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medjury.analysis.agreement import RepeatedAgreement, agreement_by_repeat
from medjury.instruments import Instrument, Score, Unscored
from medjury.judging import Rater
from medjury.tables import rating_table
from medjury.tuning._labelled import Labelled
from medjury.tuning._search.adapter import candidate_id
from medjury.tuning._session import Session

_SETTLED = "settled label"


async def across_models(
    session: Session, raters: Sequence[Rater], instrument: Instrument, cases: Sequence[Labelled], runs: int
) -> RepeatedAgreement:
    """Mean and SD over runs of accuracy, macro F1, kappa and F1 of each class; each run is a draw of its own."""
    import polars as pl

    rows = [_row(each, _SETTLED, "clinician", name, 0, value, None)
            for each in cases for name, value in each.truth.items()]  # fmt: skip
    for rater in raters:
        name = f"{candidate_id(instrument)}@{rater.settings_hash()[:12]}"
        for run in range(runs):
            judged = await session.judge(instrument, name, cases, repeat=run, rater=rater)
            for case, each in zip(cases, judged, strict=True):
                for dimension, outcome in each.outcomes.items():
                    score = outcome.value if isinstance(outcome, Score) else None
                    reason = outcome.reason.value if isinstance(outcome, Unscored) else None
                    rows.append(_row(case, rater.name, "judge", dimension, run, score, reason))
    table = rating_table(pl.DataFrame(rows, infer_schema_length=None), instrument=instrument)
    return agreement_by_repeat(table, reference=_SETTLED)


def _row(
    case: Labelled, rater: str, kind: str, dimension: str, run: int, score: float | None, reason: str | None
) -> dict[str, Any]:
    status = "scored" if score is not None else "not_applicable" if reason is None else "unscored"
    return {
        "item": case.case.id, "system": case.case.system, "rater": rater, "rater_kind": kind,
        "dimension": dimension, "repeat": run, "score": score, "status": status, "reason": reason,
    }  # fmt: skip
