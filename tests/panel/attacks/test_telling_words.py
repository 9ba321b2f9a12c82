"""A text that names its system: however it writes the name, it is hidden or told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.panel.raters import rater
from tests.panel.rounds import case_rows, set_up_panel

from medjury.panel._serve import Panel, make_app

WRITTEN = [
    "quokka-scribe",
    "Quokka_Scribe",
    "QUOKKA SCRIBE",
    "QuokkaScribe",
    "quokka\u2011scribe",
    "_quokka-scribe_",
]


def rows(text: str) -> list[dict[str, object]]:
    first, second = case_rows(1)
    return [first, second | {"candidate": f"Blood pressure 120/80, by {text}."}]


@pytest.mark.parametrize("written", [*WRITTEN, "quokka-scribe2", "quokkascribe_v4"])
def test_the_coordinator_is_told_of_it(tmp_path: Path, written: str) -> None:
    _, (found,) = set_up_panel(tmp_path, rows=rows(written))
    assert "'quokka-scribe'" in "".join(found.warnings)


@pytest.mark.parametrize("written", WRITTEN)
def test_it_is_hidden_where_the_study_says_so(tmp_path: Path, written: str) -> None:
    database, (found,) = set_up_panel(
        tmp_path, rows=rows(written), panel="panel: {blind_words: [quokka-scribe]}\n"
    )
    assert not found.warnings
    one = rater(make_app(Panel(database)))
    assert "quokka" not in "".join(one.get(f"/rate/{code}").text for code in one.codes()).casefold()


@pytest.mark.parametrize("text", ["Quokkas scribe nothing.", "a scribe", "by quokka and a scribe"])
def test_other_words_stay(tmp_path: Path, text: str) -> None:
    database, (found,) = set_up_panel(
        tmp_path, rows=rows(text), panel="panel: {blind_words: [quokka-scribe]}\n"
    )
    assert not found.warnings
    one = rater(make_app(Panel(database)))
    assert text in "".join(one.get(f"/rate/{code}").text for code in one.codes())


def test_it_is_hidden_in_the_notes_of_a_record_as_well(tmp_path: Path) -> None:
    note = {"id": "quokka-scribe 1", "kind": "QuokkaScribe letter", "text": "Seen, by quokka-scribe."}
    case = {"id": "a", "system": "quokka-scribe", "candidate": "Well.", "notes": [note]}
    study = {"instrument": "pdsqi9", "dimensions": "", "panel": "panel: {blind_words: [quokka-scribe]}\n"}
    database, (found,) = set_up_panel(tmp_path, rows=[case], **study)
    assert not found.warnings
    one = rater(make_app(Panel(database)))
    page = one.get(f"/rate/{one.codes()[0]}").text
    assert page.count("[hidden]") >= 3 and "quokka" not in page.casefold()
