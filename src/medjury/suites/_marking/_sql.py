"""SQL by what it returns: the answer's query and the gold one are run on the same database and their rows compared.

Rows are compared as a bag: how often each comes counts, their order does only where the gold query orders them.
Names of columns do not count, their order does. Numbers may differ by a millionth of their size. NULL equals NULL
and nothing else: not 0, not an empty text. A question that the database cannot answer is rightly answered `null`.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark, Item, Mark
from medjury.suites._marking import _sql_worker
from medjury.suites._marking._exact_match import NO_GOLD
from medjury.suites._marking._reading import Reading, said

# Runs SQL that a model wrote, in a process that may read one database and nothing else (`_sql_worker.py`).

Row = tuple[object, ...]
SECONDS = 5.0  # for one query
_START = 10.0  # for the process, on a busy machine
_PATIENCE = 10  # the limit is one of processor time; a machine may be this much busier than one query


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, or why there are none: a few words that quote nothing of it."""

    rows: tuple[Row, ...] = ()
    failed: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether all it returned is no row, NULL or 0, as a query does that found nothing."""
        return not self.failed and all(value is None or value == 0 for row in self.rows for value in row)


def run_queries(
    database: Path, queries: Sequence[str], *, seconds: float = SECONDS, now: str | None = None
) -> tuple[QueryResult, ...]:
    """The result of each query. One that takes too long or too much costs its own result, not that of the others.

    `now` is the instant that date('now'), CURRENT_TIME and their like see, where a benchmark fixes the day; else it
    is that of this call: all queries see the same, so that a gold query and an answer are never a midnight apart.
    """
    if not database.is_file():
        raise MedjuryError(f"{database}: there is no such database, and SQL answers are run on it")
    instant = (
        {"now": now} if now else {"now": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3], "clock": True}
    )
    found: list[QueryResult] = []
    while len(found) < len(queries):
        some = _sandbox_run(database, list(queries[len(found) :]), seconds, instant)
        found += some
        if len(found) < len(queries):  # the process was ended while it ran the next one
            found.append(QueryResult(failed="too slow or too much"))
    return tuple(found)


def _sandbox_run(
    database: Path, queries: list[str], seconds: float, instant: Mapping[str, object]
) -> list[QueryResult]:
    address = f"{database.resolve().as_uri()}?mode=ro&immutable=1"
    task = json.dumps({"address": address, "queries": queries, "seconds": seconds, **instant})
    command = [sys.executable, "-I", "-S", _sql_worker.__file__]
    with subprocess.Popen(  # noqa: S603 - our own program; the query travels as data
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as worker:
        try:
            output, _ = worker.communicate(task, timeout=_START + _PATIENCE * (seconds + 0.5) * len(queries))
        except subprocess.TimeoutExpired:
            worker.kill()
            output, _ = worker.communicate()  # all that was written before
    return [_result(line) for line in output.splitlines() if line.endswith("}")]


def _result(line: str) -> QueryResult:
    value = json.loads(line)
    if "failed" in value:
        return QueryResult(failed=value["failed"])
    return QueryResult(tuple(tuple(row) for row in value["rows"]))


ABSTAINED = "null"
_TOLERANCE = 1e-6
_MOST_MATCHED = 500  # rows that are matched one by one where sorting them does not
_VERB = (
    r"(?:select|with|values|insert|update|delete|replace|drop|create|alter|attach|detach|pragma|vacuum|explain|begin|"
    r"reindex|analyze)"
)
_FENCE = re.compile(r"```[ \t]*(?:(?:sqlite3|sqlite|sql)\b)?[ \t]*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(r"<sql>(.*?)</sql>", re.DOTALL | re.IGNORECASE)
_OPEN_FENCE = re.compile(
    r"```[ \t]*(?:(?:sqlite3|sqlite|sql)\b)?[ \t]*\n(?!.*```)(.*)", re.DOTALL | re.IGNORECASE
)
_STARTS = re.compile(
    rf"(?:^|\n)\s*(?:(?:sql(?:ite)?|query|answer|sql\s+query)\s*:\s*)?(?P<query>(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*{_VERB}\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_PROSE = re.compile(
    r";\s*\n\s*(?=[A-Z][a-z]+ )|;\s*\n\s*\n(?=[A-Z])|\n\s*\n(?=(?:This|The|Note|Explanation|Here|It|In)\b)"
)
_ABSTAINS = re.compile(
    r"[\W_]*(?:(?:answer|query|sql)\s*:\s*)?[\W_]*(?:null|none|n/?a|unanswerable|impossible|not\s+answerable|cannot\s+answer)[\W_]*",
    re.IGNORECASE,
)
_SAYS_IMPOSSIBLE = re.compile(
    r"\b(?:can\s?not|can['’]t|could\s+not)\s+be\s+answered|\bunanswerable\b|\bnot\s+(?:answerable|possible\s+to\s+answer)|\bimpossible\s+to\s+answer|"
    r"\b(?:cannot|can['’]t|unable\s+to)\s+(?:be\s+)?answer|\bno\s+(?:table|column)s?\s+(?:that\s+)?(?:hold|contain|store)",
    re.IGNORECASE,
)


def sql_marks(
    benchmark: Benchmark, items: Sequence[Item], answers: Sequence[str], database: Path | None
) -> list[Mark]:
    """1 for each answer that returns what its gold query returns, or rightly abstains."""
    queries = [read_query(answer) for answer in answers]
    pairs = list(zip(items, queries, strict=True))
    marks = [_without_running(item, query) for item, query in pairs]
    open_ones = [place for place, mark in enumerate(marks) if mark is None]
    asked = [text for place in open_ones for text in (items[place].gold[0], str(queries[place]))]
    distinct = list(dict.fromkeys(asked))
    results = dict(zip(distinct, _run(benchmark, distinct, database), strict=True)) if distinct else {}
    for place in open_ones:
        gold, query = items[place].gold[0], str(queries[place])
        marks[place] = _compared(gold, query, results[gold], results[query])
    return [mark or NO_GOLD for mark in marks]


def _without_running(item: Item, query: str | Reading) -> Mark | None:
    """The mark of what need not be run: nothing that could be read, and abstaining, rightly or not."""
    if not item.gold:
        return NO_GOLD
    if isinstance(query, Reading):
        return Mark(None, query.reason, note=query.note)
    abstained = query == ABSTAINED
    if is_impossible(item):
        note = "" if abstained else "the question cannot be answered from the database"
        return Mark(float(abstained), read=query, note=note)
    return Mark(0.0, read=query, note="the question can be answered from the database") if abstained else None


def _run(benchmark: Benchmark, queries: Sequence[str], database: Path | None) -> tuple[QueryResult, ...]:
    if database is None:
        raise MedjuryError("sql_execution runs queries: name the database that lies beside the questions")
    seconds = float(benchmark.options.get("seconds", SECONDS))
    return run_queries(database, queries, seconds=seconds, now=benchmark.options.get("now"))


def is_impossible(item: Item) -> bool:
    """Whether the right answer is to abstain."""
    return bool(item.facts.get("is_impossible", item.gold[:1] == (ABSTAINED,)))


def _compared(gold: str, query: str, wanted: QueryResult, got: QueryResult) -> Mark:
    if wanted.failed:
        return Mark(None, Reason.INPUT, read=query, note=f"the item's own query: {wanted.failed}")
    if got.failed:
        return Mark(0.0, read=query, note=f"the query was not run to its end: {got.failed}")
    return Mark(float(same_rows(wanted, got, ordered=orders_rows(gold))), read=query)


def read_query(answer: str) -> str | Reading:
    """The one query of an answer, or `null` where it abstains."""
    text = said(answer)
    if isinstance(text, Reading):
        return text
    if _ABSTAINS.fullmatch(text):
        return ABSTAINED
    queries = list(dict.fromkeys(each.strip().rstrip(";").strip() for each in _candidates(text)))
    if len(queries) > 1:
        return Reading(None, Reason.PARSE, "the answer holds several queries that differ; one was asked for")
    if queries:
        return ABSTAINED if _ABSTAINS.fullmatch(queries[0]) else queries[0]
    if _SAYS_IMPOSSIBLE.search(text):
        return ABSTAINED
    return Reading(None, Reason.PARSE, "the answer holds no query")


def _candidates(text: str) -> list[str]:
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = {}
        given = [str(value[name]) for name in ("query", "sql", "answer") if value.get(name) is not None]
        if given:
            return given[:1]
    tagged = [_FENCE.sub(r"\1", each) for each in _TAGS.findall(text)]
    fenced = [each for each in (*tagged, *_FENCE.findall(_TAGS.sub("", text))) if each.strip()]
    fenced = fenced or _OPEN_FENCE.findall(text)
    if fenced:
        return [each for each in fenced if _STARTS.match(each.strip()) or _ABSTAINS.fullmatch(each)]
    found = _STARTS.search(text)
    return [_PROSE.split(found.group("query"))[0]] if found else []


def orders_rows(query: str) -> bool:
    """Whether a query orders its rows itself, not only those of a part in parentheses."""
    plain = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", " ", query, flags=re.DOTALL)
    outer: list[str] = []
    depth = 0
    for sign in plain:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        outer.append(sign if depth == 0 else " ")
    return re.search(r"\border\s+by\b", "".join(outer), re.IGNORECASE) is not None


def same_rows(wanted: QueryResult, got: QueryResult, *, ordered: bool) -> bool:
    """Whether two results are the same bag of rows, or the same list where the order counts."""
    if len(wanted.rows) != len(got.rows):
        return False
    if ordered:
        return all(map(_same_row, wanted.rows, got.rows))
    first, second = sorted(wanted.rows, key=_place), sorted(got.rows, key=_place)
    if all(map(_same_row, first, second)):
        return True
    return len(first) <= _MOST_MATCHED and _matched(first, second)


def _matched(first: list[Row], second: list[Row]) -> bool:
    """Pairs rows one by one, for numbers so near that sorting may have put them in another order."""
    left = list(second)
    for row in first:
        place = next((number for number, other in enumerate(left) if _same_row(row, other)), None)
        if place is None:
            return False
        del left[place]
    return True


def _place(row: Row) -> tuple[tuple[int, float, str], ...]:
    return tuple(
        (0, 0.0, "")
        if value is None
        else (1, float(value), "")
        if isinstance(value, int | float)
        else (2, 0.0, str(value))
        for value in row
    )


def _same_row(one: Row, other: Row) -> bool:
    return len(one) == len(other) and all(map(_same_value, one, other))


def _same_value(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=1e-9)
    return type(one) is type(other) and one == other
