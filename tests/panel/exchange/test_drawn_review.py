"""From the draw through the panel's database to the gate: every rating keeps the probability of its answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.panel.drawn_reviews import RATINGS, draw, drawn_panel, judged_study, only_round, raters_rate, world
from tests.panel.raters import rater
from tests.panel.rounds import NOON

from medjury.analysis.calibration import estimate
from medjury.cli import main
from medjury.panel._access._people import RECONCILED
from medjury.panel._design._rounds import set_state
from medjury.panel._exchange._collecting import collect
from medjury.panel._meeting._differences import meeting_items, open_meeting, rated_items
from medjury.panel._meeting._settling import confirm, propose, read_settled
from medjury.panel._serve import Panel, make_app
from medjury.studies._study.rated import read_queue
from medjury.tables import open_run, rating_table
from medjury.validation import validate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, judged, drawn from, rated by two clinicians in its panel, and included."""
    place = tmp_path_factory.mktemp("reviewed")
    study = judged_study(place)
    draw(place)
    database, _ = drawn_panel(place)
    raters_rate(database)
    database.close()
    assert main(["panel", "include", str(study)]) == 0
    return place


def test_every_rating_comes_into_the_run_with_the_probability_of_its_answer(folder: Path) -> None:
    stated = {row.item: row.probability for row in read_queue(folder / "review.csv") if row.drawn}
    rows = pl.read_parquet(folder / "runs" / "ward" / "ratings.parquet").filter(
        pl.col("rater_kind") == "clinician"
    )
    assert rows.height == 2 * RATINGS
    assert {(row["item"], row["probability"]) for row in rows.to_dicts()} == set(stated.items())


def test_the_mean_is_that_of_all_answers_and_not_of_the_doubtful_ones(folder: Path) -> None:
    table = open_run(folder / "runs" / "ward")
    rows = [row for row in read_queue(folder / "review.csv") if row.drawn]
    truth = world().clinician
    grades = []
    for row in rows:
        case = int(row.item.removeprefix("marmoset-"))
        first = truth[case]
        grades.append((first + (max(1.0, first - 1) if case % 7 == 0 else first)) / 2)
    weights = [1 / row.probability for row in rows]
    found = estimate(table).find(estimator="classical").value.value
    assert found == pytest.approx(np.average(grades, weights=weights))
    assert found != pytest.approx(np.mean(grades), abs=0.01), "unweighted it would be another"


def test_the_gate_weights_what_the_panel_collected(folder: Path) -> None:
    table = open_run(folder / "runs" / "ward")
    kept = ("item", "system", "rater", "rater_kind", "dimension", "score", "status", "reason", "patient")
    plain = table.rows.select([name for name in kept if name in table.rows.columns])
    forgotten = rating_table(plain, scale=(1, 5))
    with_them = rating_table(table.rows.select([*plain.columns, "probability"]), scale=(1, 5))
    run, weighted, unweighted = (
        {row.rule.id: row.rule.value for row in validate(each, resamples=200).rows}
        for each in (table, with_them, forgotten)
    )
    for line in ("agreement", "offset", "colleagues"):
        assert run[line] == weighted[line] != unweighted[line]
    page = (folder / "runs" / "ward" / "report.html").read_text(encoding="utf-8")
    assert "probability" in page, "the report says what was weighted"


def test_labels_that_raters_settle_keep_the_probability(folder: Path, tmp_path: Path) -> None:
    for name in ("study.yaml", "cases.jsonl", "review.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    database, _study = drawn_panel(tmp_path)
    one, two = raters_rate(database)
    stated = {row.item: row.probability for row in read_queue(tmp_path / "review.csv") if row.drawn}
    with database.writing() as connection:
        round_ = only_round(connection)
        set_state(connection, round_, "closed")
        meeting = open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
        apart = meeting_items(connection, meeting)
        item = apart[0]
        (rated,) = rated_items(connection, round_, only=item.item)
        form = {"grade.accuracy": "3", "why.accuracy": "We looked again"}
        read = read_settled(form, round_.instrument, item, rated)
        propose(connection, item.code, one.id, 0, read, NOON)
        confirm(connection, item.code, two.id, 1, NOON)
        settled = [each for each in collect(connection) if each.rater == RECONCILED]
    assert len(settled) == RATINGS - len(apart) + 1, "all but the differences that are still open"
    assert [each.score for each in settled if "We looked again" in each.explanation] == [3.0]
    assert all(each.probability == stated[each.item] for each in settled)


def test_raters_see_nothing_of_the_draw(folder: Path, tmp_path: Path) -> None:
    for name in ("study.yaml", "cases.jsonl", "review.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    database, study = drawn_panel(tmp_path)
    app = make_app(Panel(database, lambda: NOON, study))
    one, other = rater(app, "Dr Quoll"), rater(app, "Dr Numbat")
    codes = one.codes()
    assert len(codes) == RATINGS and not set(codes) & set(other.codes())
    queue = read_queue(tmp_path / "review.csv")
    hidden = {row.reason for row in queue} | {row.rule for row in queue} | {row.digest for row in queue}
    hidden |= {row.item for row in queue} | {
        f"{row.probability:.4f}"[:6] for row in queue if row.probability < 1
    }
    for path in ("/rate", *(f"/rate/{code}" for code in codes[:5])):
        answer = one.get(path)
        assert answer.status_code == 200
        told = answer.text + str(answer.headers)
        assert not [word for word in hidden - {"drawn"} if word in told]
        assert "probab" not in told and "drawn" not in told
