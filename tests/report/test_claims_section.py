"""Claims in the report: counts, verdicts, refused evidence, the curve of the share, and answers claim by claim."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
from tests.judging.planted_claims import (
    ALL_WELL,
    COURTESY,
    DOSE,
    MIXED,
    ON_THE_LINE,
    START,
    PlantedCase,
    knowing,
)
from tests.report.planted import planted_frame, record_lines, section_made, write_run

from medjury.instruments import load_instrument
from medjury.judging import Claims, Speaker
from medjury.models import Gate, MemoryCache, Request, Scripted
from medjury.report._exhibits import Exhibits
from medjury.report._sections.claims import claims, share_curve
from medjury.tables import open_run
from medjury.validation import evidence_of

INSTRUMENT = {
    "name": "concordance",
    "version": "1.0",
    "dimensions": [{"name": "concordant", "label": "Concordant", "grades": [0, 1], "higher_is_better": True}],
}


def story(planted: PlantedCase, **quotes: list[str]) -> dict[str, Any]:
    """The record of a real rating of a planted answer."""
    wrong = (
        {DOSE.claim: [DOSE.wrong]}
        if "dose" in quotes
        else {START.claim: quotes.get("start", [START.evidence])}
    )
    answer = knowing(quotes=wrong)

    def line(request: Request) -> str:
        return answer("\n".join(message.content for message in request.messages))

    speaker = Speaker(Scripted(line, name="checker"))
    rater = Claims("checker", load_instrument("concordance"), speaker, speaker)
    [unit] = rater.units(planted.case, 0)
    rated = asyncio.run(rater.rate(unit, Gate(cache=MemoryCache())))
    assert rated.record is not None
    return dict(json.loads(json.dumps(rated.record.content())))


def lines(bodies: list[dict[str, Any]]) -> str:
    return record_lines("claims", bodies, "checker")


def frame(cases: int) -> pl.DataFrame:
    return planted_frame(
        cases=cases, dimensions=("concordant",), grades=(0, 1), clinicians={"c1": 0.0, "c2": 0.0},
        judges={"checker": 0.4},
    )  # fmt: skip


def run(folder: Path, bodies: list[dict[str, Any]], cases: int = 12, **changes: Any) -> Path:
    return write_run(folder, frame(cases), records=lines(bodies), instrument=INSTRUMENT, **changes)


def body_of(run: Path) -> str:
    return section_made(run, claims)


def cells(page: str, name: str) -> list[list[str]]:
    """The rows of a table in the page, by its caption's first words."""
    table = next(each for each in re.findall(r"<table.*?</table>", page, re.DOTALL) if name in each)
    body = table[table.index("<tbody>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_counts_verdicts_and_refused_evidence_are_exact(tmp_path: Path) -> None:
    bodies = [story(MIXED, dose=[]), story(ON_THE_LINE, start=[START.wrong, START.evidence]), story(COURTESY)]
    page = body_of(run(tmp_path, bodies))
    assert cells(page, "Claims of each answer") == [["checker", "Concordant", "3", "0", "8", "2.7", "0", "6"]]
    assert cells(page, "What became of the lists") == [["checker", "Concordant", "0", "0", "0", "0"]]
    rows = {row[2]: row[3:] for row in cells(page, "What the other text says of the claims")}
    assert rows["all"] == ["8", "37.5", "25.0", "25.0", "12.5"]
    assert rows["3 decisive"] == ["4", "25.0", "25.0", "25.0", "25.0"]
    assert rows["1 background"] == ["1", "0.0", "100.0", "0.0", "0.0"]
    # Mixed: 3 good quotations, 2 refused; on the line: 2 good, 1 refused and mended.
    assert cells(page, "Quotations that were looked up") == [
        ["checker", "Concordant", "8", "3", "37.5", "2", "1", "1"]
    ]


def test_answers_are_shown_claim_by_claim_the_doubtful_first(tmp_path: Path) -> None:
    page = body_of(run(tmp_path, [story(ALL_WELL), story(MIXED, dose=[])]))
    part = page[page.index("Answers claim by claim") :]
    assert part.index("case-0001") < part.index("case-0000")
    assert "“Home readings confirm hypertension.” [reference]" in part
    assert f"refused “{DOSE.wrong}”: it does not occur in the text" in part
    assert "Concordant 0, share 50 %" in part


def test_hidden_texts_leave_no_word_of_claims_and_quotations(tmp_path: Path) -> None:
    report = {"resamples": 200, "hide_texts": True}
    page = body_of(run(tmp_path, [story(MIXED, dose=[])], report=report))
    for words in ("amlodipine", "diuretic", "hypertension", "case-0000"):
        assert words not in page
    assert "left out" in page and "refused: it does not occur in the text" in page


def test_what_a_model_wrote_stays_text(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    body["claims"][0]["claim"] = "<script>alert(1)</script>"
    page = body_of(run(tmp_path, [body]))
    assert "<script>alert(1)</script>" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_an_answer_that_could_not_be_taken_apart_is_counted(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    body |= {"claims": [], "share": None, "threshold": None}
    body["steps"][0]["failure"] = {"reason": "refusal", "message": "the model declined to answer"}
    body["outcome"] = {"score": None, "status": "unscored", "reason": "refusal", "message": ""}
    page = body_of(run(tmp_path, [story(ON_THE_LINE), body]))
    assert cells(page, "Claims of each answer")[0][2:4] == ["1", "1"]
    assert "Concordant refusal" in page


def test_an_answer_that_could_not_be_decided_has_no_share_on_the_curve(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    undecided = {**body, "share": 1.0, "outcome": {**body["outcome"], "score": None, "status": "unscored"}}
    undecided["outcome"]["reason"] = "unfounded"
    [row] = cells(body_of(run(tmp_path, [body, undecided])), "How well the supported share alone")
    assert row[1] == "1" and row[3] == "11"


def test_a_claim_whose_second_answer_never_came_is_not_mended(tmp_path: Path) -> None:
    body = story(ON_THE_LINE, start=[START.wrong, START.evidence])
    told = next(claim for claim in body["claims"] if claim["told"])
    told |= {"verdict": None, "evidence": [], "failure": {"reason": "timeout", "message": "no answer"}}
    [row] = cells(body_of(run(tmp_path, [body])), "Quotations that were looked up")
    assert row[5:] == ["1", "0", "0"]


def test_a_mean_of_equal_shares_stays_on_its_side_of_the_threshold(tmp_path: Path) -> None:
    evidence = evidence_of(open_run(run(tmp_path, []), resamples=200))
    grid = evidence.grid("concordant")
    known = {(str(i), str(s)): [0.7, 0.7, 0.7] for i, s in zip(grid.items, grid.systems, strict=True)}
    curve = share_curve(evidence, "checker", "concordant", known, 0.7)
    assert curve is not None and sum(curve.at(0.7)[:2]) == len(curve.truth)


def test_the_curve_is_drawn(tmp_path: Path) -> None:
    """Of shares that follow the clinicians on most answers."""
    ratings, exhibits = frame(30), Exhibits()
    truth = ratings.filter(pl.col("rater") == "c1").sort("item")["score"].to_list()
    found = [round((0.85 if label else 0.4) + 0.01 * (n % 7) - (0.5 if n % 5 == 0 else 0) * label, 2)
             for n, label in enumerate(truth)]  # fmt: skip
    bodies = [{**story(ON_THE_LINE), "share": None if n == 3 else share} for n, share in enumerate(found)]
    made = write_run(tmp_path, ratings, records=lines(bodies), instrument=INSTRUMENT)
    assert 'id="figure-claims-roc"' in section_made(made, claims, exhibits)
    assert "claims-roc" in exhibits.figures and "claims-area" in exhibits.tables
