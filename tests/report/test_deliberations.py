"""Deliberations in the report: how they ended, who moved whom, and every word, with and without clinical text."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.judging.test_deliberation import END, Room, asks, graded, says, three
from tests.report.planted import page_of, record_lines, run_with_records, section_of

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case

HOSTILE = "<script>alert(1)</script> & <b>the potassium of 6.1</b>"


def story(room: Room) -> dict[str, Any]:
    rated = asyncio.run(room.rate(Case("case", "A summary.")))
    assert rated.record is not None
    return dict(json.loads(json.dumps(rated.record.content())))


def stories() -> list[dict[str, Any]]:
    """One that talks and is decided beyond all agents, one that agrees at once, one that loses an agent."""
    talk = Room(
        [
            asks("low_scorer", "accuracy", question="Where is the potassium?", progress=None),
            asks("high_scorer", "accuracy"),
            END,
            graded(1, 3, why="Nothing of it is there: the patient could die."),
        ],
        three(
            [graded(5, 3, why=HOSTILE), says("I see nothing wrong with it.", accuracy=4)],
            [graded(2, 3), says(HOSTILE, accuracy=2)],
            [graded(3, 3)],
        ),
    )
    same = [graded(4, 4)]
    quiet = Room([graded(4, 4)], three(same, same, same))
    lost = Room([graded(4, 4)], three(same, ["four"] * 3, same))
    return [story(quiet), story(lost), story(talk)]


def lines(bodies: list[dict[str, Any]]) -> str:
    return record_lines("deliberation", bodies)


def folder(tmp_path: Path, records: str, **changes: Any) -> Path:
    return run_with_records(tmp_path / "run", records, **changes)


def test_a_run_without_deliberations_says_nothing_of_them(tmp_path: Path) -> None:
    assert 'id="deliberations"' not in page_of(folder(tmp_path, ""))


def test_every_word_is_there_and_none_of_it_is_markup(tmp_path: Path) -> None:
    section = section_of(page_of(folder(tmp_path, lines(stories()))), "deliberations")
    for words in ("Where is the potassium?", "I see nothing wrong with it.", "the patient could die"):
        assert words in section
    assert "&lt;script&gt;alert(1)" in section and "<script>" not in section and "<b>" not in section
    assert "Turn 1: the orchestrator asks low_scorer about Accuracy" in section
    assert "5 → 4" in section, "a grade that changed is shown with what it was"
    assert "no usable answer (parse)" in section


def test_what_deserves_a_look_comes_first(tmp_path: Path) -> None:
    section = section_of(page_of(folder(tmp_path, lines(stories()))), "deliberations")
    titles = re.findall(r"<summary>(case-[^<]*)</summary>", section)
    assert [title.split(" ")[0] for title in titles] == ["case-0002", "case-0001", "case-0000"]
    assert "decided beyond all agents: Accuracy" in titles[0]
    assert "1 decision of 6 outside the grades" in section


def test_a_decision_that_could_not_be_used_is_told(tmp_path: Path) -> None:
    room = Room([graded(3.5, 3)] * 3, three([graded(5, 3)], [graded(2, 3)], [graded(3, 3)]), max_turns=0)
    section = section_of(page_of(folder(tmp_path, lines([*stories(), story(room)]))), "deliberations")
    assert "1 grade left undecided" in section and "not decided: Accuracy" in section
    assert "do not average, decide for one of them" in section


def test_fewer_transcripts_are_shown_where_the_study_says_so(tmp_path: Path) -> None:
    records = lines(stories())
    one = section_of(
        page_of(folder(tmp_path / "one", records, report={"resamples": 200, "cases_shown": 1})),
        "deliberations",
    )
    none = section_of(
        page_of(folder(tmp_path / "none", records, report={"resamples": 200, "cases_shown": 0})),
        "deliberations",
    )
    assert "1 transcript of 3" in one and "Transcripts" not in none and ">3<" in none


def test_a_copy_without_texts_keeps_the_grades_and_no_word(tmp_path: Path) -> None:
    run = folder(tmp_path, lines(stories()), report={"resamples": 200, "hide_texts": True})
    section = section_of(page_of(run), "deliberations")
    for words in ("potassium", "nothing wrong", "could die", "case-000", "it says so", "Where is"):
        assert words not in section, words
    assert "5 → 4" in section and "deliberation 1" in section and "left out of this copy" in section


def test_long_words_are_cut_and_it_says_where_the_rest_is(tmp_path: Path) -> None:
    bodies = stories()
    bodies[2]["steps"][0]["reasons"]["accuracy"] = "x" * 5000
    section = section_of(page_of(folder(tmp_path, lines(bodies))), "deliberations")
    assert "5,000 characters; whole in records.jsonl" in section and "x" * 1600 not in section


@pytest.mark.parametrize(
    "change",
    [
        {"steps": [{}]},
        {"steps": "none"},
        {"ended": "by magic"},
        {"final": {"low_scorer": {"accuracy": "4"}}},
        {"decided": []},
        {"turns": "many"},
        {"personas": []},
        {"failed": [{"persona": "a stranger", "reason": "parse", "message": "the potassium"}]},
    ],
)
def test_a_record_of_another_form_is_refused_by_its_line(change: dict[str, Any], tmp_path: Path) -> None:
    bodies = stories()
    bodies[1] = {**bodies[1], **change}
    with pytest.raises(
        MedjuryError, match="line 2: this is not a record of the kind 'deliberation'"
    ) as refused:
        page_of(folder(tmp_path, lines(bodies)))
    assert "potassium" not in str(refused.value) and "by magic" not in str(refused.value)
