"""`design: pairs`: two answers side by side, each pair in both orders, ordinary ratings, and systems in order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer

from medjury.analysis.calibration import draw_review, write_frame
from medjury.analysis.ranking import pairs_worth, rank_pairs
from medjury.foundation.errors import MedjuryError
from medjury.panel._design._rounds import answers_of
from medjury.report import write_page
from medjury.store.ratings import read_ratings
from medjury.studies import load_rated_study, load_study, run_study
from medjury.tables import open_run
from medjury.validation import in_units

Write = Callable[..., Path]
STUDY: dict[str, Any] = {"design": "pairs", "instrument": "pairs", "dimensions": None}
SYSTEMS = ("alder", "birch", "cedar")
WORTH = {"alder": 3, "birch": 2, "cedar": 1}


def answers(count: int = 6, **texts: str) -> list[dict[str, Any]]:
    """Each answer has a word that tells the scripted endpoint how good it is, and never whose it is."""
    return [
        {
            "id": f"case-{number}",
            "system": system,
            "candidate": texts.get(system, f"worth {WORTH[system]}, case {number}."),
            "patient": f"p{number // 2}",
            "texts": {"question": f"Question {number}?"},
        }
        for number in range(count)
        for system in SYSTEMS
    ]


def seen(call: Call) -> list[int]:
    """How good the answers are, in the order in which the judge sees them."""
    return [int(each) for each in re.findall(r"worth (\d)", call.json["messages"][1]["content"])]


def says(grade: int) -> str:
    return "ok:" + json.dumps({"preference": {"explanation": "e", "score": grade}})


def prefers_the_better(call: Call) -> str:
    first, second = seen(call) or (2, 1)  # one question comes first, about nothing
    return says((second > first) - (first > second))


def run(file: Path) -> Path:
    return run_study(load_study(file), preflight=False).folder


def votes(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "ratings.parquet").filter(rater_kind="judge")


def test_a_judge_sees_each_pair_in_both_orders_and_blind(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = prefers_the_better
    file = write_study(cases=answers(), **STUDY)
    folder = run(file)
    assert len(server.calls) == 6 * 3 * 2
    words = [call.json["messages"][-1]["content"] for call in server.calls]
    assert not [each for each in words if any(name in each for name in SYSTEMS)]
    stored = votes(folder)
    assert set(stored["dimension"]) == {"preference"} and stored.height == 36
    case = stored.filter(item="case-0").sort("system")
    assert dict(zip(case["system"], case["score"], strict=True)) == {
        "alder vs birch": -1,
        "birch vs alder": 1,
        "alder vs cedar": -1,
        "cedar vs alder": 1,
        "birch vs cedar": -1,
        "cedar vs birch": 1,
    }
    calls = len(server.calls)
    run(file)
    assert len(server.calls) == calls, "what is stored is not asked again"


def test_both_orders_are_repeats_of_one_unit(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: says(-1)  # the first place, always
    table = open_run(run(write_study(cases=answers(), repeats=2, **STUDY)))
    grid = table.grid("preference")
    assert set(grid.systems) == {"alder vs birch", "alder vs cedar", "birch vs cedar"}
    assert set(grid.clusters) == {"patient 1", "patient 2", "patient 3"}
    assert set(grid.scores["juror"]) == {0.0}
    assert sorted(table.rows.filter(pl.col("rater") == "juror")["repeat"].unique()) == [0, 1, 2, 3]
    found = rank_pairs(table, resamples=200)
    assert all(row.strength.value is None for row in found.rows), "the place decided, so nobody is better"
    assert "the place explains them as well" in found.rows[0].strength.reason
    assert [row.first_place.value for row in found.each_rater.rows] == [1.0, 1.0]


def test_an_unreadable_reply_is_unscored_and_no_tie(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: (
        "ok:they differ" if 3 in seen(call) else prefers_the_better(call)
    )
    folder = run(write_study(cases=answers(2), max_unscored=1.0, **STUDY))
    stored = votes(folder)
    lost = stored.filter(pl.col("status") == "unscored")
    assert lost.height == 2 * 2 * 2 and set(lost["reason"]) == {"parse"}
    assert set(stored.filter(pl.col("status") == "scored")["score"]) == {-1.0, 1.0}
    found = rank_pairs(open_run(folder), raters="juror", resamples=200)
    assert {row.system: row.n for row in found.rows} == {"alder": 0, "birch": 4, "cedar": 4}
    assert "alder and birch, cedar were never compared" in found.rows[0].strength.reason
    assert found.each_rater.rows[0].n_unscored == 8


def test_two_of_three_judges_are_a_preference(write_study: Write, server: LoopbackServer) -> None:
    def answer(call: Call) -> str:
        first, second = seen(call) or (2, 1)
        better = -1 if first > second else 1
        return says(-better if call.json["model"] == "odd" else better)

    server.endpoint.behaviours = answer
    judges = [
        {"kind": "openai", "name": name, "url": server.url, "model": name} for name in ("a", "b", "odd")
    ]
    folder = run(write_study(cases=answers(), judges=judges, **STUDY))
    jury = pl.read_parquet(folder / "ratings.parquet").filter(rater_kind="jury")
    assert jury.filter(system="alder vs birch")["score"].to_list() == [-1.0] * 6
    found = rank_pairs(open_run(folder), resamples=50)
    assert found.raters == ("jury",) and [row.system for row in found.rows] == list(SYSTEMS)


def test_clinicians_ratings_of_either_order_are_the_same_unit(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    server.endpoint.behaviours = prefers_the_better
    rows = ["item,system,rater,dimension,score"]
    for number in range(6):
        rows += [
            f"case-{number},alder vs birch,ann,preference,-1",
            f"case-{number},birch vs alder,bob,preference,1",
        ]
        rows += [
            f"case-{number},cedar vs birch,ann,preference,1",
            f"case-{number},birch vs cedar,bob,preference,-1",
        ]
    (tmp_path / "humans.csv").write_text("\n".join(rows) + "\n")
    table = open_run(
        run(write_study(cases=answers(), humans={"path": "humans.csv", "keep_names": True}, **STUDY))
    )
    grid = table.grid("preference")
    chosen = grid.systems == "alder vs birch"
    assert set(grid.scores["ann"][chosen]) == set(grid.scores["bob"][chosen]) == {-1.0}
    found = rank_pairs(table, resamples=50)
    assert found.reference_ranks is not None
    assert [row.system for row in found.reference_ranks.rows] == list(SYSTEMS)
    assert found.agreement is not None and found.agreement.rows[0].tau.value == 1.0


def test_the_report_shows_systems_by_preference_and_grades_no_pair(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    server.endpoint.behaviours = lambda call: says(-1) if seen(call)[:1] == [2] else prefers_the_better(call)
    rows = ["item,first,second,preferred,rater"]
    for number in range(6):
        rows += [f"case-{number},alder,birch,alder,{who}" for who in ("ann", "bob")]
        rows += [f"case-{number},cedar,birch,birch,{who}" for who in ("ann", "bob")]
    (tmp_path / "humans.csv").write_text("\n".join(rows) + "\n")
    humans = {"path": "humans.csv", "keep_names": True}
    page = write_page(run(write_study(cases=answers(), humans=humans, **STUDY)), resamples=200)
    words = page.read_text()
    assert "18 pairs of answers, in both orders" in words
    assert 'id="pairs"' in words and "How often each system is preferred" in words
    for absent in ("ranking", "calibration", "stability", "self-preference"):
        assert f'<section id="{absent}"' not in words
    table = pl.read_csv(page.parent / "tables" / "pairs.csv")
    assert table["system"].to_list()[0] == "alder" and "birch vs alder" not in words
    raters = pl.read_csv(page.parent / "tables" / "pairs-raters.csv")
    assert raters.filter(rater="ann")["verdicts"].to_list() == [12]


def test_what_is_counted_in_a_study_of_pairs_is_pairs() -> None:
    assert in_units("Only 9 answers were rated", "pair") == "Only 9 pairs were rated"
    assert in_units("Only 9 answers were rated", "answer") == "Only 9 answers were rated"


def test_judgements_of_pairs_are_imported_by_the_names_of_first_second_preferred(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("item,first,second,preferred,rater\n1,b,a,b,ann\n2,a,b,tie,ann\n3,a,b,,ann\n")
    found = read_ratings(file, on_bad="unscored").ratings
    assert [(each.system, each.score) for each in found] == [("b vs a", -1.0), ("a vs b", 0.0)]
    file.write_text("item,first,second,preferred,rater\n1,b,a,neither of them,ann\n")
    with pytest.raises(MedjuryError, match="row 2"):
        read_ratings(file)


@pytest.mark.parametrize(
    ("first", "second", "preferred", "words"),
    [
        ("a", "b", "1", "it must be 'a', 'b', first"),  # not the score 1, which is for the second
        ("a", "b", "0", "it must be 'a', 'b', first"),
        ("a", "a", "", "the same system"),
        ("a vs b", "c", "c", "called 'a vs b'"),
        ("a", "b vs", "a", "called 'b vs'"),
        ("", "b", "b", "has no name"),
    ],
)
def test_what_is_no_preference_or_names_no_pair_is_refused_by_its_row(
    first: str, second: str, preferred: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "pairs.csv"
    rows = f"1,b,a,b,ann\n2,{first},{second},{preferred},ann\n3,,,,ann\n"
    file.write_text(f"item,first,second,preferred,rater\n{rows}")
    with pytest.raises(MedjuryError, match=f"row 3.*{words}"):
        read_ratings(file)
    with pytest.raises(MedjuryError, match=f"row 2: .*{words}"):
        rank_pairs(pl.read_csv(file)[:2], resamples=100)
    kept = read_ratings(file, on_bad="unscored").ratings
    assert [each.score for each in kept] == [-1.0, None]


def test_a_case_that_one_system_answered_is_left_out_and_counted(write_study: Write) -> None:
    rows = [
        row for row in answers(3) if (row["id"], row["system"]) not in {("case-0", s) for s in SYSTEMS[1:]}
    ]
    study = load_study(write_study(cases=rows, **STUDY))
    assert len(list(study.cases)) == 2 * 3 * 2
    assert list(study.cases.left_out.parts.values()) == [1]
    with pytest.raises(MedjuryError, match="no case has the answers of two systems"):
        list(load_study(write_study(cases=rows[:1], **STUDY)).cases)


def test_equal_texts_are_marked_and_a_preference_among_them_is_reported(
    write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = lambda call: says(-1 if seen(call)[0] >= seen(call)[1] else 1)
    rows = answers(8)
    for row in rows:
        if row["system"] == "cedar" and row["id"] < "case-4":
            row["candidate"] = f"  worth 2, case {row['id'][-1]}."
    found = rank_pairs(open_run(run(write_study(cases=rows, **STUDY))), raters="juror", resamples=200)
    (judge,) = found.each_rater.rows
    assert (judge.same_text, judge.same_text_tied) == (8, 0)
    assert "juror preferred one of two equal texts in 8 of 8 verdicts" in found.each_rater.warnings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"instrument": "note_quality"}, "`preference`"),
        ({"design": "answers"}, "add `design: pairs`"),
        ({"metrics": ["chrf"]}, "`metrics` is about single answers"),
        ({"judge": {"strategy": "claims"}}, "judges one answer"),
    ],
)
def test_what_does_not_go_with_pairs_is_refused(
    write_study: Write, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(MedjuryError, match=words):
        load_study(write_study(cases=answers(), **{**STUDY, **settings}))


def test_a_system_whose_name_could_be_two_is_refused(write_study: Write) -> None:
    rows = [{**row, "system": row["system"].replace("alder", "a vs b")} for row in answers()]
    with pytest.raises(MedjuryError, match="called 'a vs b'"):
        list(load_study(write_study(cases=rows, **STUDY)).cases)


def test_the_pairs_that_tell_most_are_drawn_with_stated_probabilities_and_rated_in_one_order(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    """alder and birch are level, cedar is far behind: one more verdict on cedar tells little."""

    def answer(call: Call) -> str:
        first, second = seen(call) or (2, 1)
        found = re.search(r"case (\d+)\.", call.json["messages"][1]["content"])
        number = int(found[1]) if found else 0
        better = -1 if first > second else 1
        upset = number % 4 > 1 if {first, second} == {2, 3} else number in (2, 5, 9, 14)
        return says(-better if upset else better)

    server.endpoint.behaviours = answer
    file = write_study(cases=answers(20), **STUDY)
    table = open_run(run(file))
    worth = pairs_worth(table, resamples=200, seed=1)
    assert worth["alder vs birch"] > worth["alder vs cedar"]
    queue = draw_review(table, ratings=12, by="order", worth=worth, seed=1)
    probability = {row.system: row.probability for row in queue.rows}
    assert len(queue.drawn) == 12 and sum(row.probability for row in queue.rows) == pytest.approx(12)
    assert probability["alder vs birch"] > probability["alder vs cedar"] > 0.0
    write_frame(queue.frame(), tmp_path / "queue.csv")
    with file.open("a") as opened:
        opened.write("panel: {rounds: [{name: review, draw: queue.csv}]}\n")
    (each,) = load_rated_study(file).rounds
    cases, *_ = answers_of(each) or ([],)
    assert len(cases) == 12
    assert {(case.id, case.system) for case in cases} <= (each.once or set())
    with pytest.raises(MedjuryError, match="go together"):
        draw_review(table, ratings=12, by="order")
