"""Another program's scores of a benchmark's items as ratings: one row for each item and metric, whether or not it
scored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from medjury.instruments import Reason
from medjury.store.ratings import Rating
from medjury.suites._benchmark import Benchmark
from medjury.suites._exchange._as_recorded import read_given
from medjury.suites._exchange._given import GivenAnswer, GivenRun
from medjury.suites._exchange._match import match_answers
from medjury.suites._item import Item

_NOBODY_KNOWS_WHEN = "1970-01-01T00:00:00.000+00:00"


def ratings_of_given(
    path: str | Path, benchmark: Benchmark, items: Sequence[Item]
) -> tuple[list[Rating], list[str]]:
    """The scores that HELM or Inspect gave to the items of a benchmark, and what a reader must know of them. The
    rater is the program, the dimension its metric. A metric without a number, and an answer that never came, are
    unscored ratings."""
    found: list[Rating] = []
    told = []
    for run in read_given(Path(path)):
        matched = match_answers(benchmark, items, run.answers)
        metrics = sorted({name for answer in run.answers for name in answer.scores})
        for item, answer in matched.answers.items():
            found += [_rating(benchmark, run, item, answer, metric) for metric in metrics]
        told += [
            f"{run.model}: {len(ids):,} of {len(items):,} items have no score: {why}"
            for why, ids in matched.unmatched.items()
        ]
        told += run.told
    return found, told


def _rating(benchmark: Benchmark, run: GivenRun, item: str, answer: GivenAnswer, metric: str) -> Rating:
    score = answer.scores.get(metric)
    failed = Reason.PROVIDER if answer.failure else Reason.MISSING
    said = [run.program, run.model, benchmark.name, item, metric, score, answer.text]
    return Rating(
        item=item,
        system=run.model,
        rater=run.program,
        rater_kind="metric",
        instrument=f"{benchmark.name}@{benchmark.version}",
        dimension=metric,
        repeat=0,
        score=score,
        status="unscored" if score is None else "scored",
        reason=failed if score is None else None,
        explanation="",
        seconds=None,
        tokens_in=None,
        tokens_out=None,
        cost=None,
        created_at=_NOBODY_KNOWS_WHEN,
        key=hashlib.sha256(json.dumps(said).encode()).hexdigest(),
    )
