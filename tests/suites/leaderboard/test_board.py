"""The leaderboard: two rules for ties, ranks left open, and nothing that is missing counted as wrong."""

from __future__ import annotations

import statistics
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.suites.leaderboard.made_up import results_of

from medjury.suites._leaderboard._data import choice_data
from medjury.suites._leaderboard._results import AnswerResult, Results
from medjury.suites._leaderboard._standings import board_of

NAMES = [f"model {letter}" for letter in "ABCDEFGHI"]
# Nine candidates on 35 benchmarks, of 20 items right so many: with ties on most benchmarks, and two candidates that
# are level everywhere.
TABLE = {
    name: [min(20, max(0, 17 - 2 * (place // 2) + (place * benchmark) % 3)) for benchmark in range(35)]
    for place, name in enumerate(NAMES[:8])
}
TABLE[NAMES[8]] = list(TABLE[NAMES[0]])


def by_hand(table: dict[str, list[int]], *, tie: Fraction) -> dict[str, Fraction]:
    """Win rates one comparison at a time."""
    found = {}
    for name, own in table.items():
        wins = Fraction(0)
        for rival, theirs in table.items():
            if rival != name:
                for mine, other in zip(own, theirs, strict=True):
                    wins += 1 if mine > other else tie if mine == other else 0
        found[name] = wins / (35 * 8)
    return found


@pytest.fixture(scope="module")
def board():  # type: ignore[no-untyped-def]
    return board_of(results_of(TABLE), resamples=300)


def test_nine_candidates_on_35_benchmarks_equal_the_hand_count_under_both_rules(board) -> None:  # type: ignore[no-untyped-def]
    assert sum(len(set(column)) < 9 for column in zip(*TABLE.values(), strict=True)) == 35  # ties everywhere
    half, whole = by_hand(TABLE, tie=Fraction(1, 2)), by_hand(TABLE, tie=Fraction(1))
    assert sum(half.values()) == Fraction(9, 2) and sum(whole.values()) > Fraction(9, 2)
    for row in board.overall.rows:
        assert row.win_half.value == pytest.approx(float(half[row.candidate]), abs=1e-12)
        assert row.win_or_tie.value == pytest.approx(float(whole[row.candidate]), abs=1e-12)
        shares = [hits / 20 for hits in TABLE[row.candidate]]
        assert row.macro.value == pytest.approx(statistics.mean(shares), abs=1e-12)
        assert row.macro_sd == pytest.approx(statistics.stdev(shares), abs=1e-12)
        assert row.places["win_half"].rank == 1 + sum(other > half[row.candidate] for other in half.values())
        assert row.places["win_or_tie"].rank == 1 + sum(
            each > whole[row.candidate] for each in whole.values()
        )


def test_ranks_come_with_the_ranks_left_open_and_with_tie_groups(board) -> None:  # type: ignore[no-untyped-def]
    for row in board.overall.rows:
        assert row.win_half.low <= row.win_half.value <= row.win_half.high
        for place in row.places.values():
            assert 1 <= place.rank_low <= place.rank <= place.rank_high <= 9 and place.tie_group
    first, twin = (board.overall.find(name).places["macro"] for name in (NAMES[0], NAMES[8]))
    assert set(first.tie_group) & set(twin.tie_group) and first.rank == twin.rank
    last = board.overall.find(NAMES[7]).places["macro"]
    assert not set(first.tie_group) & set(last.tie_group)


def test_categories_and_benchmarks_have_standings_and_smallest_differences_of_their_own(board) -> None:  # type: ignore[no-untyped-def]
    assert {len(each.benchmarks) for each in board.categories.values()} == {7}
    alone = board.benchmarks["bench_03"]
    assert [row.candidate for row in alone.rows][:2] != [] and alone.rows[0].places["macro"].rank == 1
    [effect] = alone.detectable.rows
    assert effect.pairs == 36 and effect.mde > 0 and effect.mde_sd is not None


def small(**changes: list[AnswerResult]) -> Results:
    """Two candidates that are right on 30 and 24 of 40 items of two benchmarks, some answers replaced."""
    results = results_of({"one": [30, 30], "two": [24, 24]}, items=40)
    new = {(each.benchmark, each.item, each.candidate): each for each in changes.get("answers", [])}
    kept = (new.get((each.benchmark, each.item, each.candidate), each) for each in results.answers)
    return replace(results, answers=tuple(kept))


def without(state: str, reason: str, count: int) -> list[AnswerResult]:
    """Answers of candidate one, on items on which it is right, without a score."""
    return [
        AnswerResult("bench_00", f"i{item}", "one", state, reason=reason)  # type: ignore[arg-type]
        for item in range(count)
    ]


def test_what_a_candidate_leaves_unanswered_counts_as_not_right_and_is_counted() -> None:
    cell = board_of(small(answers=without("unanswered", "refusal", 4)), resamples=200).cells[
        "one", "bench_00"
    ]
    assert cell.score.value == 26 / 40 and cell.complete
    assert cell.unanswered == {"refusal": 4} and cell.scored == 36
    assert cell.among_answers == 26 / 36


def test_what_the_transport_lost_is_never_counted_as_wrong() -> None:
    board = board_of(small(answers=without("missing", "timeout", 2)), resamples=200)
    cell = board.cells["one", "bench_00"]
    assert not cell.complete and cell.missing == {"timeout": 2}
    assert cell.score.value == 28 / 38
    assert (cell.worst, cell.best) == (28 / 40, 30 / 40)
    # Both are compared on the 38 items that both have.
    assert cell.compared == 28 / 38 and board.cells["two", "bench_00"].compared == 22 / 38
    assert not board.overall.unranked
    two = board.overall.find("two")
    assert two is not None and two.macro.value == pytest.approx((22 / 38 + 24 / 40) / 2)


def test_a_candidate_that_lacks_many_items_has_no_rank_and_takes_none_from_the_others() -> None:
    board = board_of(small(answers=without("missing", "timeout", 20)), resamples=200)
    assert board.overall.unranked == {"one": "no rank: bench_00 INCOMPLETE"}
    assert [row.candidate for row in board.overall.rows] == ["two"]
    assert board.cells["two", "bench_00"].compared == 24 / 40
    assert not board.benchmarks["bench_01"].unranked


def test_a_trivial_answer_stands_beside_the_candidates_and_who_does_not_beat_it_is_marked() -> None:
    board = board_of(
        results_of({"good": [38], "level": [20], "hardly": [21]}, items=40, baseline=20), resamples=200
    )
    found = {name: board.cells[name, "bench_00"] for name in ("good", "level", "hardly")}
    assert {name: cell.beats_baseline for name, cell in found.items()} == {
        "good": "yes", "level": "no", "hardly": "not shown",
    }  # fmt: skip
    assert found["good"].baseline == "always A" and found["good"].baseline_score == 0.5
    assert board.decided == 20
    hard = board_of(board.results, leave_out_decided=True, resamples=200)
    assert hard.cells["good", "bench_00"].score.value == 18 / 20
    assert choice_data(board, hard=True)["whole"][0] == [[18, 20]]  # what the page computes with


def test_all_right_is_not_certain() -> None:
    cell = board_of(results_of({"one": [3], "two": [3]}, items=3), resamples=200).cells["one", "bench_00"]
    assert cell.score.value == 1.0 and cell.score.low is not None and cell.score.low < 0.3


def test_one_candidate_has_scores_and_no_rank_and_one_benchmark_is_enough() -> None:
    board = board_of(results_of({"only": [7]}), resamples=200)
    [row] = board.overall.rows
    assert row.win_half is None and row.macro.value == 0.35 and row.macro.low is not None and not row.places


def test_a_tie_everywhere_gives_everybody_the_first_rank_and_one_letter() -> None:
    board = board_of(results_of({name: [10, 10, 10] for name in "abc"}), resamples=200)
    for row in board.overall.rows:
        assert row.win_half.value == 0.5 and row.win_or_tie.value == 1.0  # type: ignore[union-attr]
        assert {(place.rank, place.rank_low, place.rank_high) for place in row.places.values()} == {(1, 1, 3)}


def test_an_interval_without_width_is_none() -> None:
    board = board_of(results_of({"one": [20] * 12, "two": [10] * 12}), resamples=200)
    first, second = board.overall.rows
    assert (first.win_half.value, second.win_half.value) == (1.0, 0.0)  # type: ignore[union-attr]
    for row in board.overall.rows:
        for each in (row.win_half, row.win_or_tie, row.macro):
            assert each is not None and (each.low is None or each.low < each.high)  # type: ignore[operator]
    assert first.places["win_half"].rank_high == 1 and second.places["win_half"].rank_low == 2


def test_answers_cannot_have_a_score_and_a_reason_or_a_score_that_is_no_number() -> None:
    for state, score, reason in (
        ("scored", None, ""),
        ("missing", 1.0, "timeout"),
        ("scored", float("nan"), ""),
    ):
        with pytest.raises(ValueError, match="score"):
            AnswerResult("b", "i", "c", state, score, reason)  # type: ignore[arg-type]


def test_a_micro_average_weighs_items_by_their_parts_in_scores_and_in_ranks() -> None:
    results = results_of({"one": [12], "two": [12]}, items=12)
    weighted = [
        replace(each, score=0.5 if each.candidate == "one" else 0.25, weight=1.0 + int(each.item[1:]) % 3)
        if int(each.item[1:]) % 3
        else each
        for each in results.answers
    ]
    board = board_of(replace(results, answers=tuple(weighted)), resamples=200)
    expected = (4 * 1 + 4 * 2 * 0.5 + 4 * 3 * 0.5) / (4 * 1 + 4 * 2 + 4 * 3)
    assert board.cells["one", "bench_00"].score.value == pytest.approx(expected)
    first = board.overall.find("one")
    assert first is not None and first.macro.value == pytest.approx(expected)
