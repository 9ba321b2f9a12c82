"""One row, one case: what is accepted, what is refused, and that nothing clinical enters a message."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake import FileError, mapping_in
from medjury.intake.cases import Case, Note, case_from_row, read_cases
from medjury.store.ratings import read_ratings


def problems(row: dict[str, object], mapping: dict[str, object] | None = None) -> list[str]:
    with pytest.raises(FileError) as error:
        case_from_row(row, mapping=mapping)
    return [f"{each.field}: {each.problem}" for each in error.value.problems]


def test_a_row_with_the_fields_of_a_case_is_that_case() -> None:
    row = {
        "id": "1",
        "candidate": "Summary.",
        "reference": "Gold.",
        "system": "scribe-a",
        "vendor": "A",
        "patient": "P1",
        "texts": {"question": "Why?"},
        "notes": [{"id": "N1", "text": "Note.", "date": "2024-01-02", "kind": "ward"}],
        "metadata": {"specialty": "cardiology", "age": 54, "synthetic": True, "score": 1.5},
    }
    assert case_from_row(row) == Case(
        id="1",
        candidate="Summary.",
        reference="Gold.",
        system="scribe-a",
        vendor="A",
        patient="P1",
        texts={"question": "Why?"},
        notes=(Note("N1", "Note.", "2024-01-02", "ward"),),
        metadata={"specialty": "cardiology", "age": 54, "synthetic": True, "score": 1.5},
    )


def test_other_columns_become_texts_and_facts() -> None:
    case = case_from_row(
        {"id": 7, "question": "Why?", "age": "54", "sex": "f", "beds": 3, "texts.plan": "Rest."}
    )
    assert dict(case.texts) == {"question": "Why?", "plan": "Rest."}
    assert dict(case.metadata) == {"age": "54", "sex": "f", "beds": 3}
    assert case.input("question") == "Why?"
    assert case.input("age") == "54"


@pytest.mark.parametrize(("given_id", "expected"), [("a", "a"), (" a ", "a"), (12, "12"), (12.0, "12")])
def test_an_id_is_text_or_a_whole_number(given_id: object, expected: str) -> None:
    assert case_from_row({"id": given_id}).id == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, ["id: is empty; every case needs one"]),
        ({"id": "  "}, ["id: is empty; every case needs one"]),
        ({"id": True}, ["id: is TRUE, not an id: format the column as text and enter it again"]),
        ({"id": 1.5}, ["id: is a number, not text"]),
        ({"id": ["a"]}, ["id: is a list, not text"]),
        ({"id": "a\nb"}, ["id: holds a line break or a tab"]),
        ({"id": "a" * 501}, ["id: is longer than 500 characters"]),
        ({"id": "a", "candidate": 4}, ["candidate: is a number, not text"]),
        ({"id": "a", "candidate": {"text": "x"}}, ["candidate: is an object, not text"]),
        ({"id": "a", "reference": datetime.date(2024, 1, 2)}, ["reference: is a date, not text"]),
        ({"id": "a", "candidate": b"x"}, ["candidate: is binary data, not text"]),
        ({"id": "a", "candidate": "x\x00y"}, ["candidate: holds a NUL character; remove it"]),
        (
            {"id": "a", "candidate": "x\udcffy"},
            [
                "candidate: is not valid UTF-8; save the file as UTF-8, or name its encoding in the mapping "
                "(encoding: cp1252)"
            ],
        ),
        (
            {"id": "a", "candidate": "x\ud800y"},
            ["candidate: holds half of a surrogate pair, which is not a character; remove it"],
        ),
        ({"id": "a", "texts": "x"}, ["texts: is not an object of named values"]),
        ({"id": "a", "notes": 3}, ["notes: is a number, not a list of notes or a text"]),
        (
            {"id": "a", "notes": [{"text": "x", "author": "y"}]},
            ["notes[1]: has a field other than id, text, date and kind"],
        ),
        ({"id": "a", "notes": [{"id": "1"}]}, ["notes[1].text: is empty"]),
        ({"id": "a", "notes": ["x", 4]}, ["notes[2].text: is a number, not text"]),
        ({"id": "a", "metadata": {"x": float("inf")}}, ["x: is not a finite number; leave it empty"]),
        ({"id": "a", "x": [1]}, ["x: is a list, not a single value; name the columns you need in a mapping"]),
        (
            {"id": "", "candidate": 4, "system": 1.5},
            [
                "id: is empty; every case needs one",
                "candidate: is a number, not text",
                "system: is a number, not text",
            ],
        ),
    ],
)
def test_every_problem_of_a_row_is_told(row: dict[str, object], expected: list[str]) -> None:
    assert problems(row) == expected


def test_two_notes_with_one_id_are_refused() -> None:
    row = {"id": "a", "notes": [{"id": "1", "text": "x"}, {"id": "1", "text": "y"}]}
    assert problems(row) == ["notes: two notes have the same id; citations could not be told apart"]


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ("One note.", (Note("1", "One note."),)),
        (["One.", "Two."], (Note("1", "One."), Note("2", "Two."))),
        ('["One.", {"id": "b", "text": "Two."}]', (Note("1", "One."), Note("b", "Two."))),
        ("[not JSON", (Note("1", "[not JSON"),)),
        ("[1, 2]", (Note("1", "[1, 2]"),)),
        ({"id": "x", "text": "One."}, (Note("x", "One."),)),
        (["One.", None, ""], (Note("1", "One."),)),
        ("", ()),
        (None, ()),
        ([{"text": "One.", "date": datetime.date(2024, 1, 2)}], (Note("1", "One.", "2024-01-02"),)),
    ],
)
def test_notes_come_in_several_forms(notes: object, expected: tuple[Note, ...]) -> None:
    assert case_from_row({"id": "a", "notes": notes}).notes == expected


def test_long_and_right_to_left_texts_are_kept_to_the_letter() -> None:
    long = "كان المريض ‏بخير $HOME {braces} \u202e 😀\r\n" * 6_000
    assert len(long) > 200_000
    assert case_from_row({"id": "مريض ١", "candidate": long}).candidate == long


def test_numbers_from_tables_are_kept_as_facts() -> None:
    case = case_from_row({"id": "a", "x": Decimal("1.5"), "y": float("nan"), "z": datetime.date(2024, 1, 2)})
    assert dict(case.metadata) == {"x": 1.5, "z": "2024-01-02"}


class TestMapping:
    def test_a_hospitals_own_columns_are_named(self) -> None:
        row = {"pid": 9, "ai_summary": "S.", "gold": "G.", "q": "Q?", "ward": "B2", "mrn": "123", "age": 4}
        mapping = {
            "id": "pid",
            "candidate": "ai_summary",
            "reference": "gold",
            "texts": {"question": "q"},
            "metadata": {"location": "ward"},
            "constants": {"system": "scribe-a", "site": "north"},
        }
        case = case_from_row(row, mapping=mapping)
        assert (case.id, case.candidate, case.reference, case.system) == ("9", "S.", "G.", "scribe-a")
        assert dict(case.texts) == {"question": "Q?"}
        assert dict(case.metadata) == {"age": 4, "location": "B2", "site": "north"}

    def test_columns_that_are_not_named_are_left_out(self) -> None:
        case = case_from_row({"id": 1, "text": "S.", "mrn": "123", "count": 4}, mapping={"candidate": "text"})
        assert (dict(case.texts), dict(case.metadata)) == ({}, {})

    def test_several_columns_are_several_notes(self) -> None:
        row = {"id": 1, "admission": "A.", "progress": "", "discharge": "D."}
        mapping = {"notes": ["admission", "progress", "discharge"]}
        assert case_from_row(row, mapping=mapping).notes == (Note("admission", "A."), Note("discharge", "D."))

    def test_every_mistake_is_told_at_once(self) -> None:
        mapping = {
            "candidat": "x",
            "id": 3,
            "texts": ["q"],
            "notes": [],
            "constants": {"system": ["a"]},
            "sheet": 2,
            "fhir": {"candidates": "x"},
        }
        with pytest.raises(FileError) as error:
            case_from_row({"id": 1}, mapping=mapping)
        for part in (
            "mapping: candidat: no such setting here",
            "(did you mean 'candidate'?)",
            "id: must be text",
            "texts: must map names to columns",
            "notes: must be the name of a column, or a list",
            "system: must be a single value",
            "sheet: must be text",
            "candidates: no such setting here",
        ):
            assert part in str(error.value)


@given(
    st.dictionaries(
        st.sampled_from(["id", "candidate", "reference", "notes", "texts", "metadata", "system", "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=6,
        ),
    )
)
def test_any_row_is_a_case_or_an_error_for_the_reader(row: dict[str, object]) -> None:
    try:
        case = case_from_row(row)
    except FileError as error:
        assert error.problems
    else:
        assert case.id == case.id.strip() != ""
        case.fingerprint().encode()


@given(st.text("abcdefgh ñש", min_size=8))
def test_no_message_holds_any_of_the_text(secret: str) -> None:
    def message(word: str) -> str:
        notes = [{"text": {"x": word}}, {"id": word, "text": 1}]
        with pytest.raises(FileError) as error:
            case_from_row({"id": "", "candidate": f"{word}\x00", "notes": notes})
        return str(error.value)

    assert message(secret) == message("x")


def test_a_mapping_is_given_in_place_or_in_a_file_and_ratings_use_the_same_words(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("pid;text;doctor;grade\n7;Cough.;Ada;4\n", encoding="utf-8")
    columns = {"item": "pid", "candidate": "text", "fixed": {"system": "a"}, "delimiter": ";"}
    (tmp_path / "m.yaml").write_text(json.dumps(columns), encoding="utf-8")
    found = [list(read_cases(table, mapping=each)) for each in (columns, mapping_in(tmp_path, "m.yaml"))]
    assert found[0] == found[1] == [Case("7", "Cough.", system="a")]
    graded = {
        "id": "pid",
        "rater": "doctor",
        "dimensions": {"accuracy": "grade"},
        "constants": {"system": "a"},
    }
    (tmp_path / "r.yaml").write_text(json.dumps(graded), encoding="utf-8")
    for each in (graded, mapping_in(tmp_path, "r.yaml")):
        (rating,) = read_ratings(table, mapping=each).ratings
        assert (rating.item, rating.system, rating.rater, rating.score) == ("7", "a", "Ada", 4)
