"""Sets of ICD-10 codes: which an answer holds, counts kept so that items can be averaged rightly."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._codes import CodeCounts, code_counts, counts_of, micro_f1
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


def test_dots_and_case_make_no_difference_in_the_gold_codes_either() -> None:
    item = Item("1", {}, ("e119; I10",))
    assert mark(benchmark(), item, "E11.9, I10", "code_f1").score == 1


def test_the_average_over_items_is_formed_from_their_sums() -> None:
    assert micro_f1([CodeCounts(9, 0, 0), CodeCounts(0, 1, 1)]) == pytest.approx(18 / 20)
    assert micro_f1([CodeCounts(1, 0, 0), CodeCounts(0, 4, 4)]) == pytest.approx(2 / 10)
    assert micro_f1([]) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", Reason.EMPTY),
        ("Diabetes and hypertension.", Reason.PARSE),
        ("I'm sorry, I cannot assign codes.", Reason.REFUSAL),
    ],
)
def test_an_answer_without_codes_has_no_score_and_misses_all(answer: str, reason: Reason) -> None:
    found = mark(benchmark(), ITEM, answer, "code_f1")
    assert found.reason is reason
    assert counts_of(found) == CodeCounts(0, 0, 3)


def test_codes_of_procedures_count_where_the_gold_codes_are_of_that_kind() -> None:
    item = Item("1", {}, facts={"codes": ["0DTJ4ZZ", "I10"]})
    assert mark(benchmark(), item, "0DTJ4ZZ and I10", "code_f1").score == 1


def test_a_range_without_end_is_not_written_out() -> None:
    assert len(mark(benchmark(), ITEM, "A00.000-A99.999", "code_f1").read.split(",")) == 2
