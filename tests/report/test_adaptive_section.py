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
from tests.report.planted import record_lines, run_with_records, section_made

from medjury.instruments import Reason
from medjury.intake.cases import Case
from medjury.judging import AdaptiveJury
from medjury.models import Gate, MemoryCache, ModelError
from medjury.report._exhibits import Exhibits
from medjury.report._sections.adaptive import adaptive_juries

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


def section(
    tmp_path: Path, bodies: list[dict[str, Any]], exhibits: Exhibits | None = None, **changes: Any
) -> str:
    run = run_with_records(tmp_path / "run", lines(bodies), **changes)
    return section_made(run, adaptive_juries, exhibits)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.001)


def test_what_was_asked_and_why_it_stopped_is_counted(tmp_path: Path) -> None:
    exhibits = Exhibits()
    section(tmp_path, stories(), exhibits)
    told = {name: list(csv.reader(text.splitlines())) for name, text in exhibits.tables.items()}
    ends = dict(zip(*told["adaptive-ends"], strict=True))
    assert ends["units"] == "6" and ends["nothing open"] == "3" and ends["open after all"] == "1"
    assert ends["could not be asked"] == "1" and ends["broken off"] == "1"
    assert (ends["questions asked"], ends["at most"]) == ("9", "12"), (
        "4 finished units of at most 3 questions"
    )
    assert float(ends["saved (%)"]) == pytest.approx(25)
    assert [row[1:3] for row in told["adaptive-asked"][1:]] == [["1", "1"], ["2", "1"], ["3", "2"]]


def test_units_broken_off_are_no_saving_and_jurors_who_fail_are_named(tmp_path: Path) -> None:
    said = section(tmp_path, stories())
    assert "9 of at most 12 questions to jurors were asked about 4 units, 25 % less" in said
    assert "1 unit interrupted by a failure that may be temporary" in said
    assert "a gave no usable answer 1 of 5 times" in said
    assert "c was never asked" in section(tmp_path / "one", stories()[:1])


def test_it_needs_no_text_and_shows_none(tmp_path: Path) -> None:
    bodies = stories()
    for body in bodies:
        for call in body["calls"]:
            for outcome in call["outcomes"].values():
                outcome.update({"explanation": "the potassium"})
    for hide in (True, False):
        said = section(tmp_path / str(hide), bodies, report={"resamples": 200, "hide_texts": hide})
        assert "potassium" not in said and "case-000" not in said and "9 of at most 12" in said
