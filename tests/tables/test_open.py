"""Ratings from anywhere are one table: a folder, a file of any kind, a mapping, a frame, objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.agreement.rating_rows import long_table
from tests.ratings.samples import rating, unscored
from tests.tables.run_folders import rows_of, run_folder

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import Case
from medjury.statistics import RESAMPLES
from medjury.store.ratings import write_ratings
from medjury.store.runs import ReportSettings
from medjury.tables import RatingTable, open_run, rating_table

SCORES = {"anna": [1.0, 2.0, 3.0, None], "judge": [1.0, 3.0, 3.0, 4.0]}
KEY = ["item", "rater", "dimension"]


def same(found: RatingTable, expected: RatingTable) -> None:
    shared = [*KEY, "system", "score", "status", "repeat", "cluster"]
    assert_frame_equal(found.rows.select(shared).sort(KEY), expected.rows.select(shared).sort(KEY))
    assert set(found.raters) == set(expected.raters)


def excel(frame: pl.DataFrame, file: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (frame.columns, *frame.iter_rows()):
        book.active.append(list(row))
    book.save(file)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, file: frame.write_csv(file),
    "tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    "parquet": lambda frame, file: frame.write_parquet(file),
    "jsonl": lambda frame, file: frame.write_ndjson(file),
    "ndjson": lambda frame, file: frame.write_ndjson(file),
    "xlsx": excel,
}


@pytest.mark.parametrize("kind", list(WRITERS))
def test_every_kind_of_file_gives_the_table_of_the_frame(kind: str, tmp_path: Path) -> None:
    # An empty cell of a spreadsheet is no rating: the import of ratings reads it, and counts it as not rated.
    frame = long_table(SCORES).filter(pl.col("score").is_not_null() | (kind != "xlsx"))
    file = tmp_path / f"ratings.{kind}"
    WRITERS[kind](frame, file)
    for place in (file, str(file)):
        same(rating_table(place), rating_table(frame))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_what_we_wrote_ourselves_is_read_back(kind: str, tmp_path: Path) -> None:
    ratings = [
        rating(item="=1", key="k1"),
        rating(rater="anna", rater_kind="clinician", score=2.0, key="k2"),
        unscored(item="case-2", key="k3"),
    ]
    write_ratings(ratings, tmp_path / f"ratings.{kind}")
    read = rating_table(tmp_path / f"ratings.{kind}")
    same(read, rating_table(ratings))
    assert read.raters == {"anna": "clinician", "judge-a": "judge"}
    assert read.dimension("accuracy").grades == rating_table(ratings).dimension("accuracy").grades


def test_a_mapping_describes_other_files(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("case,quality (anna),quality (judge)\n1,1,2\n2,3,3\n", "utf-8")
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("item: case\ncolumns: '{dimension} ({rater})'\nfiles:\n  - file: wide.csv\n", "utf-8")
    found = rating_table(mapping)
    same(found, rating_table(long_table({"anna": [1, 3], "judge": [2, 3]}, items=["1", "2"])))
    assert found.notes


def test_rating_objects_keep_what_else_they_say() -> None:
    table = rating_table([rating(explanation="because"), unscored(key="k", item="case-2")])
    assert table.rows["explanation"].to_list() == ["because", ""]
    assert table.rows["seconds"].to_list() == [0.5, 0.5]
    assert table.unscored == {"judge-a": {"timeout": 1}}


@pytest.mark.parametrize("nonsense", [7, [1, 2], {"item": ["1"]}])
def test_what_is_no_ratings_is_refused(nonsense: object) -> None:
    with pytest.raises(MedjuryError, match="a list of dictionaries or of Rating objects"):
        rating_table(nonsense)


def test_a_place_where_nothing_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="there is no such file"):
        rating_table(tmp_path / "none.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MedjuryError, match=r"is it a run folder\?"):
        rating_table(tmp_path / "empty")


# Run folders


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six cases of four patients; the last two served development; one judge of three missed case 1."""
    votes = {
        "clinician 1": [1, 2, 3, 4, 5, 1],
        "clinician 2": [2, 2, 3, 5, 5, 1],
        "judge a": [1, None, 3, 4, 5, 1],
        "judge b": [2, 3, 3, 5, 5, 1],
        "judge c": [3, 5, 3, 3, 5, 1],
    }
    parts = [rows_of(votes, dimension=name) for name in ("accuracy", "risk")]
    turned = {rater: [None if s is None else 6 - s for s in scores] for rater, scores in votes.items()}
    parts += [rows_of(turned, dimension="safety"), rows_of(votes, dimension="overall")]
    return run_folder(
        tmp_path / "run",
        pl.concat(parts),
        patients={"case 0": "p1", "case 1": "p1", "case 4": "p1"},
        gate={"development_cases": ["case 4", "case 5"], "margin": 0.2, "severe_dimensions": ["risk"]},
        jury={"rule": "median", "quorum": 3, "name": "jury"},
        judges=[{"name": "judge a", "models": [{"vendor": "acme"}]}],
        report={"system_vendors": {"": "acme"}, "resamples": 500, "seed": 7},
    )


def test_a_run_folder_says_everything_itself(run: Path) -> None:
    table = rating_table(run)
    assert [each.name for each in table.dimensions] == ["accuracy", "risk", "safety", "overall"]
    assert [each.name for each in table.counted] == ["accuracy", "risk"]
    assert not table.dimension("risk").higher_is_better
    assert table.dimension("safety").grades == table.dimension("risk").grades
    assert table.dimension("overall").weights == {"accuracy": 0.5, "safety": 0.5}
    assert table.clinicians == ("clinician 1", "clinician 2")
    assert table.judges == ("judge a", "judge b", "judge c")
    assert table.run.folder == run
    assert table.run.manifest is not None
    assert table.run.manifest.run == "study@1"
    assert (table.rules.margin, table.rules.severe_dimensions) == (0.2, ("risk",))
    assert (table.resamples(None), table.resamples(50), table.seed(None), table.seed(3)) == (500, 50, 7, 3)
    assert dict(table.run.judge_vendors) == {"judge a": "acme"}
    assert dict(table.run.system_vendors) == {"": "acme"}


def test_cases_that_served_development_count_nowhere_but_are_not_lost(run: Path) -> None:
    table = rating_table(run)
    assert sorted(table.rows["item"].unique()) == ["case 0", "case 1", "case 2", "case 3"]
    assert sorted(table.development_rows["item"].unique()) == ["case 4", "case 5"]
    assert table.left_aside == 2
    assert table.everything.height == table.rows.height + table.development_rows.height
    assert table.grid("accuracy").items.tolist() == ["case 0", "case 1", "case 2", "case 3"]


def test_visits_of_one_patient_are_one_cluster(run: Path) -> None:
    grid = rating_table(run).grid("accuracy")
    assert grid.clusters.tolist() == ["patient p1", "patient p1", "item case 2", "item case 3"]
    assert rating_table(run).by_patient


def test_the_jury_of_a_run_is_formed_by_its_own_rule_and_quorum(run: Path) -> None:
    table = rating_table(run)
    roles = table.roles()
    assert roles.jurors == ("judge a", "judge b", "judge c")
    assert table.grid("accuracy", roles).scores["jury"].tolist()[2:] == [3, 4]
    votes = table.jury_votes("accuracy", roles)
    assert votes is not None
    assert votes[2] == {"no_quorum": 1}
    other = rating_table(run, jury="mean")
    assert other.grid("accuracy", other.roles()).scores["jury"] == pytest.approx(
        [2, np.nan, 3, 4], nan_ok=True
    )
    fewer = rating_table(run, jury="mean", quorum=2)
    assert fewer.grid("accuracy", fewer.roles()).scores["jury"].tolist() == [2, 4, 3, 4]
    assert rating_table(run, quorum=2).jury_rule.rule == "median"


def test_stored_rows_of_the_jury_are_taken_as_they_are(tmp_path: Path) -> None:
    votes = {"clinician 1": [1, 2], "judge a": [1, 2], "judge b": [1, 2], "jury": [5, 4]}
    table = rating_table(run_folder(tmp_path / "run", rows_of(votes)))
    roles = table.roles()
    assert (table.stored_jury, roles.jury, roles.jurors) == ("jury", "jury", ())
    assert table.grid("accuracy", roles).scores["jury"].tolist() == [5, 4]
    formed = rating_table(table, jury="mean")
    assert formed.grid("accuracy", formed.roles()).scores["jury"].tolist() == [1, 2]


def test_a_jury_by_another_name_is_found_by_its_kind(tmp_path: Path) -> None:
    frame = rows_of({"clinician 1": [1, 2], "judge a": [1, 2], "jury of three": [5, 4]})
    table = rating_table(run_folder(tmp_path / "run", frame, jury={"name": "the panel"}))
    assert table.stored_jury == "jury of three"


def test_patients_that_the_manifest_does_not_name_are_not_the_run_s(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", rows_of({"clinician 1": [1, 2]}))
    (folder / "patients.csv").write_text("item,patient\ncase 0,p\ncase 1,p\n", "utf-8")
    assert not rating_table(folder).by_patient


def test_a_dimension_of_development_cases_alone_has_no_units(tmp_path: Path) -> None:
    parts = [
        rows_of({"clinician 1": [1, 2], "judge a": [1, 2]}),
        rows_of({"clinician 1": [1], "judge a": [1]}, dimension="risk"),
    ]
    folder = run_folder(tmp_path / "run", pl.concat(parts), gate={"development_cases": ["case 0"]})
    table = rating_table(folder)
    assert len(table.grid("risk").items) == 0
    assert table.grid("risk").scores["judge a"].size == 0
    assert len(table.pooled(table.counted).items) == 1


def test_a_run_without_ratings_yet_is_an_empty_table(tmp_path: Path) -> None:
    table = rating_table(run_folder(tmp_path / "run", rows_of({"judge a": [1]})[:0]))
    assert (table.dimensions, table.raters, table.systems, table.left_aside) == ((), {}, (), 0)
    assert not table.by_patient
    assert table.unscored == {}
    assert table.resamples(None) == RESAMPLES


def test_settings_of_the_report_can_be_replaced(run: Path) -> None:
    assert open_run(run, resamples=200, seed=None).settings.resamples == 200
    assert open_run(run, resamples=200, seed=None).settings.seed == 7


def test_unfinished_and_broken_folders_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"manifest\.json is missing"):
        open_run(tmp_path)
    folder = run_folder(tmp_path / "run", rows_of({"judge a": [1]}))
    (folder / "ratings.parquet").write_bytes(b"not a table")
    with pytest.raises(MedjuryError, match="cannot be read"):
        rating_table(folder)
    (folder / "ratings.parquet").unlink()
    with pytest.raises(MedjuryError, match=r"ratings\.parquet is missing"):
        rating_table(folder)


def test_the_resamples_of_a_run_are_those_of_every_other_table() -> None:
    assert ReportSettings().resamples == RESAMPLES


# What the caller adds


def test_a_table_that_is_ready_stays_as_it_is() -> None:
    table = rating_table(long_table(SCORES), scale=(1, 5), repeats="median", jury="majority")
    again = rating_table(table)
    assert again is table
    assert (again.repeats, again.jury_rule.rule, again.jury_asked) == ("median", "majority", True)


def test_each_thing_can_be_changed_without_losing_the_others() -> None:
    table = rating_table(long_table(SCORES), scale=(1, 5), repeats="median", jury="majority")
    rescaled = rating_table(table, scale=(0, 10))
    assert rescaled.dimension("quality").grades != table.dimension("quality").grades
    assert (rescaled.repeats, rescaled.jury_rule, rescaled.jury_asked) == ("median", table.jury_rule, True)
    assert rating_table(table, repeats="mean").dimensions == table.dimensions
    assert rating_table(table, quorum=2).jury_rule.quorum == 2
    assert rating_table(table, quorum=2).jury_rule.rule == "majority"


def test_the_instrument_gives_scale_direction_and_composites() -> None:
    frame = pl.concat([long_table(SCORES, dimension=name) for name in ("risk", "safety")])
    bare = rating_table(frame)
    assert bare.dimension("risk").grades is None
    for given in ("diagnosis", load_instrument("diagnosis")):
        known = rating_table(frame, instrument=given)
        assert not known.dimension("risk").higher_is_better
        assert known.dimension("safety").derived
        assert known.instrument is not None
        assert [each.name for each in known.counted] == ["risk"]
    assert rating_table(bare, instrument="diagnosis").dimensions == known.dimensions
    named = rating_table(frame.with_columns(instrument=pl.lit("diagnosis")))
    assert named.dimensions == known.dimensions
    other = rating_table(frame.with_columns(instrument=pl.lit("diagnosis@0.0")))
    assert other.dimension("risk").grades is None


def test_cases_bring_patients_and_vendors_to_every_kind_of_table(run: Path) -> None:
    frame = long_table({"a": [1, 2, 3]}, items=["1", "2", "3"], systems=["s", "s", "t"])
    frame = frame.with_columns(patient=pl.Series([None, None, "own"]))
    cases = [
        Case("1", "notes", "answer", patient="p", system="s", vendor="acme"),
        Case("2", "notes", "answer", patient="p", system="s", vendor="acme"),
        Case("9", "notes", "answer", patient="q", system="elsewhere", vendor="other"),
    ]
    for table in (rating_table(frame, cases=cases), rating_table(rating_table(frame), cases=cases)):
        assert table.rows["cluster"].to_list() == ["patient p", "patient p", "patient own"]
        assert dict(table.run.system_vendors) == {"s": "acme"}
        assert table.by_patient
    named = [Case("case 2", "notes", "answer", patient="p1")]
    assert rating_table(run, cases=named).grid("accuracy").clusters.tolist()[:3] == ["patient p1"] * 3


def test_two_raters_called_first_and_second_are_no_pair_without_a_preference(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("item,first,second\na,1,2\nb,3,3\n")
    with pytest.raises(MedjuryError, match="which columns are the rater, the dimension and the score"):
        rating_table(tmp_path / "wide.csv")
