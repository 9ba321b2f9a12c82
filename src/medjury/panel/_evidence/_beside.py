"""Two answers side by side: of two systems to one case, or of one system in two runs."""

from __future__ import annotations

from typing import Any

from medjury.panel._evidence._case_view import texts_of
from medjury.panel._evidence._names import shown_name
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._steps import last_draft
from medjury.panel._evidence._votes import difference_of, votes_of
from medjury.panel._evidence._word_difference import word_difference


def beside_systems(state: State, first: int, second: int) -> dict[str, Any]:
    """The values of `beside.html` for two answers of one run."""
    item = state.item(state.snapshot.keys[first][0])
    titles = [state.snapshot.keys[each][1] or "no name" for each in (first, second)]
    return _sides(
        f"{item}: {' beside '.join(titles)}", [(state, first, titles[0]), (state, second, titles[1])]
    )


def beside_run(run: EvidenceRun, state: State, place: int, other: EvidenceRun) -> dict[str, Any]:
    """The same for one answer in two runs."""
    key = state.snapshot.keys[place]
    there = other.state
    titles = [run.folder.name, other.folder.name]
    if titles[0] == titles[1]:
        titles = [str(run.folder), str(other.folder)]
    sides = [(state, place, titles[0]), (there, there.snapshot.number[key], titles[1])]
    return _sides(f"{shown_name(key)}: {' beside '.join(titles)}", sides)


def _sides(heading: str, sides: list[tuple[State, int, str]]) -> dict[str, Any]:
    answers = [_answer(state, place) for state, place, _ in sides]
    difference = None if None in answers else word_difference(answers[0] or "", answers[1] or "")
    parts = ((), ()) if difference is None else (difference.left, difference.right)
    return {
        "heading": heading,
        "too_long": difference is not None and difference.too_long,
        "same": difference is not None and answers[0] == answers[1],
        "marked": difference is not None,
        "sides": [
            {
                "title": title,
                "parts": parts[number],
                "why": f"No text is shown: {state.texts.why_not or 'there is no answer'}.",
                "view": {"votes": votes_of(state, place), "difference": difference_of(state, place)},
                "dimensions": state.snapshot.dimensions,
            }
            for number, (state, place, title) in enumerate(sides)
        ],
    }


def _answer(state: State, place: int) -> str | None:
    titled, _ = texts_of(state, place, last_draft(state.records(place)))
    return next((text.text for _, text in titled if text.name == "candidate"), None)
