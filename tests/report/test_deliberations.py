"""Deliberations in the report: how they ended, who moved whom, and every word, with and without clinical text."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from tests.judging.test_deliberation import END, Room, asks, graded, says, three
from tests.report.planted import record_lines, run_with_records, section_made

from medjury.intake.cases import Case
from medjury.report._sections.deliberations import deliberations

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


def section(tmp_path: Path, bodies: list[dict[str, Any]], **changes: Any) -> str:
    return section_made(run_with_records(tmp_path / "run", lines(bodies), **changes), deliberations)


def test_every_word_is_there_and_none_of_it_is_markup(tmp_path: Path) -> None:
    said = section(tmp_path, stories())
    for words in ("Where is the potassium?", "I see nothing wrong with it.", "the patient could die"):
        assert words in said
    assert "&lt;script&gt;alert(1)" in said and "<script>" not in said and "<b>" not in said
    assert "Turn 1: the orchestrator asks low_scorer about Accuracy" in said
    assert "5 → 4" in said, "a grade that changed is shown with what it was"
    assert "no usable answer (parse)" in said


def test_what_deserves_a_look_comes_first(tmp_path: Path) -> None:
    said = section(tmp_path, stories())
    titles = re.findall(r"<summary>(case-[^<]*)</summary>", said)
    assert [title.split(" ")[0] for title in titles] == ["case-0002", "case-0001", "case-0000"]
    assert "decided beyond all agents: Accuracy" in titles[0]
    assert "1 decision of 6 outside the grades" in said


def test_a_decision_that_could_not_be_used_is_told(tmp_path: Path) -> None:
    room = Room([graded(3.5, 3)] * 3, three([graded(5, 3)], [graded(2, 3)], [graded(3, 3)]), max_turns=0)
    said = section(tmp_path, [*stories(), story(room)])
    assert "1 grade left undecided" in said and "not decided: Accuracy" in said
    assert "do not average, decide for one of them" in said


def test_fewer_transcripts_are_shown_where_the_study_says_so(tmp_path: Path) -> None:
    one, none = (
        section(tmp_path / f"{n}", stories(), report={"resamples": 200, "cases_shown": n}) for n in (1, 0)
    )
    assert "1 transcript of 3" in one and "Transcripts" not in none and ">3<" in none


def test_a_copy_without_texts_keeps_the_grades_and_no_word(tmp_path: Path) -> None:
    said = section(tmp_path, stories(), report={"resamples": 200, "hide_texts": True})
    for words in ("potassium", "nothing wrong", "could die", "case-000", "it says so", "Where is"):
        assert words not in said, words
    assert "5 → 4" in said and "deliberation 1" in said and "left out of this copy" in said


def test_long_words_are_cut_and_it_says_where_the_rest_is(tmp_path: Path) -> None:
    bodies = stories()
    bodies[2]["steps"][0]["reasons"]["accuracy"] = "x" * 5000
    said = section(tmp_path, bodies)
    assert "5,000 characters; whole in records.jsonl" in said and "x" * 1600 not in said
