"""The metrics by their names, and the functions that mark answers by any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._codes import code_f1
from medjury.suites._marking._error_sentence import error_flag, error_sentence
from medjury.suites._marking._exact_match import exact_match
from medjury.suites._marking._medcalc import medcalc
from medjury.suites._marking._similarity import SIMILARITIES, similarities
from medjury.suites._marking._sql import sql_marks
from medjury.suites._marking._yes_no import yes_no_maybe

JURY = "jury"
_ONE_BY_ONE: Mapping[str, Callable[[Benchmark, Item, str], Mark]] = {
    "exact_match": exact_match,
    "yes_no_maybe": yes_no_maybe,
    "code_f1": code_f1,
    "error_flag": error_flag,
    "error_sentence": error_sentence,
    "medcalc": medcalc,
}
# What each metric says of an answer, in words for a person.
METRICS: Mapping[str, str] = MappingProxyType(
    {
        "exact_match": "the answer is the gold one",
        "yes_no_maybe": "the answer says yes, no or maybe as the gold one does",
        "code_f1": "F1 of the codes, micro-averaged over items",
        "error_flag": "an error is seen where there is one",
        "error_sentence": "the sentence with the error is found",
        "medcalc": "the result of a calculation is right by the rule of its type",
        "sql_execution": "the query returns what the gold query returns",
        "rouge_l": "words shared with the gold answer in their order (ROUGE-L)",
        "bertscore": "nearness of the words to the gold answer's (BERTScore)",
        "embedding": "nearness of the whole text to the gold answer (sentence embedding)",
        JURY: "the mean of a jury's grades, from 0 to 1",
    }
)


def mark(benchmark: Benchmark, item: Item, answer: str, metric: str, *, database: Path | None = None) -> Mark:
    """What `metric` says of an answer to an item: a score from 0 to 1, or none and why."""
    return mark_all(benchmark, [item], [answer], metric, database=database)[0]


def mark_all(
    benchmark: Benchmark,
    items: Sequence[Item],
    answers: Sequence[str],
    metric: str,
    *,
    database: Path | None = None,
) -> list[Mark]:
    """`mark` for many answers at once: a database is opened, and a model of words loaded, once for all of them."""
    if metric == JURY:
        raise MedjuryError("jury: a jury's score comes from a run of judges, not from the answer alone")
    if metric not in METRICS:
        raise MedjuryError(f"There is no metric {metric!r} for benchmarks; {nearest(metric, list(METRICS))}")
    if metric in SIMILARITIES:
        return similarities(benchmark, items, answers, metric)
    if metric == "sql_execution":
        return sql_marks(benchmark, items, answers, database)
    marker = _ONE_BY_ONE[metric]
    return [marker(benchmark, item, answer) for item, answer in zip(items, answers, strict=True)]
