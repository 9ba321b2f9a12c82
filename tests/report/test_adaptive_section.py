"""Adaptive juries in the report: how many were asked, why it stopped, what was saved, and whose votes were lost."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.judging.test_adaptive import REFUSAL, jury, rate
from tests.judging.test_repeats import answer
from tests.report.planted import page_of, record_lines, run_with_records, section_of

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.intake.cases import Case
from medjury.judging import AdaptiveJury
from medjury.models import Gate, MemoryCache, ModelError
from medjury.report._exhibits import Exhibits
from medjury.report._page import compose
from medjury.tables import open_run
from medjury.validation import evidence_of

DOWN = ModelError(Reason.PROVIDER, "down")


def story(*scripts: Any) -> dict[str, Any]:
    rated = asyncio.run(rate(jury(*scripts)))
    assert rated.record is not None
    return dict(json.loads(json.dumps(rated.record.content())))


def unasked(rater: AdaptiveJury) -> dict[str, Any]:
    (unit,) = rater.units(Case("empty"), 0)
    rated = asyncio.run(rater.rate(unit, Gate(cache=MemoryCache())))
    assert rated.record is not None
    return dict(json.loads(json.dumps(rated.record.content())))


def stories() -> list[dict[str, Any]]:
    """One after one vote, one after two, one that asks all, one whose first juror refuses, one broken off, one
    that cannot be asked."""
    return [
        story([answer(5, 5)], [answer(1)], [answer(1)]),
        story([answer(3, 5)], [answer(3, 5)], [answer(1)]),
        story([answer(5, 4)], [answer(2, 4)], [answer(4, 4)]),
        story([REFUSAL], [answer(5, None)], [answer(5, None)]),
        story([answer(3, 3)], [DOWN] * 9, [answer(1)]),
        unasked(jury(answer(5, 5), answer(1), answer(2))),
    ]


def lines(bodies: list[dict[str, Any]]) -> str:
    return record_lines("adaptive", bodies)


def folder(tmp_path: Path, records: str, **changes: Any) -> Path:
    return run_with_records(tmp_path / "run", records, **changes)


def tables(run: Path) -> dict[str, list[list[str]]]:
    exhibits = Exhibits()
    compose(evidence_of(open_run(run, resamples=200)), exhibits)
    return {
        name: list(csv.reader(text.splitlines()))
        for name, text in exhibits.tables.items()
        if name.startswith("adaptive-")
    }


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.001)


def test_a_run_without_adaptive_juries_says_nothing_of_them(tmp_path: Path) -> None:
    assert 'id="adaptive"' not in page_of(folder(tmp_path, ""))


def test_what_was_asked_and_why_it_stopped_is_counted(tmp_path: Path) -> None:
    told = tables(folder(tmp_path, lines(stories())))
    ends = dict(zip(*told["adaptive-ends"], strict=True))
    assert ends["units"] == "6" and ends["nothing open"] == "3" and ends["open after all"] == "1"
    assert ends["could not be asked"] == "1" and ends["broken off"] == "1"
    assert (ends["questions asked"], ends["at most"]) == ("9", "12"), (
        "4 finished units of at most 3 questions"
    )
    assert float(ends["saved (%)"]) == pytest.approx(25)
    assert [row[1:3] for row in told["adaptive-asked"][1:]] == [["1", "1"], ["2", "1"], ["3", "2"]]


def test_units_broken_off_are_no_saving_and_jurors_who_fail_are_named(tmp_path: Path) -> None:
    section = section_of(page_of(folder(tmp_path, lines(stories()))), "adaptive")
    assert "9 of at most 12 questions to jurors were asked about 4 units, 25 % less" in section
    assert "1 unit interrupted by a failure that may be temporary" in section
    assert "a gave no usable answer 1 of 5 times" in section
    only = section_of(page_of(folder(tmp_path / "one", lines(stories()[:1]))), "adaptive")
    assert "c was never asked" in only


def test_it_needs_no_text_and_shows_none(tmp_path: Path) -> None:
    bodies = stories()
    for body in bodies:
        for call in body["calls"]:
            for outcome in call["outcomes"].values():
                outcome.update({"explanation": "the potassium"})
    for hide in (True, False):
        run = folder(tmp_path / str(hide), lines(bodies), report={"resamples": 200, "hide_texts": hide})
        section = section_of(page_of(run), "adaptive")
        assert "potassium" not in section and "case-000" not in section and "9 of at most 12" in section


@pytest.mark.parametrize(
    "change",
    [
        {"stopped": "by magic"},
        {"calls": "none"},
        {"calls": []},
        {"rule": {}},
        {"jurors": ["x"]},
        {"calls": [{"juror": "a", "outcomes": {"accuracy": {"status": "odd"}}}]},
    ],
)
def test_a_record_of_another_form_is_refused_by_its_line(change: dict[str, Any], tmp_path: Path) -> None:
    bodies = stories()[:3]
    bodies[1] = {**bodies[1], **change}
    with pytest.raises(MedjuryError, match="line 2: this is not a record of the kind 'adaptive'") as refused:
        page_of(folder(tmp_path, lines(bodies)))
    assert "by magic" not in str(refused.value) and "it is 3" not in str(refused.value)
