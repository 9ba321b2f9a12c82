"""Criteria that a model proposed: clinicians accept, edit or drop each before anyone is asked to mark by them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.panel.criteria_study import criteria_rows
from tests.panel.raters import Rater, rater
from tests.panel.rounds import Clock

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import WrittenCriterion, counts_of, read_written_criteria, write_written_criteria
from medjury.panel._design._rounds import rounds, set_up
from medjury.panel._serve import Panel, make_app, open_panel_database
from medjury.studies import load_rated_study

STUDY = "study: ward\ncases: {path: cases.jsonl, criteria: criteria.jsonl}\ninstrument: criteria\n"


def draft(case: int, name: str, text: str, points: float = 5) -> WrittenCriterion:
    return WrittenCriterion(
        case=f"marmoset-{case:02}", id=name, text=text, points=points, state="draft", model="proposer",
        quote="my chest hurts",
    )  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    rows = criteria_rows(2)
    del rows[1]["criteria"]  # everything that this case is marked by is still a draft
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    drafts = [
        draft(0, "d-a", "Asks since when."),
        draft(0, "d-b", "Tells the patient to wait.", -9),
        draft(1, "d-a", "Asks since when."),
    ]
    write_written_criteria(tmp_path / "criteria.jsonl", drafts)
    study = load_rated_study(tmp_path / "study.yaml")
    panel = Panel(open_panel_database(tmp_path / "panel.sqlite"), Clock(), study)
    with panel.database.writing() as connection:
        set_up(connection, study, panel.now())
        assert rounds(connection) == [], "three drafts are to be decided before anyone rates"
    return make_app(panel)


def test_no_panel_opens_without_the_file_of_criteria_that_the_study_names(tmp_path: Path) -> None:
    """Clinicians would mark the criteria in the cases alone; a run refuses it in the same words."""
    lines = "".join(json.dumps(row) + "\n" for row in criteria_rows(2))
    (tmp_path / "cases.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    with pytest.raises(MedjuryError, match=r"line 2: cases\.criteria: criteria\.jsonl does not exist"):
        load_rated_study(tmp_path / "study.yaml")
    (tmp_path / "criteria.jsonl").touch()
    assert len(load_rated_study(tmp_path / "study.yaml").rounds) == 1


def decide(one: Rater, place: int, **fields: str) -> int:
    return int(one.submit(f"/rate/criteria/{place}", f"/rate/criteria/{place}", **fields).status_code)


def written(app: FastAPI) -> list[WrittenCriterion]:
    return read_written_criteria(app.state.panel.study.file.parent / "criteria.jsonl")


def test_nobody_rates_before_every_draft_is_decided_and_then_by_what_was_accepted(app: FastAPI) -> None:
    one = rater(app)
    home = one.get("/rate").text
    assert "3 drafts wait for one of you." in home and one.codes() == []
    html = one.get("/rate/criteria/1").text
    assert "my chest hurts since this morning" in html and "take aspirin" not in html, "no answer is shown"
    assert decide(one, 1, id="d-a", text="Asks since when.", points="5", action="accept") == 303
    assert (
        decide(one, 1, id="d-b", text="Tells the patient to wait at home.", points="-10", action="accept")
        == 303
    )
    assert decide(one, 1, text="Names a number to call.", points="2", action="own") == 303
    assert one.codes() == []
    assert decide(one, 2, id="d-a", text="Asks since when.", points="5", action="accept") == 303
    assert counts_of(written(app)) == {"accepted": 2, "edited": 1, "written": 1}
    (edited,) = [each for each in written(app) if each.state == "edited"]
    assert (edited.text, edited.points, edited.proposed, edited.person) == (
        "Tells the patient to wait at home.", -10, "-9: Tells the patient to wait.", "Dr Ocelot",
    )  # fmt: skip
    with app.state.panel.database.reading() as connection:
        assert [each.name for each in rounds(connection)] == ["rating"]
    asked = [
        re.findall(r'data-name="([^"]+)" data-why', one.get(f"/rate/{code}").text) for code in one.codes()
    ]
    assert sorted(map(len, asked)) == [1, 8]
    assert decide(one, 1, id="d-a", text="Something else.", points="5", action="accept") == 422
    assert "Raters mark by these criteria already" in one.get("/rate/criteria/1").text


def test_a_dropped_draft_is_kept_in_the_file_and_asked_of_nobody(app: FastAPI) -> None:
    one = rater(app)
    assert decide(one, 1, id="d-b", action="drop") == 303
    assert [each.state for each in written(app)] == ["draft", "dropped", "draft"]
    (case, _) = app.state.panel.study.cases
    assert "d-b" not in {each.id for each in case.criteria}


def test_a_case_that_is_left_without_a_criterion_is_named(app: FastAPI) -> None:
    one = rater(app)
    for place, name in ((1, "d-a"), (1, "d-b")):
        assert decide(one, place, id=name, action="drop") == 303
    answer = one.submit("/rate/criteria/2", "/rate/criteria/2", id="d-a", action="drop")
    assert answer.status_code == 422 and "marmoset-01: criteria" in answer.text
    assert decide(one, 2, text="Asks about breathing.", points="3", action="own") == 303
    assert len(one.codes()) == 2


@pytest.mark.parametrize(
    "fields", [{"text": ""}, {"text": "x" * 1001}, {"points": "0"}, {"points": "many"}, {"points": "nan"}]
)
def test_a_criterion_without_words_or_points_is_not_accepted(app: FastAPI, fields: dict[str, str]) -> None:
    one = rater(app)
    sent = {"id": "d-a", "text": "Asks since when.", "points": "5", "action": "accept"} | fields
    assert decide(one, 1, **sent) == 422
    assert {each.state for each in written(app)} == {"draft"}


def test_drafts_of_no_case_and_of_no_id_are_not_found(app: FastAPI) -> None:
    one = rater(app)
    assert one.get("/rate/criteria/3").status_code == 404
    assert decide(one, 1, id="nobody", text="x", points="1", action="accept") == 404
