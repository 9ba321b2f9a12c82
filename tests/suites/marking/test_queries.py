"""Which query an answer holds, and when two results are the same rows."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark
from medjury.suites._marking._sql import QueryResult, is_impossible, orders_rows, read_query, same_rows


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("SELECT 1;", "SELECT 1"),
        (" select 1 ; ;", "select 1 ;"),
        ("```sql\nSELECT 1;\n```", "SELECT 1"),
        ("So:\n```\nSELECT 1\n```\nand that is it.", "SELECT 1"),
        ("```SQLite\nSELECT 1", "SELECT 1"),
        ("```sql SELECT 1```", "SELECT 1"),
        ("<sql>\nSELECT 1\n</sql>", "SELECT 1"),
        ("<sql>```sql\nSELECT 1\n```</sql>", "SELECT 1"),
        ("<sql>SELECT 1</sql> ```sql\nSELECT 1;\n```", "SELECT 1"),
        ("```\nsome output\n```\n```sql\nSELECT 1\n```", "SELECT 1"),
        ('{"query": "SELECT 1"}', "SELECT 1"),
        ('{"sql": "SELECT 1;", "answer": "SELECT 2"}', "SELECT 1"),
        ('{"query": null, "answer": "SELECT 2"}', "SELECT 2"),
        ('{"query": "null"}', "null"),
        ("SQL: SELECT 1", "SELECT 1"),
        (
            "The query is\nAnswer: WITH a AS (SELECT 1) SELECT * FROM a",
            "WITH a AS (SELECT 1) SELECT * FROM a",
        ),
        ("-- all of them\nSELECT 1", "-- all of them\nSELECT 1"),
        ("SELECT 1;\n\nThis returns one.", "SELECT 1"),
        ("SELECT 1;\nIt returns one.", "SELECT 1"),
        ("SELECT 1\n\nNote that it is one.", "SELECT 1"),
        ("SELECT a\n\nFROM b", "SELECT a\n\nFROM b"),
        ("DROP TABLE a", "DROP TABLE a"),
        ("null", "null"),
        ("Answer: N/A.", "null"),
        ("**unanswerable**", "null"),
        ("```sql\nnull\n```", "null"),
        ("The question cannot be answered from these tables.", "null"),
        ("There are no tables that hold phone numbers.", "null"),
        ("I am unable to answer.", "null"),
        ("NULL", "null"),
        ("`null`", "null"),
        ("This question cannot be answered from the tables.", "null"),
        ("<think>SELECT 2</think>SELECT 1", "SELECT 1"),
        ("Here is the query:\n\n```sqlite\nSELECT 1\n```\nIt returns one.", "SELECT 1"),
        ("The query is:\nSELECT a\nFROM b;\n\nThis returns a.", "SELECT a\nFROM b"),
        ("```sql\nSELECT 1\n```\nAgain:\n```sql\nSELECT 1;\n```", "SELECT 1"),
        ("```sql\nSELECT 1", "SELECT 1"),
        ("SELECT ';' AS sign", "SELECT ';' AS sign"),
        ("It is <sql>SELECT 1;</sql>, I think.", "SELECT 1"),
        ("<SQL>\n```sql\nSELECT 1\n```\n</SQL>", "SELECT 1"),
    ],
)
def test_the_one_query_of_an_answer_is_read(answer: str, query: str) -> None:
    assert read_query(answer) == query


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", Reason.EMPTY),
        ("There are three patients.", Reason.PARSE),
        ("```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```", Reason.PARSE),
        ("<sql>SELECT 1</sql><sql>SELECT 2</sql>", Reason.PARSE),
        ("```python\nprint(1)\n```", Reason.PARSE),
        ("We select one of them.", Reason.PARSE),
        ("<think>SELECT 1", Reason.PARSE),
        ("```sql\nSELECT 1\n``` No: <sql>SELECT 2</sql>", Reason.PARSE),
    ],
)
def test_none_and_several_queries_are_not_guessed_from(answer: str, reason: Reason) -> None:
    found = read_query(answer)
    assert not isinstance(found, str) and found.reason is reason


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("SELECT a FROM b ORDER BY a", True),
        ("select a from b order\n by a", True),
        ("SELECT a FROM (SELECT a FROM b ORDER BY a)", False),
        ("SELECT a FROM (SELECT (1) FROM b) ORDER BY a", True),
        ("SELECT 'order by' FROM b", False),
        ("SELECT 'it''s order by' FROM b", False),
        ('SELECT "order by" FROM b', False),
        ("SELECT a FROM b -- order by a", False),
        ("SELECT a FROM b /* order\nby a */", False),
        ("SELECT a FROM border bya", False),
        ("SELECT 'order by' -- order by\n FROM b", False),
    ],
)
def test_a_query_orders_its_rows_itself_or_not(query: str, ordered: bool) -> None:
    assert orders_rows(query) is ordered


@pytest.mark.parametrize(
    ("wanted", "got", "ordered", "same"),
    [
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], False, True),
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], True, False),
        ([(1, "a")], [(1, "a")], True, True),
        ([(1,), (1,)], [(1,)], False, False),
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False, False),
        ([(1, 2)], [(2, 1)], False, False),
        ([(1,)], [(1, 1)], False, False),
        ([(None,)], [(None,)], False, True),
        ([(None,)], [(0,)], False, False),
        ([(None,)], [("",)], False, False),
        ([("1",)], [(1,)], False, False),
        ([("a",)], [("A",)], False, False),
        ([(1,)], [(1.0,)], False, True),
        ([(1_000_000,)], [(1_000_000.9,)], False, True),
        ([(1_000_000,)], [(1_000_001.1,)], False, False),
        ([(0,)], [(1e-10,)], False, True),
        ([(0,)], [(1e-8,)], False, False),
        # So near that sorting puts them in another order.
        ([(1.0, "b"), (1.0000001, "a")], [(1.0000001, "b"), (1.0, "a")], False, True),
        ([(1.0, "b"), (1.0000001, "a")], [(1.0000001, "c"), (1.0, "a")], False, False),
        ([], [], False, True),
    ],
)
def test_two_results_are_the_same_bag_of_rows_or_the_same_list(
    wanted: list[tuple[object, ...]], got: list[tuple[object, ...]], ordered: bool, same: bool
) -> None:
    assert same_rows(QueryResult(tuple(wanted)), QueryResult(tuple(got)), ordered=ordered) is same
    assert same_rows(QueryResult(tuple(got)), QueryResult(tuple(wanted)), ordered=ordered) is same


def test_so_many_rows_are_matched_one_by_one_and_no_more() -> None:
    first = [(1.0, "b"), (1.0000001, "a")]
    second = [(1.0000001, "b"), (1.0, "a")]
    for more, same in ((498, True), (499, False)):
        rest = [(5.0, str(number)) for number in range(more)]
        results = [QueryResult((*each, *rest)) for each in (first, second)]
        assert same_rows(*results, ordered=False) is same


def test_a_result_says_nothing_where_it_holds_no_more_than_nothing() -> None:
    nothing = [(), ((None,),), ((0,), (0.0,)), ((None, 0),)]
    assert [QueryResult(rows).says_nothing for rows in nothing] == [True] * 4
    assert not QueryResult(((0, 1),)).says_nothing and not QueryResult((("",),)).says_nothing
    assert not QueryResult(failed="too slow").says_nothing


def test_a_question_is_impossible_by_its_facts_else_by_its_gold_answer() -> None:
    assert is_impossible(Item("1", {}, ("SELECT 1",), facts={"is_impossible": True}))
    assert not is_impossible(Item("1", {}, ("null",), facts={"is_impossible": False}))
    assert is_impossible(Item("1", {}, ("null",))) and not is_impossible(Item("1", {}, ("SELECT 1",)))


def test_abstaining_is_right_where_nothing_can_be_asked_and_needs_no_database() -> None:
    def score(gold: str, answer: str) -> float | None:
        return mark(benchmark(), Item("1", {}, (gold,)), answer, "sql_execution").score

    assert (score("null", "null"), score("null", "SELECT 1"), score("SELECT 1", "null")) == (1.0, 0.0, 0.0)
    assert score("SELECT 1", "") is None
    assert mark(benchmark(), Item("1", {}), "SELECT 1", "sql_execution").reason is Reason.INPUT
