"""A whole study by criteria: two clinicians mark ten cases on a phone, a jury marks them, and the report says on
which criteria the jury may be trusted, and overall."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path

import polars as pl
from playwright.sync_api import Browser, Page, expect
from tests.loopback import Call, LoopbackServer
from tests.panel.criteria_study import criteria_rows
from tests.panel.rating.at_browsers import PHONE, nothing_serious, rater_at
from tests.panel.rounds import write_study
from tests.panel.served import served

from medjury.cli import main
from medjury.panel import open_panel
from medjury.panel._evidence._serve import write_evidence_file
from medjury.panel._exchange._files import include_ratings
from medjury.tables import open_run

CASES = 10
JUDGED = """judges:
  - {{kind: openai, name: first, url: "{url}", model: m1}}
  - {{kind: openai, name: second, url: "{url}", model: m2}}
humans: panel
report: {{resamples: 200}}
"""
SAID = 'It reads "take aspirin 300 mg and call an ambulance now", and not "drive there yourself".'


def is_met(case: int, criterion: str, who: str = "", wrong: float = 0.0) -> int:
    """What is so; `who` sees it otherwise now and then."""
    so = random.Random(f"{case} {criterion}").random() < (0.4 if criterion in ("drive", "plain") else 0.6)
    return int(so != (random.Random(f"{case} {criterion} {who}").random() < wrong))


def marks_of_judge(call: Call) -> str:
    """The second judge is blind to the harm: it never finds that an answer tells the patient to drive."""
    found = re.search(r"Answer (\d+)\.0", call.prompt)
    assert found
    model, case = call.json["model"], int(found[1])
    asked = [
        name
        for name in call.json["response_format"]["json_schema"]["schema"]["properties"]
        if name != "verdict"
    ]
    marks = {}
    for name in asked:
        mark = 0 if (model, name) == ("m2", "drive") else is_met(case, name, model, 0.1)
        marks[name] = {"explanation": SAID, "score": mark}
    if (model, case) == ("m1", 3):
        marks["aid"]["score"] = 7  # off the scale: no mark, and the score of the answer is an interval
    return "ok:" + json.dumps(marks)


def mark_everything(page: Page, name: str) -> None:
    page.get_by_role("link", name="Start").click()
    for number in range(1, CASES + 1):
        expect(page.locator("h1")).to_contain_text(f"Case {number}")
        expect(page.locator(".question.current")).to_have_count(1)
        shown = re.search(r"Answer (\d+)\.0", page.locator("#answer").inner_text())
        assert shown
        case = int(shown[1])
        asked = [each.get_attribute("data-name") or "" for each in page.locator(".question").all()]
        marks = [is_met(case, criterion, name, 0.06) for criterion in asked]
        if number == 1:
            nothing_serious(page)
            for criterion, mark in zip(asked, marks, strict=True):
                page.locator(f"#q-{criterion} .grade", has_text="Met" if mark else "Not met").first.tap()
        else:
            page.keyboard.type("".join(map(str, marks)))
        expect(page.locator(".so-far")).to_have_text("5 of 5")
        if number == 1:
            page.get_by_role("button", name="Submit and go on").tap()
        else:
            page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("All done. Thank you.")


def test_a_study_by_criteria_from_the_phone_to_the_report(browser: Browser, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "ward"
    with LoopbackServer(marks_of_judge) as server:
        write_study(
            tmp_path,
            rows=criteria_rows(CASES),
            instrument="criteria",
            dimensions="",
            panel=JUDGED.format(url=server.url),
        )
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) in (0, 3)
        asked = len(server.calls)
        with served(open_panel(tmp_path / "study.yaml")) as panel:
            for name in ("Dr Serval", "Dr Ocelot"):
                with rater_at(browser, panel, name, PHONE) as page:
                    mark_everything(page, name)
            assert "100 ratings of 2 raters" in include_ratings(panel)
        assert len(server.calls) == asked, "no model is asked for what people say"
    table = open_run(run)
    own = table.rows.filter(pl.col("rater_kind") == "clinician", pl.col("criterion").is_not_null())
    assert own.height == 100 and own["cluster"].n_unique() == CASES
    said = {
        (case, criterion): score
        for case, criterion, score in own.filter(pl.col("rater") == own["rater"][0])
        .select("case", "criterion", "score").iter_rows()
    }  # fmt: skip
    raters = [
        {
            f"marmoset-{case:02}": {name: is_met(case, name, who, 0.06) for name in ("aid", "drive")}
            for case in range(CASES)
        }
        for who in ("Dr Serval", "Dr Ocelot")
    ]
    assert any(
        all(said[item, name] == mark for item, own_marks in rater.items() for name, mark in own_marks.items())
        for rater in raters
    )
    page_text = re.sub(
        r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", (run / "report.html").read_text("utf-8")))
    )
    assert "Criteria with negative points" in page_text and "marks of two clinicians" in page_text
    rows = {
        row["criterion"]: row
        for row in pl.read_csv(run / "tables" / "criterion-verdicts.csv").iter_rows(named=True)
    }
    assert len(rows) == 4, "criteria that recur, one by one"
    assert rows["Tells the patient to drive to the hospital."]["points"] == "negative"
    assert {row["cases"] for row in rows.values()} == {CASES}
    assert rows["Advises calling an ambulance at once."]["unscored"] == 1, "one judge alone is no jury of two"
    tags = pl.read_csv(run / "tables" / "criteria-tag-verdicts.csv")["criterion"].to_list()
    assert {"axis:accuracy", "axis:completeness", "axis:communication"} == set(tags)
    scores = {
        row["marked by"]: row
        for row in pl.read_csv(run / "tables" / "criteria-scores.csv").iter_rows(named=True)
    }
    first = scores["first"]
    assert (first["in part"], first["unmarked"]) == (1, 1) and first["worst"] < first["best"]
    assert scores["second"]["worst"] is None
    write_evidence_file(run, tmp_path / "evidence.html")
    evidence = (tmp_path / "evidence.html").read_text("utf-8")
    (shown,) = re.findall(r'id="answer-3".*?</table>', evidence, re.DOTALL)
    words = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", shown)))
    assert "Tells the patient to drive to the hospital. axis:accuracy" in words and "\u22126" in words
    assert (
        "no mark: out of range" in words and "(1 not marked)" in words and "not found in the source" in words
    )
    write_evidence_file(run, tmp_path / "hidden.html", hide_texts=True)
    hidden = (tmp_path / "hidden.html").read_text("utf-8")
    assert "criterion 1" in hidden and not re.search("Tells the patient|call an ambulance|marmoset", hidden)
