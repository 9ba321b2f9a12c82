"""What a draft is written from: the most recent long notes, the specialty's first, and the most recent values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake.cases import Case, Note
from medjury.judging import SelectionRules
from medjury.judging._draft_sources import select_sources

LONG = "Long enough. " * 300  # 3,900 characters


def note(name: str, date: str | None, kind: str | None = None, text: str = LONG) -> Note:
    return Note(name, text, date, kind)


def ids(case: Case, rules: SelectionRules | None = None, **options: object) -> list[str]:
    return [each.id for each in select_sources(case, rules or SelectionRules(), **options).notes]  # type: ignore[arg-type]


def labs(*rows: dict[str, object]) -> Case:
    return Case("1", texts={"labs": "\n".join(json.dumps(row) for row in rows)})


def test_the_three_newest_long_notes_are_given() -> None:
    case = Case("1", notes=(
        note("old", "2024-01-01"), note("newest", "2025-03-01T09:30:00Z"),
        note("short", "2025-04-01", text="Seen."), note("second", "2025/02/01"), note("third", "2025-01"),
    ))  # fmt: skip
    assert ids(case) == ["newest", "second", "third"]
    counts = select_sources(case, SelectionRules()).counts
    assert counts["notes"] == 5 and counts["notes_too_short"] == 1 and counts["notes_given"] == 3


def test_exactly_the_minimum_is_not_more_than_the_minimum() -> None:
    case = Case(
        "1", notes=(note("at", "2025-01-01", text="x" * 3500), note("above", "2024-01-01", text="x" * 3501))
    )
    assert ids(case) == ["above"]


def test_the_consulted_specialty_comes_first_whatever_its_case() -> None:
    case = Case("1", notes=(
        note("a", "2025-05-01", "Cardiology"), note("b", "2025-04-01", "cardiology progress note"),
        note("c", "2020-01-01", "HEMATOLOGY-Progress Note"), note("d", "2025-03-01"),
    ))  # fmt: skip
    assert ids(case, specialty="Hematology") == ["c", "a", "b"]
    assert ids(case, specialty=None) == ["a", "b", "d"]
    assert ids(case, SelectionRules(specialty_first=False), specialty="Hematology") == ["a", "b", "d"]
    assert (
        select_sources(case, SelectionRules(), specialty="hematology").counts["notes_of_specialty_given"] == 1
    )


def test_equal_dates_go_by_id_and_missing_or_unreadable_dates_last_and_counted() -> None:
    case = Case("1", notes=(
        note("z", "2025-01-01"), note("b", None), note("a", "2025-01-01"), note("c", "03/04/2025"),
    ))  # fmt: skip
    assert ids(case, SelectionRules(notes=4)) == ["a", "z", "b", "c"]
    chosen = select_sources(case, SelectionRules(notes=4))
    assert chosen.counts["notes_without_date"] == 1 and chosen.unreadable_dates == ("c",)


def test_nothing_later_than_the_question_is_given() -> None:
    case = Case("1", notes=(
        note("before", "2025-01-01"), note("after", "2025-03-01"), note("ancient", "2019-01-01"),
        note("undated", None),
    ))  # fmt: skip
    moment = "2025-02-01"
    assert ids(case, as_of=moment) == ["before", "ancient"]
    assert ids(case, SelectionRules(max_age_days=365), as_of=moment) == ["before"]
    assert select_sources(case, SelectionRules(), as_of=moment).counts["notes_out_of_time"] == 2


def test_the_twenty_newest_values_are_given_newest_first() -> None:
    rows = [{"name": f"K {day:02}", "value": 4 + day / 100, "unit": "mmol/L", "date": f"2025-01-{day:02}"}
            for day in range(1, 29)]  # fmt: skip
    chosen = select_sources(labs(*rows, {"name": "Na", "value": "<1"}), SelectionRules())
    assert (
        len(chosen.labs) == 20
        and chosen.labs[0].date == "2025-01-28"
        and chosen.labs[-1].date == "2025-01-09"
    )
    assert chosen.counts["labs"] == 29 and chosen.counts["labs_without_readable_date"] == 1
    assert chosen.labs[0].line() == "2025-01-28 K 28 4.28 mmol/L"


def test_rows_that_are_no_values_are_counted_and_free_text_is_given_whole() -> None:
    chosen = select_sources(
        labs({"name": "Hb", "value": 9}, {"value": 3}, {"name": "x", "value": [1]}), SelectionRules()
    )
    assert [lab.name for lab in chosen.labs] == ["Hb"] and chosen.counts["labs_unreadable"] == 2
    text = "Hb 9.1, falling"
    assert select_sources(Case("1", texts={"labs": text}), SelectionRules()).labs_text == text
    assert select_sources(Case("1", texts={"labs": text}), SelectionRules(labs=0)).labs_text == ""


NOTES = [note(str(place), date) for place, date in enumerate(
    ["2025-01-01", "2025-01-01", None, "soon", "2024-12-31", "2025-01-02T10:00:00+02:00"]
)]  # fmt: skip


@given(st.permutations(NOTES))
def test_the_order_of_the_file_does_not_matter(notes: list[Note]) -> None:
    assert ids(Case("1", notes=tuple(notes)), SelectionRules(notes=6)) == ["5", "0", "1", "4", "2", "3"]


@pytest.mark.parametrize(
    ("written", "as_of", "given"),
    [
        ("2025-03-04", "2025-03-04", True),  # the very day, and neither says more
        ("2025-03-04T08:00", "2025-03-04", False),
        ("2025-03-04", "2025-03-04T09:00", False),  # it may be from the afternoon: the answer itself
        ("2025-03-03", "2025-03-04T09:00", True),
        ("2025-03", "2025-03-20", False),  # of that month, perhaps of its last day
        ("2025-02", "2025-03-01", True),
        ("2025", "2025-06-01", False),
        ("2025-W10", "2025-03-05", False),
        ("2025-03-04T10:00", "2025-03-04T08:00-05:00", False),  # on the clock of the question it is later
        ("2025-03-04T07:59", "2025-03-04T08:00-05:00", True),
        ("2025-03-03T20:00-05:00", "2025-03-04", True),
        ("2025-03-04T08:00:00Z", "2025-03-04T09:30+02:00", False),
        ("0001-01-01T00:00+14:00", "2025-03-04", True),
        ("9999-12-31", "2025-03-04", False),
    ],
)
def test_what_cannot_be_shown_to_be_earlier_is_not_given(written: str, as_of: str, given: bool) -> None:
    assert ids(Case("1", notes=(note("n", written),)), as_of=as_of) == (["n"] if given else [])
    chosen = select_sources(labs({"name": "K", "value": 5, "date": written}), SelectionRules(), as_of=as_of)
    assert len(chosen.labs) == given and chosen.counts["labs_out_of_time"] == (not given)


def test_an_age_counts_back_from_the_question_whatever_the_zones() -> None:
    case = Case("1", notes=(note("in", "2025-03-01T00:00:00Z"), note("out", "2025-02-27")))
    assert ids(case, SelectionRules(max_age_days=3), as_of="2025-03-04") == ["in"]


def test_values_in_free_text_have_no_dates_and_are_not_given_as_of_a_day() -> None:
    case = Case("1", texts={"labs": "Ferritin 8 on the day after"})
    chosen = select_sources(case, SelectionRules(), as_of="2025-03-04")
    assert chosen.labs_text == "" and chosen.counts["labs_text_out_of_time"] == 1


def test_codes_beside_a_value_do_not_make_it_unreadable() -> None:
    chosen = select_sources(
        labs({"name": "K", "value": 5, "loinc": "2823-3", "tags": ["a"]}), SelectionRules()
    )
    assert [lab.name for lab in chosen.labs] == ["K"] and chosen.counts["labs_unreadable"] == 0
