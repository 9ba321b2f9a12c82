"""REDCap exports: a form that nobody filled in is no rating, and one record is one item."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.readable import reads

from medjury.intake import FileError
from medjury.store.ratings import ImportedRatings, read_ratings

CHECKBOXES = """\
record_id,reviewer,q_acc,missed___1,missed___2,review_complete
17,ALEE,4,0,1,2
18,SROY,,0,0,0
19,SROY,,0,0,
20,SROY,,0,0,2
21,SROY,3,0,0,0
"""
CHECKBOX_MAPPING = """\
item: record_id
rater: reviewer
dimensions: {accuracy: q_acc, allergies: missed___1, doses: missed___2}
scale: [0, 5]
"""


def read(folder: Path, table: str, mapping: str, **settings: str) -> ImportedRatings:
    (folder / "redcap.csv").write_text(table, encoding="utf-8")
    (folder / "redcap.yaml").write_text(mapping, encoding="utf-8")
    return read_ratings(folder / "redcap.csv", mapping=folder / "redcap.yaml", **settings)  # type: ignore[arg-type]


def scores(found: ImportedRatings) -> dict[tuple[str, str, str], float | None]:
    return {(each.item, each.rater, each.dimension): each.score for each in found.ratings}


@reads(
    "Ratings",
    "REDCap export",
    ".csv",
    "codes or labels; checkboxes of forms that nobody started are not rated",
    "a mapped column that is empty in every row; unticked checkboxes alone where a form's status is not exported",
    described="importing-ratings.md#a-redcap-export",
)
def test_checkbox_zeros_of_a_form_that_was_not_started_are_no_scores(tmp_path: Path) -> None:
    found = read(tmp_path, CHECKBOXES, CHECKBOX_MAPPING)
    assert scores(found) == {
        ("17", "ALEE", "accuracy"): 4, ("17", "ALEE", "allergies"): 0, ("17", "ALEE", "doses"): 1,
        ("20", "SROY", "allergies"): 0, ("20", "SROY", "doses"): 0,
        ("21", "SROY", "accuracy"): 3, ("21", "SROY", "allergies"): 0, ("21", "SROY", "doses"): 0,
    }  # fmt: skip
    assert found.report.not_started == 4
    assert "checkboxes of REDCap forms that were not started, not rated: 4" in found.report.text()
    assert "1 row has scores on a form that is marked as incomplete" in found.report.text()


def test_labels_of_an_export_are_guarded_as_its_codes_are(tmp_path: Path) -> None:
    table = "record_id,reviewer,missed___1,review_complete\n1,ALEE,Checked,Complete\n2,SROY,Unchecked,Incomplete\n"
    mapping = "item: record_id\nrater: reviewer\ndimensions: {allergies: missed___1}\nscale: [0, 1]\n"
    found = read(tmp_path, table, mapping + "labels: {Checked: 1, Unchecked: 0}\n")
    assert scores(found) == {("1", "ALEE", "allergies"): 1}


def test_a_form_is_guarded_by_its_own_status(tmp_path: Path) -> None:
    table = "record_id,who,first___1,first_complete,second___1,second_complete\n17,ALEE,0,2,0,0\n18,ALEE,0,2,0,2\n"
    mapping = (
        "item: record_id\nrater: who\ndimensions: {first: first___1, second: second___1}\nscale: [0, 1]\n"
    )
    assert scores(read(tmp_path, table, mapping)) == {
        ("17", "ALEE", "first"): 0, ("18", "ALEE", "first"): 0, ("18", "ALEE", "second"): 0,
    }  # fmt: skip


def test_the_guard_can_be_taken_off(tmp_path: Path) -> None:
    found = read(tmp_path, CHECKBOXES, CHECKBOX_MAPPING + "forms: all\n")
    assert len(found.ratings) == 12
    assert found.report.not_started == 0


REPEATED = """\
record_id,redcap_repeat_instrument,redcap_repeat_instance,case_code,vendor,reviewer,q_acc
17,,,case-a,scribe,,
17,review,1,,,ALEE,4
17,review,2,,,SROY,3
18,,,case-b,scribe,,
18,review,1,,,ALEE,2
"""


@reads(
    "Ratings",
    "REDCap, repeating forms and events",
    ".csv",
    "values of the base row are filled down, and counted",
    "two different values on two base rows",
    described="importing-ratings.md#a-redcap-export",
)
def test_a_value_on_the_base_row_holds_for_the_rows_below(tmp_path: Path) -> None:
    mapping = (
        "item: case_code\nsystem: vendor\nrater: reviewer\ndimensions: {accuracy: q_acc}\nscale: [1, 5]\n"
    )
    found = read(tmp_path, REPEATED, mapping)
    assert [(each.item, each.system, each.rater, each.score) for each in found.ratings] == [
        ("case-a", "scribe", "ALEE", 4), ("case-a", "scribe", "SROY", 3), ("case-b", "scribe", "ALEE", 2),
    ]  # fmt: skip
    assert "filled down from a row above: case_code (3), vendor (3)" in found.report.text()


def test_a_value_that_a_row_should_have_itself_is_not_filled_down(tmp_path: Path) -> None:
    table = "record_id,redcap_repeat_instance,reviewer,q_acc\n17,,BASE,\n17,1,ALEE,4\n17,2,,3\n"
    with pytest.raises(FileError, match="row 4, column 'rater': has a rating, but no rater"):
        read(
            tmp_path,
            table,
            "item: record_id\nrater: reviewer\ndimensions: {accuracy: q_acc}\nscale: [1, 5]\n",
        )


def test_two_values_on_two_events_are_not_chosen_between(tmp_path: Path) -> None:
    table = "record_id,redcap_event_name,vendor,reviewer,q_acc\n17,one,alpha,,\n17,two,beta,,\n17,review,,ALEE,4\n"
    with pytest.raises(FileError, match="row 4, column 'vendor': is empty, and record '17' has 'alpha' and"):
        read(tmp_path, table, "item: record_id\nsystem: vendor\nrater: reviewer\n"
                              "dimensions: {accuracy: q_acc}\nscale: [1, 5]\n")  # fmt: skip


TWICE = "item: record_id\nrater: reviewer\ndimensions: {accuracy: q_acc}\nscale: [1, 5]\n"


@reads(
    "Ratings",
    "REDCap, double data entry",
    ".csv",
    "`17--1` and `17--2` are the record 17",
    "two entries that differ, without a merged record",
    described="importing-ratings.md#a-redcap-export",
)
def test_double_data_entry_is_one_item(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,review_complete\n17--1,ALEE,4,2\n17--2,ALEE,4,2\n"
    found = read(tmp_path, table, TWICE)
    assert scores(found) == {("17", "ALEE", "accuracy"): 4}
    assert found.report.duplicates == 1


def test_double_data_entry_that_differs_is_refused(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,review_complete\n17--1,ALEE,4,2\n17--2,ALEE,5,2\n"
    with pytest.raises(
        FileError, match="row 3, column 'q_acc': '5' is rated a second time, with a different score than in"
    ):
        read(tmp_path, table, TWICE)


def test_the_merged_record_counts_where_there_is_one(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,review_complete\n17,ALEE,5,2\n17--1,ALEE,4,2\n17--2,ALEE,5,2\n8--1,ALEE,2,2\n"
    found = read(tmp_path, table, TWICE)
    assert scores(found) == {("17", "ALEE", "accuracy"): 5, ("8", "ALEE", "accuracy"): 2}
    assert "rows of double data entry that a merged record replaces, left out: 2" in found.report.text()


def test_such_an_id_elsewhere_stays_as_it_is(tmp_path: Path) -> None:
    found = read(tmp_path, "record_id,reviewer,q_acc\n17--1,ALEE,4\n", TWICE)
    assert scores(found) == {("17--1", "ALEE", "accuracy"): 4}


@reads(
    "Ratings",
    "decimal commas",
    ".csv, .xlsx",
    '4,5 as 4.5 with `decimal: ","`',
    "4,5 without it; 4.5 with it",
    described="importing-ratings.md#a-redcap-export",
)
def test_decimal_commas_are_read_where_the_mapping_says_so(tmp_path: Path) -> None:
    table = "record_id;reviewer;q_acc;took\n17;ALEE;4,5;12,5\n18;ALEE;3;8\n"
    mapping = (
        "item: record_id\nrater: reviewer\nseconds: took\ndimensions: {accuracy: q_acc}\n"
        'scale: {from: 1, to: 5}\ndecimal: ","\n'
    )
    found = read(tmp_path, table, mapping)
    assert [(each.score, each.seconds) for each in found.ratings] == [(4.5, 12.5), (3, 8)]


def test_a_decimal_comma_elsewhere_is_refused_with_its_cure(tmp_path: Path) -> None:
    table = "record_id;reviewer;q_acc\n17;ALEE;4,5\n"
    mapping = "item: record_id\nrater: reviewer\ndimensions: {accuracy: q_acc}\nscale: {from: 1, to: 5}\n"
    with pytest.raises(FileError, match=r"row 2, column 'q_acc': '4,5' is not a number.*decimal"):
        read(tmp_path, table, mapping)


def test_a_point_is_no_decimal_sign_where_the_comma_is(tmp_path: Path) -> None:
    table = "record_id;reviewer;q_acc\n17;ALEE;4.500\n"
    mapping = TWICE.replace("[1, 5]", "{from: 1, to: 5}") + 'decimal: ","\n'
    with pytest.raises(FileError, match=r"'4\.500' is not a number"):
        read(tmp_path, table, mapping)


def test_a_mapped_column_that_is_blank_in_every_row_is_refused(tmp_path: Path) -> None:
    table = "record_id,reviewer,vendor,q_acc,q_clear\n17,ALEE,,4,\n18,ALEE,,5,\n"
    start = "item: record_id\nrater: reviewer\nscale: [1, 5]\n"
    with pytest.raises(
        FileError, match=r"redcap.csv: the column 'q_clear' \(clarity\) is empty in all 2 rows"
    ):
        read(tmp_path, table, start + "dimensions: {accuracy: q_acc, clarity: q_clear}\n")
    with pytest.raises(FileError, match=r"redcap.csv: the column 'vendor' \(system\) is empty in all 2 rows"):
        read(tmp_path, table, start + "system: vendor\ndimensions: {accuracy: q_acc}\n")


def test_an_empty_column_of_remarks_is_told_and_not_refused(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,why\n17,ALEE,4,\n"
    found = read(tmp_path, table, "item: record_id\nrater: reviewer\nscale: [1, 5]\nexplanation: {accuracy: why}\n"
                                  "dimensions: {accuracy: q_acc}\n")  # fmt: skip
    assert any(
        "the column 'why' (explanation) is empty in all 1 rows" in each for each in found.report.warnings
    )


def test_double_data_entry_is_told(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,review_complete\n17--1,ALEE,4,2\n17--2,ALEE,4,2\n"
    assert (
        "2 rows of double data entry are read as their record (17--1 as 17)"
        in read(tmp_path, table, TWICE).report.text()
    )


def test_a_column_that_only_sounds_like_a_status_makes_no_double_entry(tmp_path: Path) -> None:
    table = "record_id,reviewer,q_acc,how_complete\n17--1,ALEE,4,mostly\n17--2,ALEE,4,fully\n"
    found = read(tmp_path, table, TWICE)
    assert scores(found) == {("17--1", "ALEE", "accuracy"): 4, ("17--2", "ALEE", "accuracy"): 4}


def test_a_merged_record_replaces_the_rows_of_its_own_event_alone(tmp_path: Path) -> None:
    (tmp_path / "dd.csv").write_text(
        "record_id,redcap_event_name,rater,accuracy,r_complete\n17--1,a,ann,4,2\n17--2,a,ann,4,2\n17,a,ann,4,2\n"
        "17--1,b,ann,2,2\n17--2,b,ann,2,2\n"
    )
    mapping = {
        "item": "record_id",
        "rater": "rater",
        "system": "redcap_event_name",
        "dimensions": ["accuracy"],
    }
    found = read_ratings(tmp_path / "dd.csv", mapping=mapping)
    assert sorted((each.system, each.score) for each in found.ratings) == [("a", 4.0), ("b", 2.0)]


BARE = "record_id,reviewer,q_acc,missed___1,missed___2\n17,ALEE,4,0,1\n18,SROY,,0,0\n19,SROY,3,0,0\n"


def test_checkboxes_of_a_form_whose_status_is_not_exported_are_not_taken_for_answers(tmp_path: Path) -> None:
    with pytest.raises(FileError) as refused:
        read(tmp_path, BARE, CHECKBOX_MAPPING)
    told = "redcap.csv, row 3, column 'missed___1': no checkbox is ticked and nothing else is answered"
    assert told in str(refused.value)
    assert "export the form's status too (FORM_complete), or say `forms: all`" in str(refused.value)
    with pytest.raises(FileError, match="was this form filled in"):
        read(tmp_path, BARE, CHECKBOX_MAPPING, on_bad="unscored")
    found = read(tmp_path, BARE, CHECKBOX_MAPPING + "forms: all\n")
    assert scores(found)["18", "SROY", "doses"] == 0 and len(found.ratings) == 8


def test_checkboxes_beside_an_answer_are_answers_without_a_status_too(tmp_path: Path) -> None:
    found = read(tmp_path, BARE.replace("18,SROY,,0,0\n", ""), CHECKBOX_MAPPING)
    assert scores(found)["19", "SROY", "doses"] == 0 and len(found.ratings) == 6
