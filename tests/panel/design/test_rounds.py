"""Rounds and items: set up once, blinded, and with nothing of the case that a rater must not see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.panel.rounds import NOON, SYSTEMS, case_rows, set_up_panel, write_study

from medjury.foundation.errors import MedjuryError
from medjury.panel._design._rounds import item_count, rounds, set_state, set_up
from medjury.panel._tables import items_table


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    database, (only,) = set_up_panel(tmp_path)
    with database.writing() as connection:
        set_up(connection, write_study(tmp_path), NOON)
        assert rounds(connection) == [only] and not only.warnings
        assert item_count(connection, only.id) == 6


def test_a_changed_round_goes_on_as_it_was_and_the_coordinator_is_told(tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    study = write_study(tmp_path, panel="panel: {justification: required}\n")
    with database.writing() as connection:
        set_up(connection, study, NOON)
        (only,) = rounds(connection)
    assert "continues as it was set up" in only.warnings[0]
    assert {each.justification for each in only.questions} == {"optional"}


def test_an_item_holds_the_texts_of_the_instrument_and_nothing_else(tmp_path: Path) -> None:
    database, _ = set_up_panel(tmp_path)
    with database.reading() as connection:
        row = connection.execute(select(items_table)).first()
    assert row is not None
    assert [each["name"] for each in row.shown] == ["context", "answer"]
    for planted in (*SYSTEMS, "Plumbago", "marmoset", "pangolin", "aardwolf"):
        assert planted not in json.dumps(row.shown)


def test_words_that_tell_the_system_are_hidden_and_others_are_told(tmp_path: Path) -> None:
    rows = case_rows(1)
    rows[0]["candidate"] = "Zebrafinch-9B here: I, zebrafinch-9b, made by PLUMBAGO  labs, summarise."
    told = write_study(tmp_path, rows=rows)
    database, _ = set_up_panel(tmp_path, rows=rows, panel="panel: {blind_words: [zebrafinch-9b]}\n")
    with database.reading() as connection:
        (only,) = rounds(connection)
        shown = connection.execute(select(items_table.c.shown)).scalars().first()
    assert shown is not None
    assert shown[1]["text"] == "[hidden] here: I, [hidden], made by PLUMBAGO  labs, summarise."
    assert "'Plumbago Labs'" in only.warnings[0]
    assert "zebrafinch" not in only.warnings[0]
    assert told.panel.blind_words == []


def test_a_rescore_panel_sees_only_what_the_round_shows(tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "candidate": "flu",
            "reference": "influenza",
            "texts": {"age": "61", "sex": "f"},
            "system": "s",
        }
    ]
    panel = "panel: {rounds: [{name: second, kind: rescore, show: [reference, answer]}]}\n"
    database, (second,) = set_up_panel(
        tmp_path, rows=rows, instrument="diagnosis", dimensions="", panel=panel
    )
    with database.reading() as connection:
        shown = connection.execute(select(items_table.c.shown)).scalar_one()
    assert [each["name"] for each in shown] == ["reference", "answer"]
    assert (second.counts, second.state) == (True, "open")


TRAINING = """\
panel:
  rounds:
    - {name: practice, kind: training, cases: [marmoset-00], key: [{case: marmoset-00, grades: {accuracy: 4}}]}
    - {name: words, kind: calibration, cases: [marmoset-01]}
    - {name: rating}
    - {name: second, kind: rescore}
"""


def test_practice_cases_are_not_rated_and_never_count(tmp_path: Path) -> None:
    database, found = set_up_panel(tmp_path, panel=TRAINING)
    with database.reading() as connection:
        assert [item_count(connection, each.id) for each in found] == [2, 2, 2, 2]
    assert [each.counts for each in found] == [False, False, True, True]
    assert [each.state for each in found] == ["open", "open", "open", "waiting"]


@pytest.mark.parametrize(
    ("panel", "words"),
    [
        ("panel: {rounds: [{name: a, cases: [no-such-case]}]}\n", "names the case 'no-such-case'"),
        (TRAINING.replace("key: [{case: marmoset-00", "key: [{case: marmoset-01"), "which the round lacks"),
        (
            TRAINING.replace("case: marmoset-00, grades", "case: marmoset-00, system: other, grades"),
            "has no grades",
        ),
    ],
)
def test_what_does_not_fit_the_cases_is_told(panel: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=words):
        set_up_panel(tmp_path, panel=panel)


def test_a_case_without_a_text_that_raters_need_is_told(tmp_path: Path) -> None:
    rows = case_rows(2)
    del rows[0]["texts"]
    with pytest.raises(MedjuryError, match="marmoset-00: Source"):
        set_up_panel(tmp_path, rows=rows)


def test_a_round_goes_only_where_it_may(tmp_path: Path) -> None:
    database, found = set_up_panel(tmp_path, panel=TRAINING)
    with database.writing() as connection:
        set_state(connection, found[1], "discussing")
        with pytest.raises(MedjuryError, match="a rating round that is open cannot become discussing"):
            set_state(connection, found[2], "discussing")


def test_transcripts_come_with_four_worked_examples_of_ours(tmp_path: Path) -> None:
    rows = [{"id": "a", "system": "s", "reference": "not painful", "candidate": "painful"}]
    _, (only,) = set_up_panel(tmp_path, rows=rows, instrument="transcript_impact", dimensions="")
    assert [each.scores["impact"] for each in only.instrument.examples] == [2, 0, 1, 0]
    assert only.settings["differences"] is True
