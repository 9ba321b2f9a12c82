"""Judging from a script: the same power, and only this call's votes in the table."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
from tests.ratings.samples import ratings_of

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import Case
from medjury.judging import Judge, Jury, judge, run_async
from medjury.models import Request, Scripted

INSTRUMENT = load_instrument("concordance")


def answer(request: Request) -> str:
    grade = 1 if "NEW" in request.messages[-1].content else 0
    name = INSTRUMENT.dimensions[0].name
    rest = {each.name: {"explanation": "", "score": each.lowest} for each in INSTRUMENT.dimensions[1:]}
    return json.dumps({name: {"explanation": "", "score": grade}, **rest})


def case(text: str) -> Case:
    inputs = {each.name: "x" for each in INSTRUMENT.inputs if each.name not in ("candidate", "reference")}
    return Case("a", text, reference="x", texts=inputs, system="s")


def test_another_text_of_the_same_item_is_not_mixed_in(tmp_path: Path) -> None:
    jury = Jury([Judge(Scripted(answer, name="juror"), INSTRUMENT)])
    name = INSTRUMENT.dimensions[0].name
    for text, expected in (("old", 0), ("NEW", 1), ("old", 0)):
        table = judge([case(text)], jury, store=tmp_path / "store.sqlite").filter(dimension=name)
        assert table.filter(rater_kind="judge")["score"].to_list() == [expected]
        assert table.filter(rater_kind="jury")["score"].to_list() == [expected]


def test_a_stored_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    model = Scripted(answer, name="juror")
    jury = Jury([Judge(model, INSTRUMENT)])
    for _ in range(2):
        judge([case("old")], jury, store=tmp_path / "store.sqlite")
    assert len(model.requests) == 1


def test_without_a_store_nothing_touches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = judge([case("NEW")], Jury([Judge(Scripted(answer, name="juror"), INSTRUMENT)]))
    assert table.height and not list(tmp_path.iterdir())


def test_votes_of_two_runs_are_refused(tmp_path: Path) -> None:

    jury = Jury([Judge(Scripted(answer, name="juror"), INSTRUMENT)])
    votes = [
        row
        for text in ("old", "NEW")
        for row in ratings_of(judge([case(text)], jury).filter(rater_kind="judge"))
    ]
    with pytest.raises(MedjuryError, match="votes of different runs"):
        list(jury.ratings(votes))


async def test_it_works_inside_a_running_loop() -> None:
    table = judge([case("NEW")], Jury([Judge(Scripted(answer, name="juror"), INSTRUMENT)]))
    assert table.height


async def test_an_interrupt_inside_a_running_loop_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    started, ended = threading.Event(), threading.Event()

    async def endless() -> None:
        try:
            started.set()
            await asyncio.sleep(60)
        finally:
            ended.set()

    join = threading.Thread.join
    calls = []

    def interrupted(self: threading.Thread, timeout: float | None = None) -> None:
        calls.append(self.name)
        if len(calls) == 1:
            assert started.wait(60)
            raise KeyboardInterrupt
        join(self, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_async(endless())
    assert ended.is_set()
