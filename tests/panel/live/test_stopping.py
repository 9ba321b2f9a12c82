"""When to stop: the coordinator's page says how many more ratings will settle the study, and never waits for it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from tests.panel.drawn_reviews import RATINGS, draw, drawn_panel, judged_study, raters_rate
from tests.panel.rounds import NOON
from tests.panel.visitors import sign_in

from medjury.cli import main
from medjury.instruments import Score
from medjury.panel._access._people import Role
from medjury.panel._database import PanelDatabase
from medjury.panel._exchange._collecting import collect
from medjury.panel._live._pages import Stopping, stopping_of, table_beside_run
from medjury.panel._serve import Panel, make_app
from medjury.studies import RatedStudy
from medjury.tables import open_run
from medjury.validation import settling


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[PanelDatabase, RatedStudy]:
    """A judged study, and two raters who have read all that was drawn; nothing is included yet."""
    folder = tmp_path_factory.mktemp("reviewed")
    judged_study(folder)
    draw(folder)
    database, study = drawn_panel(folder)
    raters_rate(database)
    return database, study


def run_of(study: RatedStudy) -> Path:
    return study.file.parent / "runs" / "ward"


def page_of(database: PanelDatabase, study: RatedStudy) -> str:
    app = make_app(Panel(database, lambda: NOON, study))
    visitor = sign_in(app, Role.COORDINATOR, f"Coordinator {time.monotonic_ns()}")
    limit = time.monotonic() + 60
    while "It is being computed" in (told := visitor.get("/live").text):
        assert time.monotonic() < limit, "it is never computed"
    return told


def test_the_page_says_in_words_what_is_settled(reviewed: tuple[PanelDatabase, RatedStudy]) -> None:
    told = page_of(*reviewed)
    assert "accuracy, the jury agrees as a colleague does: " in told
    assert f"{RATINGS} are planned" in told and "not all answers" in told


def test_it_is_what_plan_more_says_of_the_run_that_has_these_ratings(
    reviewed: tuple[PanelDatabase, RatedStudy],
) -> None:
    database, study = reviewed
    with database.reading() as connection:
        ratings = collect(connection)
    told = stopping_of(study, run_of(study), ratings, RATINGS)
    assert main(["panel", "include", str(study.file)]) == 0
    assert told == tuple(settling(open_run(run_of(study)), planned=RATINGS, resamples=1000).rows)
    again = stopping_of(study, run_of(study), ratings, RATINGS)
    assert again == told, "what the run has of clinicians counts once"


def test_a_page_does_not_wait_for_long_computations(
    reviewed: tuple[PanelDatabase, RatedStudy], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, study = reviewed
    with database.reading() as connection:
        ratings = collect(connection)
    may_end, begun = Event(), []

    def slow(*given: object) -> str:
        begun.append(given)
        assert may_end.wait(60)
        return "done"

    monkeypatch.setattr("medjury.panel._live._pages.stopping_of", slow)
    stopping = Stopping(study, wait_seconds=0.05)
    assert stopping.of(ratings, RATINGS) is None
    assert stopping.of(ratings, RATINGS) is None and stopping.of(ratings[1:], RATINGS) is None
    assert len(begun) == 1, "one at a time"
    may_end.set()
    stopping.wait_seconds = 60
    assert stopping.of(ratings, RATINGS) == "done"
    assert stopping.of(ratings, RATINGS) == "done" and len(begun) == 1, "once for each change"
    assert stopping.of(ratings[1:], RATINGS) == "done" and len(begun) == 2


def test_little_is_called_little(reviewed: tuple[PanelDatabase, RatedStudy]) -> None:
    database, study = reviewed
    with database.reading() as connection:
        ratings = collect(connection)
    few = {each.item for each in ratings[:6]}
    told = stopping_of(study, run_of(study), [each for each in ratings if each.item in few], RATINGS)
    assert isinstance(told, str) and "from 10 answers on" in told


def test_without_a_run_nothing_is_claimed(reviewed: tuple[PanelDatabase, RatedStudy], tmp_path: Path) -> None:
    for name in ("study.yaml", "cases.jsonl", "review.csv"):
        (tmp_path / name).write_bytes((reviewed[1].file.parent / name).read_bytes())
    database, study = drawn_panel(tmp_path)
    assert "Once the study has a complete run" in page_of(database, study)


def test_it_follows_the_studys_own_rule_where_somebody_settles_what_raters_say(tmp_path: Path) -> None:
    judged_study(tmp_path, "{path: panel, consensus: adjudicated, adjudicator: reconciled}")
    draw(tmp_path)
    database, study = drawn_panel(tmp_path)
    raters_rate(database)
    with database.reading() as connection:
        ratings = collect(connection)
    database.close()
    stopping = Stopping(study, wait_seconds=60)
    told = stopping.of(ratings, RATINGS)
    assert isinstance(told, str), "the mean of raters is not what this study takes"
    assert "'reconciled'" in told and "none yet" in told
    said: dict[str, dict[str, float]] = {}
    for each in ratings:
        said.setdefault(each.item, {})[each.rater] = each.score or 0
    apart = [item for item, grades in said.items() if len(set(grades.values())) == 2]
    assert apart, "two raters differ somewhere"
    one = next(each for each in ratings if each.item == apart[0])
    settled = [*ratings, replace(one, rater="reconciled", panel="reconciled", outcome=Score(5))]
    alike = [replace(each, probability=None) for each in settled]
    table = table_beside_run(study, open_run(run_of(study)), alike)
    grid = table.grid("accuracy")
    found = dict(zip(grid.items, table.reference_scores(grid), strict=True))
    assert found[apart[0]] == 5
    assert all(np.isnan(found[item]) for item in apart[1:]), "what nobody settled has no score"
    assert {item: found[item] for item in said if item not in apart} == {
        item: max(grades.values()) for item, grades in said.items() if item not in apart
    }
    assert isinstance(stopping_of(study, run_of(study), settled, RATINGS), tuple)
