"""Trivial answers: which there are for each kind of benchmark, what they score, and what they are right on."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.suites.marking.made_up import SHARED, benchmark

from medjury.foundation.errors import MedjuryError
from medjury.suites import Item, Loaded
from medjury.suites._baselines import baseline_scores, decided_without_reading, trivial_answers

CHOICES = {"A": "Rest", "B": "Surgery"}
CHOSEN = Loaded(
    tuple(Item(str(place), {"question": "Which?"}, (gold,), CHOICES) for place, gold in enumerate("BBAB"))
)


def scores(metric: str, loaded: Loaded, **options: object) -> dict[str, float]:
    return {each.name: each.score for each in baseline_scores(benchmark(metric, **options), loaded)}


def test_choices_have_a_baseline_for_every_letter_and_the_majority() -> None:
    found = scores("exact_match", CHOSEN)
    assert found == {"always B": 0.75, "majority": 0.75, "always A": 0.25, "empty": 0, "copy of the input": 0}


def test_the_best_baseline_comes_first_and_each_names_the_items_on_which_it_is_right() -> None:
    scored = baseline_scores(benchmark("exact_match"), CHOSEN)
    found = {each.name: each.right for each in scored}
    assert scored[0].score == 0.75
    assert found["always A"] == ("2",)
    assert found["majority"] == ("0", "1", "3")


def test_labels_yes_and_no_calculations_and_errors_have_theirs() -> None:
    labelled = Loaded((Item("1", {}, ("finding",)), Item("2", {}, ("none",))))
    assert scores("exact_match", labelled, labels=["finding", "none"])["always finding"] == 0.5
    said = Loaded((Item("1", {}, ("no",)), Item("2", {}, ("no",)), Item("3", {}, ("maybe",))))
    assert scores("yes_no_maybe", said)["always no"] == pytest.approx(2 / 3)
    number = {"output_type": "integer"}
    sums = Loaded(tuple(Item(gold + place, {}, (gold,), facts=number) for gold, place in ("0a", "4a", "4b")))
    assert scores("medcalc", sums) | {"always 0": 1 / 3, "majority": 2 / 3} == scores("medcalc", sums)
    shown = {"sentences": {0: "x", 1: "y"}}
    right = Item("1", {}, ("CORRECT",), facts={"error": False, "error_sentence": -1, **shown})
    wrong = Item("2", {}, ("1 z",), facts={"error": True, "error_sentence": 1, **shown})
    texts = Loaded((right, wrong))
    assert scores("error_sentence", texts)["always CORRECT"] == 0.5
    assert scores("error_sentence", texts)["always sentence 1"] == 0.5


def test_code_sets_have_no_codes_and_the_most_frequent_ones() -> None:
    coded = Loaded(
        tuple(
            Item(str(place), {}, facts={"codes": codes})
            for place, codes in enumerate((["I10", "E11.9"], ["I10"], ["I10"]))
        )
    )
    found = scores("code_f1", coded)
    assert found["no codes"] == 0
    assert found["majority"] == pytest.approx(6 / 7)  # three of four codes, none too many
    assert trivial_answers(benchmark("code_f1"), coded.items)["most frequent codes"]["0"] == "I10"


def test_an_open_benchmark_has_the_empty_answer_and_the_copy() -> None:
    item = Item("1", {"note": "fever and cough"}, ("fever and cough for two days",))
    assert set(scores("rouge_l", Loaded((item,)))) == {"empty", "copy of the input"}
    assert scores("rouge_l", Loaded((item,)))["copy of the input"] > 0.5
    assert baseline_scores(benchmark("jury"), Loaded((item,))) == ()


@pytest.fixture
def small(tmp_path: Path) -> Loaded:
    file = tmp_path / "small.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript("CREATE TABLE drug (name TEXT); INSERT INTO drug VALUES ('aspirin')")
    connection.close()
    golds = (
        "SELECT name FROM drug",
        "SELECT name FROM drug WHERE name = 'x'",
        "SELECT count(*) FROM drug WHERE 0",
        "SELECT max(name) FROM drug WHERE 0",
        "null",
        "SELECT gone FROM drug",
    )
    items = (
        Item(str(place), {}, (gold,), facts={"is_impossible": gold == "null"})
        for place, gold in enumerate(golds)
    )
    return Loaded(tuple(items), database=file)


def test_a_query_that_returns_nothing_is_right_where_the_database_holds_nothing(small: Loaded) -> None:
    kind = benchmark("sql_execution")
    found = {each.name: each.right for each in baseline_scores(kind, small)}
    assert found["query that returns nothing"] == ("1",)
    assert found["SELECT 0"] == ("2",)
    assert found["SELECT NULL"] == ("3",)
    assert found["always null"] == ("4",)
    assert decided_without_reading(kind, small) == ("1", "2", "3")


def test_items_at_fault_are_not_counted_against_anybody(small: Loaded) -> None:
    for each in baseline_scores(benchmark("sql_execution"), small):
        assert set(each.marks) == {"0", "1", "2", "3", "4"}


def test_a_lucky_letter_does_not_make_an_item_undecided() -> None:
    assert decided_without_reading(benchmark("exact_match"), CHOSEN) == ()
    assert decided_without_reading(benchmark("exact_match"), CHOSEN, ["always A"]) == ("2",)
    with pytest.raises(MedjuryError, match="no baseline 'always Z'"):
        decided_without_reading(benchmark("exact_match"), CHOSEN, ["always Z"])


def test_on_the_public_copy_of_eicu_most_right_queries_return_nothing() -> None:
    folder = SHARED / "ehrsql_eicu"
    if not folder.is_dir():
        pytest.skip("EHRSQL with its database (shared/data/benchmarks/ehrsql_eicu) is not on this machine")
    rows = json.loads((folder / "valid.json").read_text(encoding="utf-8"))
    items = tuple(
        Item(
            row["id"],
            {"question": row["question"]},
            (row["query"],),
            facts={"is_impossible": row["is_impossible"]},
        )
        for row in rows
    )
    loaded = Loaded(items, database=folder / "eicu.sqlite")
    kind = benchmark("sql_execution")
    found = {each.name: each for each in baseline_scores(kind, loaded)}
    runs = [item for item in items if not item.facts["is_impossible"] and item.id in found["SELECT 0"].marks]
    assert len(runs) == 751
    assert len(decided_without_reading(kind, loaded)) == 737
    assert len(found["always null"].right) == 362
