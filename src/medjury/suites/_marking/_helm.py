"""HELM's marks: the rules by which MedHELM scores its benchmarks, so that a score can be set beside its own.

They are what crfm-helm 0.5.16 does, in our words and code: `make test-interop` marks the same answers by both.
They are not how we mark. HELM compares what a model wrote and looks for no meaning in it: "B.", "**B**" and "The
answer is B" are wrong where B is right. An answer that makes HELM's own scoring end in an error has no mark.

A benchmark names its rule in its file (`helm: {name: medbullets, rule: letter}`). Those that a jury of models
scores there have none: a rule cannot restate a jury.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark, Helm, Item, Mark
from medjury.suites._marking._codes import CodeCounts
from medjury.suites._marking._exact_match import NO_GOLD
from medjury.suites._marking._sql import QueryResult, run_queries
from medjury.suites._marking._sql_worker import LIMITS

HELM = "helm"  # the name of these marks among those of an answer


def helm_marks(
    benchmark: Benchmark,
    items: Sequence[Item],
    answers: Sequence[str],
    *,
    database: Path | None = None,
    asked_by_helm: bool = False,
) -> list[Mark]:
    """HELM's mark of each answer. Where its prompt asks for other words than ours, an answer that is just the word
    that ours asks for counts as the one that HELM's does; `asked_by_helm` says that HELM's own prompt was asked."""
    helm = benchmark.helm
    if helm is None or helm.rule not in HELM_RULES:
        raise MedjuryError(f"benchmark {benchmark.name}: HELM has no rule that marks an answer to it")
    words = {} if asked_by_helm else helm.words
    said = [words.get(text, text) for text in (each.strip() for each in answers)]
    if helm.rule == "rows":
        return _rows(items, said, database)
    rule = _ONE_BY_ONE[helm.rule]
    return [rule(helm, item, text) if item.gold else NO_GOLD for item, text in zip(items, said, strict=True)]


def _no_number(why: str) -> Mark:
    return Mark(None, Reason.INPUT, note=why)


def _letter(helm: Helm, item: Item, answer: str) -> Mark:
    """The right letter (or HELM's word for it) and nothing else. Letters whose texts are the same are all right."""
    golds = item.gold
    if item.choices:
        first = item.choices[golds[0]]
        texts = {
            first,
            *(text for each in golds if (text := item.choices[each]).casefold() != first.casefold()),
        }
        golds = tuple(letter for letter, text in item.choices.items() if text in texts)
    return Mark(float(answer in {helm.words.get(each, each) for each in golds}))


_FIGURES = re.compile(r"\d+")


def _error_flag(helm: Helm, item: Item, answer: str) -> Mark:
    """Any answer but the word CORRECT says that there is an error: an empty one and a refusal too."""
    figures = _FIGURES.match(answer)
    if figures and len(figures[0]) > sys.get_int_max_str_digits():
        return _no_number(
            "HELM reads a number at the head of the answer, and ends in an error at one so long"
        )
    return Mark(float((answer != "CORRECT") == bool(item.facts["error"])))


# A letter, up to three figures, and up to four behind a dot; what follows (the A of S72.001A) is not read.
_CODE = re.compile(r"\b(?P<code>[A-Z]\d{1,3}(?:\.\d{1,4})?)\.?\b")


def _codes(helm: Helm, item: Item, answer: str) -> Mark:
    """The F1 of this item's codes. HELM averages it over items."""
    wanted, found = (
        {each["code"] for each in _CODE.finditer(text.replace("**", ""))}
        for text in (" ; ".join(item.gold), answer)
    )
    if not wanted and not found:
        return _no_number(
            "HELM reads no code in the answer and none in the gold answer, and ends in an error"
        )
    return Mark(CodeCounts(len(wanted & found), len(found - wanted), len(wanted - found)).f1)


_BY_TEXT = ("risk", "severity", "diagnosis")
_IN_LIMITS = ("dosage conversion", "physical")
_WEEKS = re.compile(r"\('(\d+) weeks', '(\d+) days'\)")


def _calculation(helm: Helm, item: Item, answer: str) -> Mark:
    """A score by its very text; a measure or a dose as a bare number within the limits, a date or a time likewise.
    Everything else, all laboratory values among them, is wrong whatever was answered."""
    category, limits = item.facts.get("category"), item.facts.get("stated_limits")
    if category in _BY_TEXT:
        return Mark(float(answer == item.gold[0]))
    if limits is None:
        return _no_number("the item is not one of HELM's: it has no limits of its source")
    read = float if category in _IN_LIMITS else _weeks_or_day(item.gold[0]) if category == "date" else _never
    try:
        low, high, value = (read(text) for text in (*limits, answer))
    except ValueError:
        return Mark(float(False))
    return Mark(float(low <= value <= high))


def _weeks_or_day(gold: str) -> Callable[[str], float]:
    return _days if _WEEKS.match(gold) else _day


def _days(text: str) -> float:
    found = _WEEKS.match(text)
    if found is None:
        raise ValueError
    weeks, days = map(int, found.groups())
    return 7 * weeks + days


def _day(text: str) -> float:
    return (datetime.strptime(text, "%m/%d/%Y") - datetime.min) / timedelta(days=1)


def _never(text: str) -> float:
    raise ValueError


_BETWEEN_TAGS = re.compile(r"<\s*sql\s*>(?P<query>.*?)</?\s*sql\s*>", re.DOTALL | re.IGNORECASE)
_LANGUAGE = re.compile(r"^sql\n", re.MULTILINE)
# What only our limits stop: nobody knows what HELM, which has none, would have got.
_OUR_LIMITS = ("too slow", "too much", "not allowed")
_READS = re.compile(r"\s*(?:select|with|values)\b", re.IGNORECASE)


def _rows(items: Sequence[Item], answers: Sequence[str], database: Path | None) -> list[Mark]:
    """The same set of rows as the gold query's, not an empty one; where that returns none, an empty answer alone.

    Where a gold query returns no rows, HELM takes what fills the places of its question (a drug, a day) for them,
    so that an empty answer to such a question is wrong too. The day that a query asks for is the machine's.
    """
    if database is None:
        raise MedjuryError("HELM's mark runs queries: name the database that lies beside the questions")
    queries = [_query(each) for each in answers]
    golds = [each.gold[0].strip() if each.gold else "" for each in items]
    distinct = list(dict.fromkeys(filter(None, (*golds, *(each for each in queries if _runs(each))))))
    results = dict(zip(distinct, run_queries(database, distinct), strict=True)) if distinct else {}
    return [
        _compared(item, answer, results.get(gold), query, results.get(query))
        for item, answer, gold, query in zip(items, answers, golds, queries, strict=True)
    ]


def _query(answer: str) -> str:
    tagged = _BETWEEN_TAGS.search(answer)
    return _LANGUAGE.sub("", (tagged["query"] if tagged else answer).replace("`", "").strip())


def _runs(query: str) -> bool:
    return len(query) <= LIMITS[sqlite3.SQLITE_LIMIT_SQL_LENGTH]


def _compared(
    item: Item, answer: str, wanted: QueryResult | None, query: str, got: QueryResult | None
) -> Mark:
    if wanted is None:
        return NO_GOLD
    stopped = not _runs(query) or (got is not None and got.failed in _OUR_LIMITS and _READS.match(query))
    if stopped or wanted.failed in _OUR_LIMITS:
        return _no_number("the query goes beyond our limits of time, size or functions, and HELM has none")
    if not answer:
        return Mark(float(not wanted.rows and not item.facts.get("places")))
    rows = set(got.rows) if got else set()
    return Mark(float(bool(rows) and rows == set(wanted.rows)))


_ONE_BY_ONE: Mapping[str, Callable[[Helm, Item, str], Mark]] = {
    "letter": _letter,
    "error_flag": _error_flag,
    "codes": _codes,
    "calculation": _calculation,
}
# What each rule asks of an answer, in words for a person.
HELM_RULES: Mapping[str, str] = MappingProxyType(
    {
        "letter": "the right letter or word and not a sign more",
        "error_flag": "CORRECT and not a sign more where there is no error, anything else where there is one",
        "codes": "F1 of the codes of each item, without what follows their last figure",
        "calculation": "a score by its very text, a measure or dose as a bare number within the limits, a date as "
        "month/day/year; every laboratory value counts as wrong",
        "rows": "the same set of rows, not an empty one; an empty answer where the gold query returns nothing",
    }
)
