"""The memo for the board: one page that claims no more than the verdict carries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser
from tests.recipes.offline import run_demonstration
from tests.report.pdf_text import pdf_pages
from tests.report.planted import planted_frame, rules, write_run

from medjury.analysis.calibration import estimate
from medjury.cli import main
from medjury.report import write_page
from medjury.statistics import shown
from medjury.store.runs import RunFolder

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def board(folder: Path, frame: pl.DataFrame, **changes: Any) -> str:
    write_page(write_run(folder, frame, **changes), board=True, resamples=200)
    return (folder / "board.html").read_text(encoding="utf-8")


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("<main>")[2].partition("<script>")[0]).split())


def cells(page: str, dimension: str) -> list[str]:
    """The grades of one dimension, system by system."""
    row = re.search(rf'<th scope="row">{dimension}.*?</tr>', page)
    assert row is not None
    return re.findall(r"<td>([^<]*)", row[0])


def test_it_is_filled_from_the_study_and_blank_where_nothing_is_stated(tmp_path: Path) -> None:
    stated = {"product": "Scribe 4 of ACME & sons", "owner": "Dr R. Owner", "review_by": "2027-05-31"}
    frame = planted_frame(cases=4, dimensions=("accuracy",))
    page = board(tmp_path / "a", frame, report={"resamples": 200, **stated})
    assert "<dd>Scribe 4 of ACME &amp; sons</dd>" in page and "<dd>2027-05-31</dd>" in page
    assert page.count('class="blank"') == 2  # the decision, and the line to sign on
    empty = board(tmp_path / "b", frame, report={"resamples": 200})
    assert empty.count('class="blank"') == 5


def test_grades_of_every_system_are_prediction_powered_where_clinicians_rated_a_part(tmp_path: Path) -> None:
    frame = planted_frame(cases=160, rated_cases=80, systems=("alpha", "beta"))
    page = board(tmp_path / "run", frame)
    assert "AUXILIARY" in page or "VALIDATED" in page
    found = estimate(tmp_path / "run", raters="jury", by_system=True)
    wanted = {(each.dimension, each.system): each.found for each in found.estimates}
    means = [wanted["accuracy", system] for system in ("alpha", "beta")]
    assert cells(page, "Accuracy") == [shown(each.power_tuned, 2) for each in means]
    assert cells(page, "Accuracy") != [shown(each.classical, 2) for each in means]
    assert "80 of 160 rated" in page and "prediction-powered" in page


def test_a_jury_that_is_not_validated_lends_its_scores_to_nothing(tmp_path: Path) -> None:
    frame = planted_frame(cases=160, rated_cases=80, judges={"judge-a": 3.0, "judge-b": 3.0})
    page = board(tmp_path / "run", frame)
    mean = estimate(tmp_path / "run", raters="jury").estimates[0].found.classical
    assert "NOT VALIDATED" in page and cells(page, "Accuracy") == [shown(mean, 2)]
    assert "prediction-powered" not in page
    assert "there is no kind of case for which the scores may be relied on" in page


@pytest.mark.parametrize(
    ("changes", "clinicians", "word", "why"),
    [
        ({"status": "incomplete", "why": "stopped by you"}, None, "INCOMPLETE", "The run did not finish"),
        ({}, {}, "NOT VALIDATED", "No clinician rated these answers"),
    ],
)
def test_a_run_that_shows_nothing_of_the_product_says_so(
    tmp_path: Path, changes: dict[str, Any], clinicians: dict[str, float] | None, word: str, why: str
) -> None:
    page = board(tmp_path / "run", planted_frame(cases=40, clinicians=clinicians), **changes)
    assert word in page and f"{why}" in words(page)
    assert "mean grade" not in page and "Holds for" not in page


def test_missed_danger_leads_to_its_votes_from_page_one_and_from_the_memo(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> None:
    run = run_demonstration(tmp_path_factory) / "runs" / "demonstration"
    page = browser.new_page()
    page.goto((run / "report.html").as_uri())
    page.click("#verdict a:has-text('1 of 30 answers')")
    assert page.locator("#table-missed-danger tbody tr").count() == 1
    page.click("#table-missed-danger a")
    page.wait_for_selector("#case-1:visible")
    assert "deep-vein-thrombosis-1 · summariser-b" in page.inner_text("#case-1 caption")
    page.close()
    frame = planted_frame(cases=120, judges={"judge-a": 2.5})
    found = board(tmp_path / "run", frame, report={"resamples": 200, "cases_shown": 3, "hide_texts": True})
    links = re.findall(r'href="report.html#(case-\d+)">(case \d+)<', found)
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert len(links) == 6 and all(f'id="{place}"' in report for place, _ in links)
    assert "case-0" not in found  # names are hidden


@pytest.mark.parametrize(
    ("by", "whose"),
    [("any", "any clinician"), ("majority", "most clinicians"), ("mean", "clinicians by their mean")],
)
def test_whose_word_makes_an_answer_dangerous_is_stated_wherever_they_are_counted(
    tmp_path: Path, by: str, whose: str
) -> None:
    """Of answers that most clinicians call dangerous a jury may miss none, and many of what one calls dangerous."""
    frame = planted_frame(cases=120, dimensions=("accuracy",), judges={"judge-a": 2.5})
    found = board(tmp_path / "run", frame, gate=rules(danger_by=by), report={"resamples": 200})
    (memo,) = re.findall(rf"([\d,]+ of [\d,]+ answers) that {whose} called dangerous", words(found))
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"Answer by answer: {memo} that {whose} called dangerous were missed." in words(report)
    assert report.count(f"answers that {whose} called dangerous") >= 2  # both captions


def test_it_is_one_page_on_both_papers_whatever_is_stated(browser: Browser, tmp_path: Path) -> None:
    dimensions = [f"dimension_{number}_with_a_name_that_goes_on_and_on" for number in range(11)]
    systems = [f"system-{number}-with-a-name-that-goes-on-and-on-for-ever" for number in range(6)]
    frame = planted_frame(
        cases=12,
        dimensions=dimensions,
        systems=systems,
        judges={"judge-a": 2.5, "judge-b": 2.5},
        unscored=0.1,
    )
    stated = {"product": "P" * 120, "owner": "O" * 120, "decision": "decide " * 42, "note": "note that " * 30}
    named = {"report": {"resamples": 200, **stated}, "study": "A study " * 12}
    board(tmp_path / "run", frame, gate=rules(severe_dimensions=dimensions), **named)
    page = browser.new_page()
    page.goto((tmp_path / "run" / "board.html").as_uri())
    for paper in ("A4", "Letter"):
        page.pdf(path=tmp_path / "board.pdf", format=paper, prefer_css_page_size=False, print_background=True)
        (printed,) = pdf_pages(tmp_path / "board.pdf")
        assert "2 more dimensions are in the report" in printed.replace("\n", " ")
        assert printed.endswith("Date and signature\n")
    page.close()


def test_the_command_writes_it_and_keeps_it_true_with_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", planted_frame(cases=12, dimensions=("accuracy",)))
    (run / "audit.jsonl").touch()
    assert main(["report", str(run), "--quiet", "--resamples", "200"]) == 0
    assert not (run / "board.html").exists()
    capsys.readouterr()
    assert main(["report", str(run), "--quiet", "--resamples", "200", "--board", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["board"] == str(run / "board.html")
    assert all(check.sound for check in RunFolder(run).verify())
    (run / "board.html").write_text("old")
    assert [each.what for each in RunFolder(run).verify() if not each.sound] == ["board.html"]
    assert (
        main(["report", str(run), "--quiet", "--resamples", "200"]) == 0
    )  # it is there, so it is written anew
    assert (run / "board.html").read_text(encoding="utf-8") != "old"
    assert all(check.sound for check in RunFolder(run).verify())
