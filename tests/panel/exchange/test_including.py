"""From the panel into the study's run and its report: no model is asked, and nothing is lost on the way."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi import FastAPI
from playwright.sync_api import expect
from tests import chromium
from tests.loopback import LoopbackServer
from tests.panel.meeting.closed_rounds import closed_panel
from tests.panel.meeting.test_settling import grade, meet
from tests.panel.raters import GOOD, rater
from tests.panel.rounds import NOON, Clock, set_up_panel
from tests.panel.served import served
from tests.panel.visitors import Visitor, sign_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._meeting._differences import close_meeting
from medjury.panel._meeting._settling import decide
from medjury.panel._serve import Panel, make_app, open_panel
from medjury.store.runs import RunFolder
from medjury.studies import panel_file
from medjury.tables import open_run

JUDGE = 'judges:\n  - {{kind: openai, name: juror, url: "{url}", model: m}}\nhumans: panel\n'
GRADES = [
    {"accuracy": (a, b), "completeness": ("5", "5"), "clarity": ("3", "3")}
    for a, b in (("4", "2"), ("1", "1"), ("5", "4"))
]


def study_with_judge(folder: Path, server: LoopbackServer) -> tuple[Panel, Path]:
    panel, _ = closed_panel(
        folder, GRADES, place=folder / "ward.panel.sqlite", panel=JUDGE.format(url=server.url)
    )
    return panel, folder / "study.yaml"


def test_ratings_come_into_the_run_without_asking_anybody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer() as server:
        _, study = study_with_judge(tmp_path, server)
        assert main(["run", str(study), "--quiet"]) == 0, "judges may work before a clinician has rated"
        asked = len(server.calls)
        before = RunFolder(tmp_path / "runs" / "ward").manifest
        assert before.humans is None
        assert main(["panel", "include", str(study)]) == 0
        assert len(server.calls) == asked and not server.preflights[1:]
    told = capsys.readouterr().out
    assert "18 ratings of 2 raters" in told and "Report: " in told
    table = open_run(tmp_path / "runs" / "ward")
    assert table.run.manifest is not None and table.run.manifest.humans is not None
    assert table.run.manifest.humans.blinded is True, "no page of the panel shows what a judge said"
    people = [name for name, kind in table.raters.items() if kind == "clinician"]
    assert len(people) == 2 and not [name for name in people if "Wallaby" in name], "pseudonyms"
    grid = table.grid("accuracy")
    assert sorted(tuple(sorted(grid.scores[name][at] for name in people)) for at in range(3)) == [
        (1.0, 1.0),
        (2.0, 4.0),
        (4.0, 5.0),
    ]
    page = (tmp_path / "runs" / "ward" / "report.html").read_text()
    assert "2 clinicians" in page and "Wallaby" not in page
    assert re.search(r"(clinician-\d+|\S+) rated in English; \S+ rated in English\.", page)
    assert main(["runs", "verify", str(tmp_path / "runs" / "ward")]) == 0


def test_a_grade_that_was_taken_back_is_gone_from_the_next_inclusion(tmp_path: Path) -> None:
    of_the_first = (pl.col("item") == "marmoset-00") & (pl.col("dimension") == "accuracy")
    with LoopbackServer() as server:
        _, study = study_with_judge(tmp_path, server)
        assert main(["run", str(study), "--quiet"]) == 0
        assert main(["panel", "include", str(study)]) == 0
        file = panel_file(study, "ward")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        frame = pl.read_parquet(file)
        first = (pl.col("rater") == "Dr Wallaby 0") & of_the_first
        silent = frame.with_columns(
            pl.when(first).then(None).otherwise(pl.col("score")).alias("score"),
            pl.when(first).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
            pl.when(first).then(pl.lit("cannot_judge")).otherwise(pl.col("reason")).alias("reason"),
        )
        silent.write_parquet(file)
        assert main(["run", str(study), "--quiet"]) == 0
    rows = open_run(tmp_path / "runs" / "ward").everything.filter(
        (pl.col("rater_kind") == "clinician") & of_the_first
    )
    assert sorted(rows["status"]) == ["scored", "unscored"]


def test_a_study_that_does_not_name_its_panel_is_told_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closed_panel(tmp_path, GRADES, place=tmp_path / "ward.panel.sqlite")
    assert main(["panel", "include", str(tmp_path / "study.yaml")]) == 0
    assert "write `humans: panel` into it" in capsys.readouterr().out
    assert panel_file(tmp_path / "study.yaml", "ward").is_file()


def test_after_the_adjudication_include_works_in_the_browser_by_the_study_file_as_it_is_now(
    tmp_path: Path,
) -> None:
    with LoopbackServer() as server, chromium.browser() as browser:
        _, study = study_with_judge(tmp_path, server)
        assert main(["run", str(study), "--quiet"]) == 0
        with served(open_panel(study)) as panel:
            visitor = sign_in(make_app(panel), Role.COORDINATOR)
            with panel.database.writing() as connection:
                for item in (items := meet(connection)):
                    close_meeting(connection, items[0].meeting, NOON)
                    decide(
                        connection, item.code, "judge-person", 0, grade(connection, item, "1", "50 mg"), NOON
                    )
            context = browser.new_context(base_url=panel.public_url)
            cookies = [
                {"name": c.name, "value": c.value, "url": panel.public_url} for c in visitor.cookies.jar
            ]
            context.add_cookies(cookies)  # type: ignore[arg-type]
            page = context.new_page()
            page.goto("/exchange")
            include = page.get_by_role("button", name="Include the ratings")
            include.click()
            expect(page.locator(".done")).to_contain_text("adjudicator: reconciled")
            before = study.read_text()
            study.write_text(before.replace("humans: panel", "humans: {path: panel, consensus: nobody}"))
            include.click()
            expect(page.locator(".problem")).to_contain_text("consensus")
            expect(page.locator(".problem")).to_contain_text("medjury panel include study.yaml")
            named = "humans: {path: panel, consensus: adjudicated, adjudicator: reconciled}"
            study.write_text(before.replace("humans: panel", named))
            include.click()
            expect(page.locator(".done")).to_contain_text("Report: ")
            context.close()
    table = open_run(tmp_path / "runs" / "ward")
    assert table.people.consensus == "adjudicated"
    settled = table.grid("accuracy").scores[str(table.people.adjudicator)]
    assert 1.0 in settled and main(["runs", "verify", str(tmp_path / "runs" / "ward")]) == 0


def test_an_incomplete_run_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer() as server:
        _, study = study_with_judge(tmp_path, server)
        assert main(["panel", "include", str(study)]) == 0
        assert not server.calls and not server.preflights
    assert "There is no complete run yet" in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("kind", ["csv", "xlsx", "label-studio", "redcap"])
def test_files_are_the_owners_alone(kind: str, tmp_path: Path) -> None:
    closed_panel(tmp_path, GRADES, place=tmp_path / "ward.panel.sqlite")
    out = tmp_path / f"out.{kind}"
    assert main(["panel", "export", str(tmp_path / "study.yaml"), "--format", kind, "--out", str(out)]) == 0
    assert out.stat().st_size and stat.S_IMODE(out.stat().st_mode) == 0o600


# In the browser


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    closed_panel(tmp_path, GRADES, place=tmp_path / "ward.panel.sqlite", close=False)
    return make_app(open_panel(tmp_path / "study.yaml"))


def send_file(visitor: Visitor, content: bytes, name: str = "elsewhere.csv") -> Any:
    return visitor.post(
        "/exchange/import", data={"csrf": visitor.token("/exchange")}, files={"file": (name, content)}
    )


def test_the_coordinator_takes_ratings_out_and_in(app: FastAPI, tmp_path: Path) -> None:
    visitor = sign_in(app, Role.COORDINATOR)
    assert "18 ratings of 2 raters" in visitor.get("/exchange").text
    answer = visitor.get("/exchange/ratings/csv")
    assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
    assert visitor.get("/exchange/ratings/nonsense").status_code == 404
    good = b"item,system,rater,dimension,score\nmarmoset-00,zebrafinch-9b,Dr Elsewhere,accuracy,3\n"
    assert "1 ratings from 1 rows" in send_file(visitor, good).text
    assert "19 ratings of 3 raters" in visitor.get("/exchange").text
    bad = send_file(visitor, good.replace(b",3", b",33"))
    assert bad.status_code == 400 and "33" in bad.text and str(tmp_path) not in bad.text
    assert not list(tmp_path.glob(".medjury-import-*")), "nothing of it is left on the disk"
    assert "took the ratings" in visitor.get("/trail").text


def test_the_state_is_the_coordinators_alone(app: FastAPI) -> None:
    told = sign_in(app, Role.COORDINATOR).get("/live").text
    assert "Dr Wallaby 0" in told and "two raters share 3 answers" in told
    for role in (Role.RATER, Role.ADJUDICATOR, Role.VIEWER):
        assert sign_in(app, role, f"Other {role}").get("/live").status_code == 403


def key_on(page: str) -> str:
    found = re.search(r"medjury_[A-Za-z0-9_-]{20,}", page)
    assert found
    return found[0]


def test_programs_ask_with_a_key(app: FastAPI) -> None:
    visitor = sign_in(app, Role.COORDINATOR)
    page = visitor.submit("/api-keys", "/api-keys", name="nightly").text
    key = key_on(page)
    program = Visitor(app)
    assert program.get("/api/ratings", headers={"authorization": "Bearer medjury_wrong"}).status_code == 401
    shown = {"authorization": f"Bearer {key}"}
    assert len(program.get("/api/ratings", headers=shown).json()) == 18
    (state,) = program.get("/api/rounds", headers=shown).json()
    assert (state["cases"], state["raters"], state["done"], state["assigned"]) == (3, 2, 6, 6)
    body = {"id": "x", "candidate": "A text."}
    answer = program.post("/api/judge", json=body, headers=shown)
    assert answer.status_code == 409 and "names no judges" in answer.text


def test_the_studys_jury_grades_a_text_for_a_program(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        study_with_judge(tmp_path, server)
        app = make_app(open_panel(tmp_path / "study.yaml"))
        visitor = sign_in(app, Role.COORDINATOR)
        page = visitor.submit("/api-keys", "/api-keys", name="nightly").text
        shown = {"authorization": f"Bearer {key_on(page)}"}
        body = {"id": "x", "candidate": "Summary.", "texts": {"context": "Visit."}}
        first = Visitor(app).post("/api/judge", json=body, headers=shown)
        assert first.status_code == 200, first.text
        found = first.json()
        names = {each["dimension"] for each in found["ratings"]}
        assert names == {"accuracy", "completeness", "clarity", "overall"}
        assert all(each["status"] == "scored" for each in found["ratings"]) and found["verdict"] is None
        asked = len(server.calls)
        assert Visitor(app).post("/api/judge", json=body, headers=shown).json() == found
        assert len(server.calls) == asked == 1, "a paid answer is never paid for twice"
        missing = Visitor(app).post("/api/judge", json={"id": "y", "candidate": "S."}, headers=shown)
        assert missing.status_code == 422 and "context" in missing.text


def test_a_rater_who_takes_a_second_a_case_is_marked_for_the_coordinator(tmp_path: Path) -> None:
    clock = Clock()
    database, _ = set_up_panel(tmp_path)
    app = make_app(Panel(database, now=clock))
    for name, seconds in (("Dr Hasty", 1), ("Dr Thorough", 20)):
        one = rater(app, name)
        for code in one.codes():
            token = one.token(f"/rate/{code}")
            for _ in range(2):
                one.post(f"/rate/{code}/here", data={"csrf": token})
                clock.turn(seconds)
            assert one.rate(code, **GOOD).status_code == 303
    page = sign_in(app, Role.COORDINATOR).get("/live").text
    rows = {name: row for row in page.split("<tr>") for name in ("Dr Hasty", "Dr Thorough") if name in row}
    assert "too fast to read" in rows["Dr Hasty"] and "too fast" not in rows["Dr Thorough"]
    assert 'max="6" value="6" aria-label="Dr Hasty: 6 of 6 done"' in rows["Dr Hasty"]
    assert "too fast" not in one.get("/rate").text


def test_an_empty_state_says_what_to_do_next(tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    assert 'href="/people#invite"' in sign_in(make_app(Panel(database)), Role.COORDINATOR).get("/live").text


def test_a_rater_at_work_is_in_the_next_state(app: FastAPI) -> None:
    other = rater(app, "Dr Quoll")
    for code in other.codes():
        assert other.rate(code, **GOOD).status_code == 303
    told = sign_in(app, Role.COORDINATOR).get("/live").text
    assert "Dr Quoll" in told and "9 of 9" in told
