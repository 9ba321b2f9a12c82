"""The table of a site: one form for every benchmark whose data are not public."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import polars
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import Loaded, load_benchmark, load_items
from medjury.suites._benchmark import Benchmark

OWN = load_benchmark("bmt_status")  # items bring their choices
FIXED = load_benchmark("ehrshot")  # every item has the same


def written(folder: Path, *rows: dict[str, object]) -> Path:
    file = folder / "x.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def read(folder: Path, benchmark: Benchmark, **row: object) -> Loaded:
    return load_items(
        benchmark, written(folder, {"id": "1", "note": "n", "record": "r", "question": "q", **row})
    )


def test_gold_is_a_letter_or_the_text_of_a_choice(tmp_path: Path) -> None:
    for gold in ("B", "b", "Two", "two"):
        found = read(tmp_path, OWN, choices=["one", "two"], gold=gold)
        assert found.items[0].gold == ("B",)


def rows_of(folder: Path, benchmark: Benchmark, *golds: object, choices: object = ("a", "b", "c")) -> Loaded:
    rows = [
        {"id": str(number), "note": "n", "record": "r", "question": "q", "choices": choices, "gold": gold}
        for number, gold in enumerate(golds)
    ]
    return load_items(benchmark, written(folder, *rows))


@pytest.mark.parametrize(("golds", "letters"), [((0, 1, 2), "ABC"), ((1, 2, 3), "ABC"), (("0", "2"), "AC")])
def test_gold_may_be_the_number_of_a_choice(tmp_path: Path, golds: tuple[object, ...], letters: str) -> None:
    found = rows_of(tmp_path, OWN, *golds)
    assert "".join(item.gold[0] for item in found.items) == letters


def test_numbers_that_do_not_tell_where_they_count_from_are_refused(tmp_path: Path) -> None:
    for golds, choices in (((1, 2), ("a", "b", "c")), ((0, 3), ("a", "b", "c")), ((1, 4), ("4", "5", "6"))):
        with pytest.raises(MedjuryError, match="first_answer: 0"):
            rows_of(tmp_path, OWN, *golds, choices=choices)
    from_one = OWN.model_copy(update={"options": {**OWN.options, "first_answer": 1}})
    assert [each.gold for each in rows_of(tmp_path, from_one, 1, 2).items] == [("A",), ("B",)]
    assert "number of no choice" in rows_of(tmp_path, from_one, 0, 4).problems[0]
    texts = rows_of(tmp_path, OWN, 5, 4, choices=("4", "5", "6"))
    assert [each.gold for each in texts.items] == [("B",), ("A",)]


def test_gold_that_may_be_a_letter_or_another_text_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, OWN, choices=["B", "A", "AB", "O"], gold="B")
    assert "may be the letter B or the text of A" in found.problems[0]
    assert read(tmp_path, OWN, choices=["A", "B", "AB", "O"], gold="B").items[0].gold == ("B",)


def test_choices_of_its_own_beside_fixed_ones_are_refused(tmp_path: Path) -> None:
    found = read(tmp_path, FIXED, choices=["No", "Yes"], gold="A")
    assert found.problems == (
        "x.jsonl, row 1: has choices of its own, but the benchmark gives every item the same",
    )
    assert read(tmp_path, FIXED, choices=["Yes", "No"], gold="B").items[0].gold == ("B",)


@pytest.mark.parametrize(
    "choices", [{"A": "one", "C": "two"}, ["one"], ["one", 2], "one, two", ["one", " "], {"x": 1}, 3, True]
)
def test_choices_that_cannot_be_lettered_are_refused(tmp_path: Path, choices: object) -> None:
    found = read(tmp_path, OWN, choices=choices, gold="A")
    assert len(found.problems) == 1
    assert not found.items


def test_an_item_whose_prompt_asks_for_choices_must_have_some(tmp_path: Path) -> None:
    assert "has 0 choices" in read(tmp_path, OWN, gold="yes").problems[0]


def test_several_right_answers_and_code_sets(tmp_path: Path) -> None:
    assert read(tmp_path, OWN, choices=["a", "b", "c"], gold=["a", "c"]).items[0].gold == ("A", "C")
    codes = load_benchmark("mimic_iv_billing_code")
    for gold in (["I10", "e11.9", "I10"], "I10; E11.9", "i10,E11.9", "I10\nE11.9"):
        item = read(tmp_path, codes, gold=gold).items[0]
        assert (item.facts["codes"], item.gold) == (("I10", "E11.9"), ("I10; E11.9",))


def test_the_same_table_is_read_from_every_kind_of_file(tmp_path: Path) -> None:
    rows = [("7", "Cough", "Yes", "p1"), ("8", "Rash", "No", "p2")]
    header = ("id", "note", "gold", "patient")
    (tmp_path / "a.csv").write_text("\n".join(",".join(row) for row in (header, *rows)), encoding="utf-8")
    (tmp_path / "b.tsv").write_text("\n".join("\t".join(row) for row in (header, *rows)), encoding="utf-16")
    polars.DataFrame(rows, schema=list(header), orient="row").write_parquet(tmp_path / "c.parquet")
    book = openpyxl.Workbook()
    for row in (header, (7, *rows[0][1:]), (8, *rows[1][1:])):
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    benchmark = load_benchmark("hospice_referral")
    found = [
        [(item.id, dict(item.inputs), item.gold, item.patient) for item in load_items(benchmark, file).items]
        for file in sorted(tmp_path.iterdir())
    ]
    assert len(found) == 4
    assert found[0] == [("7", {"note": "Cough"}, ("A",), "p1"), ("8", {"note": "Rash"}, ("B",), "p2")]
    assert all(each == found[0] for each in found)


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("id,notes,gold\n1,n,Yes\n", encoding="utf-8")
    with pytest.raises(MedjuryError, match="has no column 'note'; is it the file that the benchmark names"):
        load_items(load_benchmark("hospice_referral"), file)


def test_columns_of_other_names_and_rows_for_ids(tmp_path: Path) -> None:
    columns = {"id": "@row", "note": "Text", "gold": "Label"}
    options = {"columns": columns, "choices": {"A": "Yes", "B": "No"}}
    benchmark = load_benchmark("hospice_referral").model_copy(update={"options": options})
    file = tmp_path / "x.csv"
    file.write_text("Text,Label\nCough,Yes\n\nRash,No\n", encoding="utf-8")
    found = load_items(benchmark, file)
    assert [item.id for item in found.items] == ["row-2", "row-4"]
    assert found.left_out == {"blank row": 1}


def test_a_gap_among_the_choices_would_shift_the_letters_and_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text(
        "id,note,question,choice_C,choice_B,choice_A,gold\n1,n,q,three,,one,C\n2,n,q,,two,one,B\n",
        encoding="utf-8",
    )
    found = load_items(OWN, file)
    assert found.problems == ("x.csv, row 2: a choice before the last is empty",)
    assert [(item.choices, item.gold) for item in found.items] == [({"A": "one", "B": "two"}, ("B",))]
