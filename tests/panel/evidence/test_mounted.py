"""Inside the panel the evidence is for coordinators and viewers; a rater never reaches a page of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.panel.visitors import sign_in

from medjury.panel._access._people import Role
from medjury.panel._serve import Panel, make_app, open_panel_database
from medjury.studies import load_rated_study

PAGES = (
    "/evidence",
    "/evidence/cases",
    "/evidence/so-far",
    "/evidence/case/econsult-02/draft-assistant",
    "/evidence/case/econsult-02/draft-assistant/text/0",
    "/evidence/numbers",
    "/evidence/numbers/severe-errors",
    "/evidence/number/severe-errors/1",
)


@pytest.fixture
def app(econsult: Path, tmp_path: Path) -> FastAPI:
    study = load_rated_study(econsult.parent.parent / "study.yaml")
    return make_app(Panel(open_panel_database(tmp_path / "panel.sqlite"), study=study))


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.VIEWER])
def test_who_rates_nothing_may_read_the_evidence(app: FastAPI, role: Role) -> None:
    reader = sign_in(app, role)
    for page in PAGES:
        assert reader.get(page).status_code == 200, page
    text = reader.get("/evidence/case/econsult-02/draft-assistant").text
    assert 'href="/evidence/cases' in text
    assert 'href="/cases' not in text
    assert reader.get("/evidence/case/nobody/nothing").status_code == 404


@pytest.mark.parametrize("role", [Role.RATER, Role.ADJUDICATOR])
def test_who_rates_reaches_no_page_of_it(app: FastAPI, role: Role) -> None:
    rater = sign_in(app, role)
    for page in PAGES:
        answer = rater.get(page)
        assert answer.status_code == 403, page
        assert "econsult-02" not in answer.text
    assert "/evidence" not in rater.get("/account").text


def test_a_study_without_a_run_says_so(tmp_path: Path) -> None:
    panel = Panel(open_panel_database(tmp_path / "panel.sqlite"))
    answer = sign_in(make_app(panel), Role.COORDINATOR).get("/evidence")
    assert answer.status_code == 400
    assert "has no run yet" in answer.text
