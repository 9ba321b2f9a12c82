"""Claims in the report: counts, verdicts, refused evidence, the curve of the share, and answers claim by claim."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
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
from tests.report.planted import page_of, planted_frame, write_run

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.judging import Claims, Speaker
from medjury.models import Gate, MemoryCache, Request, Scripted
from medjury.report._exhibits import Exhibits
from medjury.report._page import compose
from medjury.report._sections.claims import share_curve
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


def lines(bodies: list[dict[str, Any]], **changes: Any) -> str:
    return "".join(
        json.dumps(
            {
                "key": f"key-{number}",
                "item": f"case-{number:04d}",
                "system": "",
                "rater": "checker",
                "repeat": 0,
                "kind": "claims",
                "body": body,
                **changes,
            }
        )
        + "\n"
        for number, body in enumerate(bodies)
    )


def frame(cases: int) -> pl.DataFrame:
    return planted_frame(
        cases=cases, dimensions=("concordant",), grades=(0, 1), clinicians={"c1": 0.0, "c2": 0.0},
        judges={"checker": 0.4},
    )  # fmt: skip


def run(folder: Path, bodies: list[dict[str, Any]], cases: int = 12, **changes: Any) -> Path:
    return write_run(folder, frame(cases), records=lines(bodies), instrument=INSTRUMENT, **changes)


def cells(page: str, name: str) -> list[list[str]]:
    """The rows of a table in the page, by its caption's first words."""
    table = next(each for each in re.findall(r"<table.*?</table>", page, re.DOTALL) if name in each)
    body = table[table.index("<tbody>") :]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_a_run_without_claims_has_no_such_section(tmp_path: Path) -> None:
    folder = write_run(tmp_path, frame(12), instrument=INSTRUMENT)
    assert 'id="claims"' not in page_of(folder)


def test_counts_verdicts_and_refused_evidence_are_exact(tmp_path: Path) -> None:
    bodies = [story(MIXED, dose=[]), story(ON_THE_LINE, start=[START.wrong, START.evidence]), story(COURTESY)]
    page = page_of(run(tmp_path, bodies))
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
    page = page_of(run(tmp_path, [story(ALL_WELL), story(MIXED, dose=[])]))
    part = page[page.index("Answers claim by claim") :]
    assert part.index("case-0001") < part.index("case-0000")
    assert "“Home readings confirm hypertension.” [reference]" in part
    assert f"refused “{DOSE.wrong}”: it does not occur in the text" in part
    assert "Concordant 0, share 50 %" in part


def test_hidden_texts_leave_no_word_of_claims_and_quotations(tmp_path: Path) -> None:
    report = {"resamples": 200, "hide_texts": True}
    page = page_of(run(tmp_path, [story(MIXED, dose=[])], report=report))
    section = page[page.index('id="claims"') :]
    section = section[: section.index("</section>")]
    for words in ("amlodipine", "diuretic", "hypertension", "case-0000"):
        assert words not in section
    assert "left out" in section
    assert "refused: it does not occur in the text" in section


def test_what_a_model_wrote_stays_text(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    body["claims"][0]["claim"] = "<script>alert(1)</script>"
    page = page_of(run(tmp_path, [body]))
    assert "<script>alert(1)</script>" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    "change", [{"claims": [{"claim": "secret"}]}, {"outcome": {"status": "secret"}}, {"share": "secret"}]
)
def test_a_record_of_another_form_is_refused_by_its_line(change: dict[str, Any], tmp_path: Path) -> None:
    bodies = [story(ON_THE_LINE), {**story(ON_THE_LINE), **change}]
    with pytest.raises(MedjuryError, match="line 2: this is not a record of the kind 'claims'") as refused:
        page_of(run(tmp_path, bodies))
    assert "secret" not in str(refused.value) and START.claim not in str(refused.value)


def test_an_answer_that_could_not_be_taken_apart_is_counted(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    body |= {"claims": [], "share": None, "threshold": None}
    body["steps"][0]["failure"] = {"reason": "refusal", "message": "the model declined to answer"}
    body["outcome"] = {"score": None, "status": "unscored", "reason": "refusal", "message": ""}
    page = page_of(run(tmp_path, [story(ON_THE_LINE), body]))
    assert cells(page, "Claims of each answer")[0][2:4] == ["1", "1"]
    assert "Concordant refusal" in page


def shares(folder: Path, cases: int) -> tuple[Path, list[float], list[float]]:
    """A run whose shares follow the clinicians on most answers; truth and shares as planted."""
    ratings = frame(cases)
    truth = ratings.filter(pl.col("rater") == "c1").sort("item")["score"].to_list()
    body = story(ON_THE_LINE)
    found = [round((0.85 if label else 0.4) + 0.01 * (n % 7) - (0.5 if n % 5 == 0 else 0) * label, 2)
             for n, label in enumerate(truth)]  # fmt: skip
    bodies = [{**body, "share": share} for share in found]
    bodies[3] = {**bodies[3], "share": None}
    made = write_run(folder, ratings, records=lines(bodies), instrument=INSTRUMENT)
    return made, truth, found


def test_an_answer_that_could_not_be_decided_has_no_share_on_the_curve(tmp_path: Path) -> None:
    body = story(ON_THE_LINE)
    undecided = {**body, "share": 1.0, "outcome": {**body["outcome"], "score": None, "status": "unscored"}}
    undecided["outcome"]["reason"] = "unfounded"
    [row] = cells(page_of(run(tmp_path, [body, undecided])), "How well the supported share alone")
    assert row[1] == "1" and row[3] == "11"


def test_a_claim_whose_second_answer_never_came_is_not_mended(tmp_path: Path) -> None:
    body = story(ON_THE_LINE, start=[START.wrong, START.evidence])
    told = next(claim for claim in body["claims"] if claim["told"])
    told |= {"verdict": None, "evidence": [], "failure": {"reason": "timeout", "message": "no answer"}}
    [row] = cells(page_of(run(tmp_path, [body])), "Quotations that were looked up")
    assert row[5:] == ["1", "0", "0"]


def test_a_mean_of_equal_shares_stays_on_its_side_of_the_threshold(tmp_path: Path) -> None:
    evidence = evidence_of(open_run(run(tmp_path, []), resamples=200))
    grid = evidence.grid("concordant")
    known = {(str(i), str(s)): [0.7, 0.7, 0.7] for i, s in zip(grid.items, grid.systems, strict=True)}
    curve = share_curve(evidence, "checker", "concordant", known, 0.7)
    assert curve is not None and sum(curve.at(0.7)[:2]) == len(curve.truth)


def test_the_curve_is_drawn(tmp_path: Path) -> None:
    folder, _, _ = shares(tmp_path, 30)
    exhibits = Exhibits()
    page, _ = compose(evidence_of(open_run(folder, resamples=200)), exhibits)
    assert "claims-roc" in exhibits.figures
    assert 'id="figure-claims-roc"' in page
    assert "claims-area" in exhibits.tables
