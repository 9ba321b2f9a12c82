"""Marking: every answer by every metric of its benchmark, trivial answers like any candidate's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from medjury.foundation.clock import utc_now
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.store.ratings import Store, StoredRecord
from medjury.suites._baselines import baseline_scores
from medjury.suites._benchmark import Loaded, Mark
from medjury.suites._exchange._as_ratings import metric_rating
from medjury.suites._leaderboard._results import BaselineResult
from medjury.suites._marking._codes import counts_of
from medjury.suites._marking._helm import HELM, HELM_RULES, helm_marks
from medjury.suites._marking._metrics import JURY, mark_all
from medjury.suites._running._answers import Asked
from medjury.suites._running._suite import Chosen, Suite

# Marks by metric for each (candidate, benchmark, item).
Marks = dict[tuple[str, str, str], dict[str, Mark]]


def mark_answers(suite: Suite, asked: Sequence[Asked]) -> tuple[Marks, dict[str, str]]:
    """Mark all answers that were given. A metric that cannot work here (its model is not installed) is left out,
    and given beside the marks, with why."""
    marks: Marks = {}
    failed: dict[str, str] = {}
    for chosen in suite.benchmarks:
        answered = [
            (each.part.called, item, given.text)
            for each in asked
            for item in chosen.items
            if (given := each.answers.get(f"{chosen.name}/{item.id}")) is not None and given.state == "scored"
        ]
        for metric in chosen.benchmark.metrics if answered else ():
            if metric == JURY:
                continue
            try:
                made = mark_all(
                    chosen.benchmark,
                    [item for _, item, _ in answered],
                    [text for *_, text in answered],
                    metric,
                    database=chosen.loaded.database,
                )
            except (MedjuryError, ImportError, OSError) as error:
                if metric == chosen.benchmark.metrics[0]:
                    raise
                failed[metric] = str(error)
                continue
            for (candidate, item, _), each in zip(answered, made, strict=True):
                marks.setdefault((candidate, chosen.name, item.id), {})[metric] = each
        helm = chosen.benchmark.helm
        if suite.settings.marks == HELM and helm is not None and helm.rule in HELM_RULES:
            try:
                _add_helms(suite, chosen, asked, marks)
            except MedjuryError as error:
                failed[HELM] = str(error)
    return marks, failed


def _add_helms(suite: Suite, chosen: Chosen, asked: Sequence[Asked], marks: Marks) -> None:
    """HELM marks what there is of an answer, be it empty, cut or a refusal; only what never came has no mark. It
    cuts a prompt that is too long, and we do not, so that such an item has none either."""
    for each in asked:
        helms = suite.asked_by_helm.get(each.part.called)
        given = [
            (item, (helms or {}).get(f"{chosen.name}/{item.id}", found.text))
            for item in chosen.items
            if (found := each.answers.get(f"{chosen.name}/{item.id}")) is not None
            and found.state != "missing"
            and found.reason != Reason.CONTEXT
        ]
        made = helm_marks(
            chosen.benchmark,
            [item for item, _ in given],
            [text for _, text in given],
            database=chosen.loaded.database,
            asked_by_helm=helms is not None,
        )
        for (item, _), mark in zip(given, made, strict=True):
            marks.setdefault((each.part.called, chosen.name, item.id), {})[HELM] = mark


def weight_of(metric: str, found: Mark) -> float:
    """How much a mark counts in the score of its benchmark: a micro average sums the parts of all items first."""
    if metric != "code_f1" or (counts := counts_of(found)) is None:
        return 1.0
    return float(max(1, 2 * counts.true + counts.false + counts.missed))


def store_marks(suite: Suite, marks: Marks, store: Store) -> str:
    """Keep the marks in the store as ratings of the metrics, with what was read; the name of their run."""
    now = utc_now()
    labels = {each.name: f"{each.name}@{each.benchmark.version}" for each in suite.benchmarks}
    ratings, records = [], []
    each_mark = ((*key, metric, each) for key, own in marks.items() for metric, each in own.items())
    for candidate, benchmark, item, metric, each in each_mark:
        label = labels[benchmark]
        stated = [label, item, candidate, metric, each.score, each.reason, each.read, each.note]
        made = metric_rating(item, candidate, metric, label, metric, each.score, each.reason,
                             explanation=each.note, created_at=now, stated=stated)  # fmt: skip
        ratings.append(made)
        body = json.dumps({"kind": "mark", "read": each.read, "note": each.note})
        records.append(StoredRecord(made.key, item, candidate, metric, 0, body, now))
    whole = hashlib.sha256("".join(sorted(each.key for each in ratings)).encode()).hexdigest()
    run = f"{suite.name} marks@{whole[:12]}"
    store.put_run(run, {"suite": suite.name, "marks": len(ratings)})
    store.write_ratings(run, ratings, records)
    return run


def text_marks(found: Mapping[str, Mark], first: str) -> dict[str, float]:
    """The scores of the further metrics."""
    return {name: each.score for name, each in found.items() if name != first and each.score is not None}


# Trivial answers, marked like any candidate's: what a benchmark gives to somebody who never read it.


def trivial_of(suite: Suite) -> tuple[tuple[BaselineResult, ...], dict[str, frozenset[str]]]:
    """The trivial answers of every benchmark that is marked without a jury, and by benchmark the items that they
    decide: on which an answer that says nothing is right about the question. One that is always A is right on some
    items by luck, which decides none; one that cannot be read is not right."""
    found, decided = [], {}
    for chosen in suite.benchmarks:
        metric = chosen.benchmark.metrics[0]
        if metric == JURY:
            continue
        made = baseline_scores(
            chosen.benchmark, Loaded(chosen.items, database=chosen.loaded.database), metric
        )
        decided[chosen.name] = frozenset(item for each in made if each.says_nothing for item in each.right)
        found += [
            BaselineResult(
                chosen.name,
                each.name,
                {item: mark.score or 0.0 for item, mark in each.marks.items()},
                {item: weight_of(metric, mark) for item, mark in each.marks.items()},
            )
            for each in made
        ]
    return tuple(found), decided
