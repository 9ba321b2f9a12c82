"""Sets of ICD-10 codes: which an answer holds, counts kept so that items can be averaged rightly."""

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

ITEM = Item(
    "1", {"note": "Diabetes, hypertension, a broken hip."}, facts={"codes": ["E11.9", "I10", "S72.001A"]}
)


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("E11.9, I10, S72.001A", "E119, I10, S72001A"),
        ("e11.9; i10", "E119"),  # small letters without a dot are no code in prose
        ("i10\ne11.9", "E119, I10"),
        ("E119 I10", "E119, I10"),
        ("E11.9, E11.9, E119", "E119"),
        ("Codes: E11.9 (type 2 diabetes), I10 (hypertension).", "E119, I10"),
        ("The patient has hypertension (I10) and takes vitamin B12 for type 2 diabetes, E11.9.", "E119, I10"),
        ("- **E11.9** Type 2 diabetes\n- **I10** Hypertension", "E119, I10"),
        ('{"codes": ["E11.9", "I10"]}', "E119, I10"),
        ("I10-I12", "I10, I11, I12"),
        ("E11.0 to E11.2", "E110, E111, E112"),
        ("I10 - E11.9", "E119, I10"),
        ("I10, not E11.9", "I10"),
        ("<think>J45?</think>I10", "I10"),
        ("T45.1X5A, C7A.00, Z3A.20", "C7A00, T451X5A, Z3A20"),
        ("H1N1 influenza, I10. BP 120/80, 5 mg.", "I10"),
        ("none", ""),
        ("No codes apply.", ""),
    ],
)
def test_codes_are_found_wherever_they_are_written(answer: str, read: str) -> None:
    assert mark(benchmark(), ITEM, answer, "code_f1").read == read


def test_the_score_of_an_item_is_its_f1_and_the_counts_are_kept() -> None:
    found = mark(benchmark(), ITEM, "E11.9, I10, J45.909", "code_f1")
    assert found.score == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert counts_of(found) == code_counts(ITEM, "E11.9, I10, J45.909") == CodeCounts(2, 1, 1)


def test_the_average_over_items_is_formed_from_their_sums() -> None:
    assert micro_f1([CodeCounts(9, 0, 0), CodeCounts(0, 1, 1)]) == pytest.approx(18 / 20)
    assert micro_f1([CodeCounts(1, 0, 0), CodeCounts(0, 4, 4)]) == pytest.approx(2 / 10)
    assert micro_f1([]) == 1


def codes(answer: str, *gold: str) -> str:
    note = {"note": "A note that is long enough."}
    found = read_codes(answer, Item("1", note, facts={"codes": list(gold)}))
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
