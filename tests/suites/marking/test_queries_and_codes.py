"""Which query and which codes an answer holds, and when two results are the same rows."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._codes import (
    CodeCounts,
    code_counts,
    counts_of,
    gold_codes,
    micro_f1,
    read_codes,
)
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
        ("<think>SELECT 2</think>SELECT 1", "SELECT 1"),
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


# Codes.


def codes(answer: str, *gold: str) -> str:
    found = read_codes(
        answer, Item("1", {"note": "A note that is long enough."}, facts={"codes": list(gold)})
    )
    return " ".join(sorted(found)) if isinstance(found, frozenset) else f"? {found.reason}"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("I10", "I10"),
        ("I10.", "I10"),
        ("I10.5.2", ""),
        ("XI10", ""),
        ("E11.65", "E1165"),
        ("S72.001A", "S72001A"),
        ("E11.ABCD", ""),
        ("E11.12345", ""),
        ("C7A.00 Z3B", "C7A00 Z3B"),
        ("C7C", ""),
        ("i10", "I10"),
        ("- i10\n* e11", "E11 I10"),
        ("has i10 here", ""),
        ("has e11.9 here", "E119"),
        ("vitamin B12", ""),
        ("Vitamins B12 and B06", "B06"),
        ("vitamin B12.5", "B125"),
        ("level L04, root S01", ""),
        ("not I10", ""),
        ("excluding I10, E11", "E11"),
        ("ruled out: I10", ""),
        ("rather than the code I10", ""),
        ("without codes I10", ""),
        ("I10-I12", "I10 I11 I12"),
        ("I10 to I12", "I10 I11 I12"),
        ("I10 through I12", "I10 I11 I12"),
        ("I12-I10", "I10 I12"),
        ("I10-E12", "E12 I10"),
        ("I10-I12.1", "I10 I121"),
        ("E11.0 – E11.2", "E110 E111 E112"),
        ("A00.00-A01.00", " ".join(f"A{number:04d}" for number in range(101))),
        ("A00.00-A01.01", "A0000 A0101"),
        ("I10 and then to I12", "I10 I12"),
        ("none", ""),
        ("[]", ""),
        ("N/A.", ""),
        ("No ICD-10 codes apply", ""),
    ],
)
def test_codes_are_told_from_words_that_look_like_them(answer: str, found: str) -> None:
    assert codes(answer).removeprefix("? parse") == found


def test_procedures_count_only_where_the_item_has_some() -> None:
    assert codes("0DTJ4ZZ I10", "0DTJ4ZZ") == "0DTJ4ZZ I10" and codes("0DTJ4ZZ I10", "I10") == "I10"
    assert codes("ABCDEFG 1234567 0DTJ4ZO", "0DTJ4ZZ") == "? parse"
    assert codes("I'm sorry, I cannot help.") == "? refusal" and codes(" ") == "? empty"


def test_the_gold_codes_are_a_list_or_parted_by_signs() -> None:
    assert gold_codes(Item("1", {}, facts={"codes": ["e11.9", "", "I10"]})) == {"E119", "I10"}
    assert gold_codes(Item("1", {}, ("E11.9; I10", "J45|K21 L03,M10"))) == {
        "E119",
        "I10",
        "J45",
        "K21",
        "L03",
        "M10",
    }
    assert gold_codes(Item("1", {})) == frozenset()


def test_counts_are_right_wrong_and_missing_codes() -> None:
    item = Item("1", {}, facts={"codes": ["I10", "E11.9", "J45"]})
    assert code_counts(item, "I10, K21, L03") == CodeCounts(1, 2, 2)
    assert code_counts(item, "It is high blood pressure") == CodeCounts(0, 0, 3)
    found = mark(benchmark(), item, "I10, K21, L03", "code_f1")
    assert (found.score, found.read, found.note) == (2 / 6, "I10, K21, L03", "tp=1 fp=2 fn=2")
    assert (
        counts_of(found) == CodeCounts(1, 2, 2) and counts_of(mark(benchmark(), item, "x", "rouge_l")) is None
    )
    lost = mark(benchmark(), item, "Nothing", "code_f1")
    assert lost.note == "the answer holds no code; tp=0 fp=0 fn=3" and lost.score is None
    assert mark(benchmark(), Item("1", {}), "I10", "code_f1").reason is Reason.INPUT
    assert (CodeCounts(0, 0, 0).f1, CodeCounts(1, 0, 0).f1, CodeCounts(0, 1, 1).f1) == (1, 1, 0)
    assert micro_f1([CodeCounts(1, 2, 2), CodeCounts(3, 0, 0)]) == 8 / 12
