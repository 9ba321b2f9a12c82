"""SQL answers: run where they can do no harm, and compared by what they return."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from pathlib import Path

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites import Item, load_benchmark
from medjury.suites._marking._metrics import mark
from medjury.suites._marking._sql import run_queries
from medjury.suites._marking._sql_worker import run_one


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records with blank") / "ward #1?.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE drug (patient INTEGER, name TEXT, dose REAL);"
            "INSERT INTO drug VALUES (1, 'aspirin', 100), (2, 'aspirin', 75.5), "
            "(3, 'heparin', NULL), (1, 'heparin', 5);"
            "CREATE VIRTUAL TABLE notes USING fts5(words); INSERT INTO notes VALUES ('a secret');"
        )
    connection.close()
    return file


HARMFUL = (
    "DELETE FROM drug",
    "INSERT INTO drug VALUES (9, 'x', 1)",
    "UPDATE drug SET dose = 0",
    "DROP TABLE drug",
    "CREATE TABLE more (a)",
    "CREATE TEMP TABLE more AS SELECT * FROM drug",
    "CREATE VIEW v AS SELECT 1",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    "CREATE TRIGGER t AFTER INSERT ON drug BEGIN SELECT 1; END",
    "ATTACH DATABASE '/tmp/other.sqlite' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "PRAGMA table_info(drug)",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "SELECT * FROM pragma_table_info('drug')",
    "SELECT * FROM pragma_database_list",
    "VACUUM INTO '/tmp/copy.sqlite'",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "BEGIN",
    "SAVEPOINT s",
    "EXPLAIN DELETE FROM drug",
    "SELECT load_extension('/tmp/evil.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM notes",
    "SELECT * FROM notes_content",
    "SELECT * FROM json_each('[1]')",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM dbstat",
    "SELECT * FROM sqlite_master",
    "SELECT count(*) FROM notes",
    "SELECT count(*) FROM pragma_database_list",
    "SELECT count(*) FROM json_each('[1]')",
    "SELECT count(*) FROM sqlite_master",
    "SELECT randomblob(10)",
    "SELECT zeroblob(10)",
    "SELECT random()",
    "SELECT sqlite_version()",
    "SELECT 1; DELETE FROM drug",
    "SELECT 1; SELECT 2",
    "SELECT 1; -- one\nDROP TABLE drug",
    "/* SELECT */ DELETE FROM drug",
    "-- SELECT 1\nDELETE FROM drug",
    "SELECT 1 /* ; */; DELETE FROM drug --",
    "WITH gone AS (SELECT 1) DELETE FROM drug",
    "REPLACE INTO drug VALUES (1, 'x', 1)",
    "SELECT ?",
    "SELECT :name",
)


def test_nothing_but_reading_the_tables_is_allowed(database: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    results = run_queries(database, [*HARMFUL, "SELECT count(*) FROM drug"])
    allowed = [query for query, result in zip(HARMFUL, results, strict=False) if not result.failed]
    assert allowed == []
    assert results[-1].rows == ((4,),)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert [each.name for each in database.parent.iterdir()] == [database.name]


ENDLESS = (
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000) SELECT count(*) FROM n a, n b, n c",
    "WITH RECURSIVE n(x) AS (SELECT 'aaaaaaaaaaaa' UNION ALL SELECT x || x FROM n) SELECT max(length(x)) FROM n",
    "SELECT replace(printf('%.*c', 100000, 'x'), 'x', printf('%.*c', 100000, 'y'))",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 4000000) "
    "SELECT group_concat(x || printf('%.*c', 1000, 'x')) FROM n",
)


def test_what_would_never_end_or_fill_the_memory_is_stopped(database: Path) -> None:
    results = run_queries(database, [*ENDLESS, "SELECT 1"], seconds=0.2)
    assert {each.failed for each in results[:-1]} <= {"too slow", "too much", "too slow or too much"}
    assert results[-1].rows == ((1,),)


def test_one_step_that_no_handler_sees_is_ended_with_its_process(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is searched within one step of SQLite, however long that takes: only the process can be stopped."""
    monkeypatch.setattr("medjury.suites._marking._sql._START", 1.0)
    search = "SELECT instr(printf('%.*c', 1900000, 'a'), printf('%.*c', 900000, 'a') || 'b')"
    before = time.monotonic()
    results = run_queries(database, ["SELECT 1", search, "SELECT 2"], seconds=0.3)
    assert time.monotonic() - before < 20
    assert [each.rows for each in results] == [((1,),), (), ((2,),)]
    assert results[1].failed == "too slow or too much"


@pytest.mark.parametrize(
    ("gold", "answer", "score"),
    [
        ("SELECT name FROM drug", "SELECT name FROM drug ORDER BY name", 1),
        ("SELECT name FROM drug ORDER BY dose", "SELECT name FROM drug ORDER BY dose DESC", 0),
        ("SELECT DISTINCT name FROM drug", "SELECT name FROM drug", 0),
        (
            "SELECT name FROM drug WHERE patient = 1",
            "SELECT d.name AS other FROM drug d WHERE d.patient IN (1)",
            1,
        ),
        ("SELECT sum(dose) FROM drug", "SELECT 180.50000001", 1),
        ("SELECT sum(dose) FROM drug", "SELECT 180.6", 0),
        ("SELECT count(*) FROM drug", "SELECT 4.0", 1),
        ("SELECT dose FROM drug WHERE patient = 3", "SELECT NULL", 1),
        ("SELECT dose FROM drug WHERE patient = 3", "SELECT 0", 0),
        ("SELECT dose FROM drug WHERE patient = 3", "SELECT ''", 0),
        ("SELECT dose FROM drug WHERE patient = 99", "SELECT NULL", 0),
        ("SELECT '5'", "SELECT 5", 0),
        ("SELECT patient, name FROM drug", "SELECT name, patient FROM drug", 0),
        ("SELECT 1", "SELECT nothing FROM drug", 0),
        ("SELECT 1", "SELEC 1", None),
        ("SELECT 1", "DROP TABLE drug", 0),
        ("SELECT 1", "null", 0),
    ],
)
def test_an_answer_is_right_by_what_it_returns(
    database: Path, gold: str, answer: str, score: int | None
) -> None:
    assert (
        mark(benchmark(), Item("1", {}, (gold,)), answer, "sql_execution", database=database).score == score
    )


def test_a_gold_query_that_does_not_run_is_a_fault_of_the_item(database: Path) -> None:
    found = mark(
        benchmark(), Item("1", {}, ("SELECT x FROM gone",)), "SELECT 1", "sql_execution", database=database
    )
    assert (found.score, found.reason) == (None, Reason.INPUT)
    assert "no such table" in found.note


def test_a_query_may_count_the_rows_of_its_own_parts(database: Path) -> None:
    (result,) = run_queries(database, ["WITH d AS (SELECT name FROM drug) SELECT count(*) FROM d"])
    assert result.rows == ((4,),)


def test_the_day_can_be_fixed(database: Path) -> None:
    (result,) = run_queries(database, ["SELECT current_date, date(current_time)"], now="2105-12-31 23:59:00")
    assert result.rows == (("2105-12-31", "2105-12-31"),)


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("date('now')", "2105-12-31"),
        ("datetime('NOW', '+1 minute')", "2106-01-01 00:00:00"),
        ("strftime('%Y', 'now')", "2105"),
        ("strftime('%Y')", "2105"),
        ("date()", "2105-12-31"),
        ("date('now', 'start of year')", "2105-01-01"),
        ("current_timestamp", "2105-12-31 23:59:00"),
        ("date('2020-02-03', '+1 day')", "2020-02-04"),
        ("date(NULL)", None),
    ],
)
def test_every_way_to_ask_for_the_day_sees_the_fixed_one(
    database: Path, asked: str, seen: str | None
) -> None:
    (result,) = run_queries(database, [f"SELECT {asked}"], now="2105-12-31 23:59:00")
    assert result.rows == ((seen,),)


def test_gold_and_answer_see_one_instant_though_they_run_one_after_the_other(database: Path) -> None:
    clocks = ["SELECT strftime('%f %s', 'now'), julianday('now'), current_time", "SELECT 1"] * 2
    clocks[2] += ", current_date"
    first, _, second, _ = run_queries(database, clocks)
    assert first.rows[0] == second.rows[0][:3]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", str(first.rows[0][2]))


def test_the_questions_of_ehrsql_are_asked_on_the_day_that_its_authors_fixed() -> None:
    assert load_benchmark("ehrsql").options["now"] == "2105-12-31 23:59:00"


def test_without_a_database_the_message_says_so(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="name the database"):
        mark(benchmark(), Item("1", {}, ("SELECT 1",)), "SELECT 1", "sql_execution")
    with pytest.raises(MedjuryError, match="no such database"):
        run_queries(tmp_path / "gone.sqlite", ["SELECT 1"])


def test_many_rows_are_refused(database: Path) -> None:
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT {}) SELECT x FROM n"
    few, many = run_queries(database, [numbers.format(10_000), numbers.format(10_001)])
    assert len(few.rows) == 10_000
    assert many.failed == "too much"


def test_waiting_for_a_busy_processor_makes_no_query_slow() -> None:
    connection = sqlite3.connect(":memory:")
    connection.create_function("wait", 0, lambda: time.sleep(0.15) or 1)
    slow = (
        "WITH RECURSIVE n(x) AS (SELECT wait() UNION ALL SELECT x + 1 FROM n LIMIT 5000) SELECT max(x) FROM n"
    )
    assert run_one(connection, slow, 0.1)["rows"] == [[5000]]
