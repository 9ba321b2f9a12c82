"""Which columns describe the case or the answer: never the rater's own, nor ids, dates, texts and scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from medjury.store.runs import GateRules
from medjury.tables import rating_table, two_panels, with_rules

RATERS = {"anna": "clinician", "ben": "clinician", "gpt": "judge"}


def rows(raters: dict[str, str] = RATERS, cases: int = 12, **columns: Any) -> pl.DataFrame:
    """Every rater on every case; a column is a function of the case and the rater."""
    return pl.DataFrame(
        [
            {
                "item": f"c{place}",
                "rater": rater,
                "rater_kind": kind,
                "dimension": "accuracy",
                "score": 1.0 + (place + len(rater)) % 5,
                **{name: value(place, rater) for name, value in columns.items()},
            }
            for place in range(cases)
            for rater, kind in raters.items()
        ]
    )


OWN = {"anna": "cardiology", "ben": "surgery", "gpt": None}


def test_a_column_of_the_rater_is_not_one_of_the_case_and_that_is_reported() -> None:
    table = rating_table(rows(specialty=lambda _, rater: OWN[rater], sex=lambda place, _: "fm"[place % 2]))
    assert table.case_columns == ("sex",)
    (warning,) = table.warnings
    assert warning == (
        "the column specialty is not a part of the cases: raters of one answer have different values in it (on 12 "
        "of 12 answers), so it does not describe the case"
    )


def test_one_answer_with_two_values_is_enough() -> None:
    table = rating_table(
        rows(site=lambda place, rater: "south" if place % 2 or (place, rater) == (0, "ben") else "north")
    )
    assert table.case_columns == ()
    assert "on 1 of 12 answers" in table.warnings[0]


def test_the_specialty_of_clinicians_who_share_no_answer_may_be_theirs() -> None:
    """No answer shows that it differs between raters; each rater has one value, and so has each answer."""
    frame = rows(specialty=lambda _, rater: OWN[rater])
    place = pl.col("item").str.slice(1).cast(pl.Int64)
    apart = frame.filter((pl.col("rater") == "gpt") | ((pl.col("rater") == "anna") == (place < 6)))
    table = rating_table(apart)
    assert table.case_columns == ()
    assert "it may describe the rater" in table.warnings[0]
    everyone = apart.with_columns(
        pl.when(place < 6).then(pl.lit("cardiology")).otherwise(pl.lit("surgery")).alias("specialty")
    )
    assert rating_table(everyone).case_columns == ("specialty",)


@pytest.mark.parametrize(
    ("name", "value", "listed"),
    [
        ("ethnicity_code", lambda place: place % 3, True),
        ("ethnicity_code", lambda place: "AB"[place % 2], True),
        ("triage", lambda place: ("red", "", "green", None)[place % 4], True),
        ("age", lambda place: 20 + 3 * place, True),
        ("age", lambda place: str(20.5 + place), True),
        ("emergency", lambda place: place % 2 == 0, True),
        ("specialty", lambda place: f"specialty {place}", True),  # a usual name is nobody's id
        ("ward", lambda place: f"ward {place}", False),  # another for each case
        ("triage", lambda place: ("red", "")[place % 2], False),  # one value
        ("encounter_id", lambda place: place % 3, False),
        ("caseId", lambda place: place, False),
        ("patient_name", lambda place: ("Ann", "Bob")[place % 2], False),
        ("author", lambda place: ("Ann", "Bob")[place % 2], False),
        ("seen", lambda place: ("2026-01-02", "03.04.2026")[place % 2], False),
        ("date", lambda place: ("2026-01-02", "2026-02-02")[place % 2], False),
        ("story", lambda place: ("a long tale " * 9, "another one " * 9)[place % 2], False),
        ("seniority", lambda place: ("resident", "attending")[place % 2], False),
        ("explanation", lambda place: ("good", "bad")[place % 2], False),
        ("seconds", lambda place: place % 3, False),
    ],
)
def test_ids_dates_texts_and_what_is_said_of_ratings_are_left_out(
    name: str, value: Any, listed: bool
) -> None:
    table = rating_table(rows(**{name: lambda place, _: value(place)}))
    assert table.case_columns == ((name,) if listed else ())
    assert not table.warnings


def test_a_second_score_differs_between_raters_and_is_not_a_part_nor_worth_a_warning() -> None:
    table = rating_table(rows(confidence=lambda place, rater: (place + len(rater)) % 3))
    assert table.case_columns == ()
    assert not table.warnings


def test_the_same_number_written_in_two_ways_is_one_value() -> None:
    table = rating_table(rows(age=lambda place, rater: f"{30 + place}" + (".0" if rater == "gpt" else "")))
    assert table.case_columns == ("age",)


def test_a_name_that_the_rules_ask_for_counts_whatever_it_looks_like() -> None:
    table = rating_table(rows(bed_number=lambda place, _: f"bed {place}"))
    assert table.case_columns == ()
    asked = with_rules(table, GateRules(parts=("bed_number",)))
    assert asked.case_columns == ("bed_number",)


def test_groups_in_a_wide_table_are_kept_under_any_name(tmp_path: Path) -> None:
    """An earlier version kept those with a usual name alone."""
    humans, judges = tmp_path / "humans.csv", tmp_path / "judges.csv"
    places = range(12)
    pl.DataFrame(
        {
            "item": [f"c{place}" for place in places],
            "anna": [1 + place % 5 for place in places],
            "ben": [1 + (place + 1) % 5 for place in places],
            "ethnicity_code": ["AB"[place % 2] for place in places],
            "note": [f"remark {place}" for place in places],
        }
    ).write_csv(humans)
    pl.DataFrame(
        {"item": [f"c{place}" for place in places], "gpt": [1 + place % 5 for place in places]}
    ).write_csv(judges)
    table = two_panels(humans, judges, scale=(1, 5))
    assert table.case_columns == ("ethnicity_code",)
    assert any("kept as what tells cases apart: ethnicity_code" in each for each in table.notes)
    assert any("not read as scores: note" in each for each in table.notes)
