"""The parts of a leaderboard: cells at their edges, costs, names, and the tables that machines read."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.suites.leaderboard.made_up import results_of

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined
from medjury.suites._baselines import beats, effect_of_unanswerable
from medjury.suites._leaderboard._cells import best_baseline, cells_of
from medjury.suites._leaderboard._costs import candidate_costs, costs_of, payer_costs, total
from medjury.suites._leaderboard._data import (
    board_json,
    cells_csv,
    checks_csv,
    choice_data,
    costs_csv,
    csv_text,
    not_probed,
    page_data,
    reach_effects,
    reach_rows,
    standings_csv,
)
from medjury.suites._leaderboard._names import metric_name, reason_name, slugs
from medjury.suites._leaderboard._results import (
    AnswerResult,
    BaselineResult,
    ItemResult,
    MemoryResult,
    ReachResult,
    Results,
    Spending,
)
from medjury.suites._leaderboard._standings import NOTHING_SCORED, Board, board_of


def answer(
    item: int, state: Any = "scored", score: float | None = 1.0, benchmark: str = "b", **more: Any
) -> AnswerResult:
    why = "" if state == "scored" else more.pop("reason", "timeout")
    return AnswerResult(
        benchmark, f"i{item}", "one", state, score if state == "scored" else None, why, **more
    )


def with_answers(results: Results, *answers: AnswerResult) -> Results:
    new = {(each.benchmark, each.item, each.candidate): each for each in answers}
    kept = tuple(new.pop((each.benchmark, each.item, each.candidate), each) for each in results.answers)
    return replace(results, answers=(*kept, *new.values()))


# Cells.


def test_a_cell_holds_what_is_counted_and_its_bounds() -> None:
    results = results_of({"one": [30]}, items=40, benchmarks=["b"])
    lost = with_answers(
        results,
        answer(0, "missing"),
        answer(1, "missing", reason="provider"),
        answer(2, "unanswered", reason="refusal"),
        answer(3, others={"rouge_l": 0.5}),
        answer(4, others={"rouge_l": 1.0, "jury": 0.25}),
    )
    cell = cells_of(lost, resamples=200)["one", "b"]
    assert cell.comparable and cell.as_dict() == {
        "benchmark": "b", "candidate": "one", "items": 40, "scored": 37, "complete": False,
        "unanswered": {"refusal": 1}, "missing": {"timeout": 1, "provider": 1},
        "score": 27 / 38, "score_low": cell.score.low, "score_high": cell.score.high, "among_answers": 27 / 37,
        "worst": 27 / 40, "best": 29 / 40, "compared": 27 / 38, "method": cell.score.method,
        "others": {"rouge_l": {"mean": 0.75, "n": 2}, "jury": {"mean": 0.25, "n": 1}},
        "baseline": "", "baseline_score": None, "above_baseline": None, "above_baseline_low": None,
        "above_baseline_high": None, "beats_baseline": "",
    }  # fmt: skip


@pytest.mark.parametrize(("lost", "comparable"), [(0, True), (2, True), (3, False), (40, False)])
def test_a_candidate_that_lacks_more_than_a_twentieth_is_compared_with_nobody(
    lost: int, comparable: bool
) -> None:
    results = with_answers(
        results_of({"one": [30], "two": [20]}, items=40, benchmarks=["b"]),
        *(answer(item, "missing") for item in range(lost)),
    )
    cells = cells_of(results, resamples=200)
    assert (
        cells["one", "b"].comparable is comparable and (cells["one", "b"].compared is not None) is comparable
    )
    shared = 40 - lost if comparable else 40
    hits = 20 - lost if comparable else 20
    assert cells["two", "b"].compared == hits / shared


def test_an_item_that_nobody_was_asked_about_is_missing() -> None:
    results = results_of({"one": [3]}, items=4, benchmarks=["b"])
    cell = cells_of(replace(results, answers=results.answers[:3]), resamples=200)["one", "b"]
    assert cell.missing == {"not asked": 1} and cell.score.value == 1.0
    assert (cell.worst, cell.best) == (0.75, 1.0)
    none = cells_of(replace(results, answers=()), resamples=200)["one", "b"]
    assert (none.worst, none.best) == (0.0, 1.0)
    assert none.score.value is none.among_answers is none.compared is None
    empty = cells_of(replace(results, items=(), answers=()), resamples=200)["one", "b"]
    assert (empty.items, empty.worst, empty.best, empty.score.value) == (0, None, None, None)


def test_what_a_missing_answer_weighs_is_not_known() -> None:
    results = with_answers(
        results_of({"one": [4]}, items=4, benchmarks=["b"]),
        answer(0, score=0.5, weight=3.0),
        answer(1, "missing"),
    )
    cell = cells_of(results, resamples=200)["one", "b"]
    assert cell.score.value == pytest.approx((1.5 + 1 + 1) / 5) and (cell.worst, cell.best) == (0.0, 1.0)


def test_the_items_of_a_patient_are_resampled_together() -> None:
    results = results_of({"one": [20]}, items=40, benchmarks=["b"])
    whole = replace(
        results, items=tuple(replace(each, patient=f"p{int(each.item[1:]) // 4}") for each in results.items)
    )
    single, grouped = (cells_of(each, resamples=200)["one", "b"].score for each in (results, whole))
    assert single.value == grouped.value == 0.5
    assert grouped.high - grouped.low > 1.3 * (single.high - single.low)  # type: ignore[operator]


def test_the_best_trivial_answer_is_that_of_these_items_and_may_weigh() -> None:
    first = BaselineResult("b", "always A", {"i0": 1.0, "i1": 0.0}, {"i0": 3.0})
    second = BaselineResult("b", "always B", {"i0": 0.0, "i1": 1.0, "i2": 1.0})
    assert first.mean(["i0", "i1"]) == 0.75 and second.mean(["i0", "i1"]) == 0.5
    assert best_baseline([first, second], ["i0", "i1"]) is first
    assert best_baseline([first, second], ["i1"]) is second
    assert best_baseline([first, second], ["i0", "i1", "i2"]) is second
    assert best_baseline([first, second], []) is None and best_baseline([first], ["i9"]) is None


@pytest.mark.parametrize(
    ("value", "low", "word"),
    [(0.0, -1, "does not beat it"), (-0.1, -1, "does not beat it"),
     (0.1, 0.01, "beats it"), (0.1, 0.0, "cannot be told"), (0.1, None, "cannot be told")],
)  # fmt: skip
def test_a_trivial_answer_is_beaten_where_the_whole_interval_is_above(
    value: float, low: float | None, word: str
) -> None:
    assert beats(Estimate(value, low, None if low is None else 1.0, 5, "")) == word
    assert beats(undefined("nothing", 0, "")) == "cannot be told"


# Standings.


def test_a_board_knows_what_is_incomplete_a_sample_or_decided() -> None:
    results = with_answers(
        results_of({"one": [10, 10], "two": [8, 8]}, baseline=5, benchmarks=["b", "c"]), answer(0, "missing")
    )
    results = replace(
        results, benchmarks=(results.benchmarks[0], replace(results.benchmarks[1], sample=True))
    )
    board = board_of(results, resamples=200, confidence=0.9)
    assert [(cell.candidate, cell.benchmark) for cell in board.incomplete] == [("one", "b")]
    assert board.samples == ["c"] and board.decided == 10
    assert board.confidence == 0.9 and not board.leave_out_decided
    assert board.baseline_macro() == (0.25, 2)
    assert board_of(results_of({"one": [1]}), resamples=200).baseline_macro() is None
    assert list(board.categories) == ["Clinical Decision Support", "Clinical Note Generation"]
    assert board.categories["Clinical Note Generation"].benchmarks == ("c",)
    assert board.overall.find("two") is not None and board.overall.find("three") is None


def test_who_lacks_several_benchmarks_is_told_how_many_and_nothing_scored_ranks_nobody() -> None:
    results = results_of({"one": [10] * 3, "two": [8] * 3}, benchmarks=["b", "c", "d"])
    lost = [replace(answer(item, "missing", benchmark=name)) for name in "bc" for item in range(9)]
    board = board_of(with_answers(results, *lost), resamples=200)
    assert board.overall.unranked == {"one": "no rank: b and 1 more INCOMPLETE"}
    nothing = board_of(replace(results, answers=()), resamples=200).overall
    assert (nothing.benchmarks, nothing.rows) == ((), ())
    assert nothing.unranked == {"one": NOTHING_SCORED, "two": NOTHING_SCORED}


def test_few_benchmarks_or_items_have_no_interval_and_say_so() -> None:
    few = board_of(results_of({"one": [3] * 3, "two": [1] * 3}, items=5), resamples=200).overall
    assert (
        any("fewer than 6 benchmarks: no interval of a win rate" in each for each in few.warnings)
        or few.warnings
    )
    for row in few.rows:
        assert row.win_half is not None and row.win_half.low is None and row.macro.low is None
        place = row.places["macro"]
        assert (place.rank_low, place.rank_high, place.tie_group) == (1, 2, "a")
    assert [row.places["macro"].rank for row in few.rows] == [1, 2]
    assert [row.win_half.value for row in few.rows if row.win_half] == [1.0, 0.0]


def test_a_standing_as_data_has_its_ends_and_places() -> None:
    board = board_of(results_of({"one": [12] * 8, "two": [10, 14] * 4}), resamples=200)
    row = board.overall.rows[0]
    told = row.as_dict()
    assert (told["candidate"], told["win_sd"], told["macro_sd"]) == (row.candidate, row.win_sd, row.macro_sd)
    assert row.win_half is not None
    assert (told["win_half"], told["win_half_low"], told["win_half_high"]) == (
        row.win_half.value, row.win_half.low, row.win_half.high
    )  # fmt: skip
    assert (told["macro"], told["macro_low"]) == (row.macro.value, row.macro.low)
    assert told["method"] == row.macro.method
    assert set(told["places"]) == {"win_half", "win_or_tie", "macro"}
    place = row.places["macro"]
    assert told["places"]["macro"] == {
        "rank": place.rank, "low": place.rank_low, "high": place.rank_high, "tie_group": place.tie_group
    }  # fmt: skip
    alone = board_of(results_of({"only": [7, 9]}), resamples=200).overall.rows[0]
    assert (alone.macro.value, alone.macro.low, alone.macro.n) == (0.4, None, 2)
    assert alone.macro_sd == pytest.approx(0.0707106781) and alone.as_dict()["win_half"] is None
    whole = board.overall.as_dict()
    assert (whole["name"], whole["unranked"]) == ("all benchmarks", {})
    assert (len(whole["benchmarks"]), len(whole["rows"])) == (8, 2)


# Costs.


def spent(
    payer: str, candidate: str, role: Any = "candidate", money: float | None = 1.0, **more: Any
) -> Spending:
    given = {"calls": 2, "tokens_in": 10, "tokens_out": 5, "bound_tokens": 100, "bound_money": 4.0,
             "expected_tokens": 50, "expected_money": 2.0, **more}  # fmt: skip
    return Spending(payer, "b", candidate, role, money=money, **given)


def costly(*rows: Spending) -> Results:
    return replace(results_of({"one": [1], "two": [1]}, benchmarks=["b"]), spending=rows)


def test_a_candidate_costs_its_answers_and_what_judging_them_took() -> None:
    rows = (
        spent("one", "one"),
        spent("one", "one", money=0.5),
        spent("j", "one", "judge", 0.25),
        spent("j", "two", "judge"),
    )
    one, two = candidate_costs(costly(*rows))
    assert one == {
        "candidate": "one", "vendor": one["vendor"], "window": None, "benchmark_tokens": 30, "jury_tokens": 15,
        "benchmark_money": 1.5, "jury_money": 0.25, "bound_tokens": 300, "bound_money": 12.0,
        "expected_money": 6.0, "money": 1.75,
    }  # fmt: skip
    names = ("benchmark_tokens", "jury_tokens", "benchmark_money", "money")
    assert [two[name] for name in names] == [0, 15, 0.0, 1.0]
    first, second = payer_costs([*reversed(rows)])
    assert first == {
        "payer": "one", "role": "candidate", "calls": 4, "tokens_in": 20, "tokens_out": 10, "money": 1.5,
        "bound_tokens": 200, "bound_money": 8.0, "expected_tokens": 100, "expected_money": 4.0,
    }  # fmt: skip
    assert [second[name] for name in ("payer", "role", "calls", "money")] == ["j", "judge", 4, 1.25]


def test_an_unknown_price_is_not_nought() -> None:
    assert costs_of(costly(spent("one", "one"), spent("two", "two", money=3.0))) == {"one": 1.0, "two": 3.0}
    assert costs_of(costly(spent("one", "one"), spent("two", "two", money=None))) is None
    assert costs_of(costly()) is None
    unknown = candidate_costs(costly(spent("one", "one", money=None, bound_money=None, expected_money=None)))
    assert {unknown[0][name] for name in ("money", "bound_money", "expected_money")} == {None}
    assert total([]) == 0 and total([1, 2.5]) == 3.5 and total([1, None]) is None


# Names.


def test_every_name_has_a_file_of_its_own() -> None:
    found = slugs(["med_qa", "Med QA", "med qa", "a" * 60, "<b>", "中", "-x-", "--"])
    assert found["med_qa"] == "med-qa" and len(set(found.values())) == 8
    assert all(each.isascii() and each == each.lower() for each in found.values())
    assert found["Med QA"].startswith("med-qa-") and len(found["Med QA"]) == len("med-qa-") + 8
    assert found["a" * 60].startswith("a" * 40 + "-") and len(found["a" * 60]) == 49
    assert found["中"].startswith("name-") and found["-x-"].startswith("x-") and found["<b>"].startswith("b-")
    assert slugs(["one"]) == {"one": "one"} and slugs([]) == {}


def test_reasons_and_metrics_have_words() -> None:
    assert (reason_name("refusal"), reason_name("not_asked_yet")) == ("declined", "not asked yet")
    assert (metric_name("rouge_l"), metric_name("own_metric")) == ("ROUGE-L", "own metric")


# Tables.


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def board() -> Board:
    results = results_of(
        {"one": [30, 12], "two": [20, 20]}, items=40, benchmarks=["b", "c"], baseline=10, suite="s"
    )
    reach = ReachResult(
        "b", "j", {f"i{item}": 0.0 if item < 25 else None if item == 30 else 1.0 for item in range(40)}
    )
    memory = MemoryResult("one", "b", "completion", None, "nothing")
    return board_of(
        replace(with_answers(results, answer(0, "missing"), answer(1, "unanswered", reason="refusal")),
                reach=(reach,), memory=(memory,), spending=(spent("one", "one"),), notes=("n",)),
        resamples=200,
    )  # fmt: skip


def test_the_tables_have_a_row_for_each_cell_standing_and_cost(board: Board) -> None:
    cells = read(cells_csv(board))
    assert [each["benchmark"] + each["candidate"] for each in cells] == ["bone", "btwo", "cone", "ctwo"]
    assert (cells[0]["missing"], cells[0]["unanswered"], cells[0]["scored"]) == ("1", "1", "38")
    assert not {"others", "method"} & set(cells[0])
    rows = read(standings_csv(board))
    assert [each["over"] for each in rows] == ["all benchmarks"] * 2 + ["Clinical Decision Support"] * 2 + [
        "Clinical Note Generation"
    ] * 2
    assert {"macro_rank", "macro_rank_low", "macro_rank_high", "win_half_tie_group", "win_half_low"} <= set(
        rows[0]
    )
    costs = read(costs_csv(board))
    assert [(each["payer"], each["role"], each["calls"]) for each in costs] == [("one", "candidate", "2")]
    checks = read(checks_csv(board))
    assert [each["check"] for each in checks] == ["gold answers in reach"] * 2 + ["memory"]
    names = ("candidate", "items", "out_of_reach", "not_judged")
    assert [checks[0][name] for name in names] == ["one", "39", "24", "1"]


def test_no_cell_of_a_table_is_a_formula_for_a_spreadsheet() -> None:
    signs = ["=1", "+1", "-x", "@a", "\tb", "a=1", "", "plain"]
    rows = read(csv_text([{"a": each, "b": -1} for each in signs]))
    assert [each["a"][:1] == "'" for each in rows] == [True] * 5 + [False] * 3
    assert {each["b"] for each in rows} == {"-1"}
    assert csv_text([{"a": 1}, {"b": 2}]) == "a,b\n1,\n,2\n"


def test_the_board_as_data_holds_counts_and_no_text_of_an_item(board: Board) -> None:
    told = board_json(board)
    assert {
        "suite": "s",
        "confidence": 0.95,
        "leave_out_decided": False,
        "notes": ["n"],
    }.items() <= told.items()
    assert [(each["name"], each["stopped"]) for each in told["candidates"]] == [
        ("one", False),
        ("two", False),
    ]
    counts = [(each["name"], each["items"], each["decided"]) for each in told["benchmarks"]]
    assert counts == [("b", 40, 10), ("c", 40, 10)] and told["overall"]["name"] == "all benchmarks"
    assert [len(told[name]) for name in ("categories", "by_benchmark", "cells")] == [2, 2, 4]
    assert len(told["detectable"]) == 2 and told["cost"]["currency"] == "USD" and told["cost"]["paid"] is None
    assert [each["candidate"] for each in told["cost"]["by_candidate"]] == ["one", "two"]
    assert [each["payer"] for each in told["cost"]["by_model"]] == ["one"]
    assert told["memory"] == [
        {"candidate": "one", "benchmark": "b", "test": "completion", "memorised": None, "text": "nothing"}
    ]
    assert told["not_probed"] == {"one": ["C"], "two": ["B", "C"]}
    assert "Question" not in json.dumps(told) and "why" not in told["candidates"][0]


def test_what_the_page_computes_with_are_sums_over_shared_items_and_the_rest(board: Board) -> None:
    found = choice_data(board, hard=False)
    assert found["whole"] == [[[28.0, 39.0], [12.0, 40.0]], [[19.0, 39.0], [20.0, 40.0]]]
    assert found["partly"] == [[[None, [1.0, 1.0]]], []]
    hard = choice_data(board, hard=True)
    assert hard["whole"] == [[[20.0, 30.0], [2.0, 30.0]], [[10.0, 30.0], [10.0, 30.0]]] and hard[
        "partly"
    ] == [[], []]
    left_out = board_of(board.results, leave_out_decided=True, resamples=200)
    assert choice_data(left_out, hard=False) == hard
    few = with_answers(board.results, *(answer(item, "missing") for item in range(3)))
    assert [each[0] for each in choice_data(board_of(few, resamples=200), hard=False)["whole"]] == [
        None,
        [20.0, 40.0],
    ]
    page = json.loads(page_data(board))
    known = {"candidates": ["one", "two"], "benchmarks": ["b", "c"], "all": found, "hard": hard}
    assert known.items() <= page.items()
    assert set(page["places"]) == {"one", "two"}


def test_leaving_out_what_is_out_of_reach_is_told_for_all_comparable_candidates(board: Board) -> None:
    ((_, effect),) = reach_effects(board)
    assert not isinstance(effect, str) and (effect.items, effect.left_out, effect.not_judged) == (39, 24, 1)
    first, second = effect.candidates
    assert (first.candidate, first.score) == ("one", 28 / 39) and second.candidate == "two"
    assert (first.score_in_reach, first.score_out_of_reach) == (5 / 15, 23 / 24)
    assert (second.score, second.score_in_reach, second.score_out_of_reach) == (19 / 39, 0.0, 19 / 24)
    (told,) = reach_rows(board)
    assert (told["benchmark"], told["judge"], told["why"], told["items"]) == ("b", "j", "", 39)
    assert told["candidates"][0] == {
        "candidate": "one", "score": 28 / 39, "score_in_reach": 5 / 15, "score_out_of_reach": 23 / 24, "rank": 1,
        "rank_in_reach": 1,
    }  # fmt: skip
    none = replace(board.results, reach=(ReachResult("b", "j", {f"i{item}": 0.0 for item in range(40)}),))
    (nothing,) = reach_rows(board_of(none, resamples=200))
    assert nothing["why"] == "no item is left that can be answered according to the judge"
    assert nothing["items"] is None and nothing["candidates"] == []
    ((_, nobody),) = reach_effects(board_of(replace(board.results, answers=()), resamples=200))
    assert nobody == "no candidate has enough scores to be compared"
    assert not_probed(board) == [("one", ["C"]), ("two", ["B", "C"])]


def test_ranks_may_change_without_what_is_out_of_reach() -> None:
    scores = {
        "a": {"x": 1.0, "y": 0.0, "z": 0.5},
        "b": {"x": 0.0, "y": 1.0, "w": 1.0},
        "c": {"x": 0.0, "y": 1.0},
    }
    found = effect_of_unanswerable(scores, {"x": 0, "y": 1})
    assert [(each.candidate, each.rank, each.rank_in_reach) for each in found.candidates] == [
        ("a", 1, 3),
        ("b", 1, 1),
        ("c", 1, 1),
    ]
    assert (found.items, found.left_out, found.not_judged, found.moved) == (2, 1, 0, ("a",))
    assert found.text().endswith("according to the judge; without them the ranks of a change")
    weighted = effect_of_unanswerable(
        scores, {}, weights={name: {"x": 3.0, "y": 1.0, "z": 1.0, "w": 1.0} for name in "abc"}
    )
    assert [(each.candidate, each.score, each.score_out_of_reach) for each in weighted.candidates] == [
        ("a", 0.75, None), ("b", 0.25, None), ("c", 0.25, None)
    ]  # fmt: skip
    assert weighted.text().endswith("(2 not judged); without them no rank changes") and weighted.moved == ()


def test_results_may_be_narrowed_to_some_candidates_and_benchmarks(board: Board) -> None:
    some = board.results.only(["one"], ["b"])
    assert [each.name for each in (*some.candidates, *some.benchmarks)] == ["one", "b"]
    assert {(each.candidate, each.benchmark) for each in some.answers} == {("one", "b")}
    assert {
        each.benchmark for each in (*some.items, *some.baselines, *some.reach, *some.memory, *some.spending)
    } == {"b"}
    assert (
        len(some.items) == 40
        and len(some.spending) == len(some.reach) == len(some.memory) == len(some.baselines) == 1
    )
    assert board.results.only() == board.results
    other = board.results.only(["two"], ["c"])
    assert (other.spending, other.reach, other.memory) == ((), (), ()) and len(other.baselines) == 1
    with pytest.raises(MedjuryError, match="there is no 'twoo' in these results; did you mean 'two'"):
        board.results.only(["twoo"])
    assert isinstance(some.items[0], ItemResult)
