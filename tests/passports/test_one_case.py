"""A validated jury behind a door: programs send one text at a time, by the panel's interface."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.panel.exchange.test_including import key_on
from tests.panel.visitors import Visitor, sign_in
from tests.passports.passported import grade, row

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import ReadyJury
from medjury.intake.cases import Case
from medjury.panel._access._people import Role
from medjury.panel._serve import make_app, open_panel


def case(number: int, **given: Any) -> Case:
    return Case(**{name: value for name, value in row(number, **given).items() if name != "patient"})


@pytest.fixture
def door(passport: Path, tmp_path: Path) -> ReadyJury:
    return ReadyJury.open(passport, tmp_path / "jury")


def test_a_case_like_the_validated_ones_is_judged_and_inside(door: ReadyJury) -> None:
    word = door.judge(case(41))
    assert word.placed.inside
    (scored,) = [each for each in word.rows if each["dimension"] == "accuracy"]
    assert (scored["score"], scored["status"], scored["inside"]) == (grade(41), "scored", True)


def test_a_paid_answer_is_found_again(door: ReadyJury, server: LoopbackServer) -> None:
    first = door.judge(case(42))
    asked = len(server.calls)
    assert door.judge(case(42)).rows == first.rows and len(server.calls) == asked


def test_a_case_of_another_specialty_is_flagged_or_not_judged(
    door: ReadyJury, server: LoopbackServer
) -> None:
    flagged = door.judge(case(43, specialty="dermatology"))
    assert not flagged.placed.inside and flagged.rows[0]["score"] == grade(43)
    asked = len(server.calls)
    refused = door.judge(case(44, specialty="dermatology"), refuse_outside=True)
    assert refused.rows[0]["score"] is None and "outside" in refused.rows[0]["reason"]
    assert len(server.calls) == asked


def test_another_model_that_answers_voids_it(door: ReadyJury, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
    with pytest.raises(MedjuryError, match="the model that answers is not"):
        door.judge(case(45))


def test_an_expired_passport_does_not_judge(door: ReadyJury) -> None:
    with pytest.raises(MedjuryError, match="expired"):
        door.judge(case(46), now=datetime.now(UTC) + timedelta(days=4000))


def test_an_edited_passport_opens_no_door(passport: Path, tmp_path: Path) -> None:
    passport.write_text(passport.read_text().replace("cardiology", "oncology"))
    with pytest.raises(MedjuryError):
        ReadyJury.open(passport, tmp_path / "jury")


def test_the_panel_serves_it_to_programs(passport: Path, run: Path, tmp_path: Path) -> None:
    write_panel(tmp_path)
    app = make_app(open_panel(tmp_path / "study.yaml", passport=passport))
    page = sign_in(app, Role.COORDINATOR).submit("/api-keys", "/api-keys", name="nightly").text
    shown = {"authorization": f"Bearer {key_on(page)}"}
    sent = {name: value for name, value in row(47).items() if name != "patient"}
    answer = Visitor(app).post("/api/judge", json=sent, headers=shown)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["inside"] is True and found["passport"] and found["verdict"]["accuracy"]
    assert [each["score"] for each in found["ratings"] if each["dimension"] == "accuracy"] == [grade(47)]
    other = Visitor(app).post(
        "/api/judge", json=sent | {"metadata": {"specialty": "dermatology"}}, headers=shown
    )
    assert other.json()["inside"] is False and other.json()["outside_because"]
    assert Visitor(app).post("/api/judge", json=sent).status_code == 401


def write_panel(folder: Path) -> None:
    (folder / "cases.jsonl").write_text(json.dumps(row(1)) + "\n")
    (folder / "study.yaml").write_text(
        "study: ward\ncases: cases.jsonl\ninstrument: note_quality\ndimensions: [accuracy]\n"
        "panel:\n  rounds:\n    - {name: rating, assign: {per_case: 1}}\n"
    )


def test_the_budget_of_the_override_holds_over_all_requests(
    passport: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "here.yaml").write_text("budget: {calls: 2}\n")
    door = ReadyJury.open(passport, tmp_path / "jury", tmp_path / "here.yaml")
    before = len(server.calls)
    told = []
    for number in range(50, 55):
        try:
            told.append(door.judge(case(number)).rows[0]["status"])
        except MedjuryError as error:
            told.append(str(error))
    assert len(server.calls) - before <= 2
    assert told[0] == "scored" and "scored" not in told[2:]
