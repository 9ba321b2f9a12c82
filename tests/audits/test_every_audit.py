"""All audits at once: what a table allows is made, the rest is explained, and a run folder needs no options."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.audits.run_folder import DEVELOPMENT, JUDGES, write_run
from tests.audits.simulated import SYSTEMS, judged

from medjury.analysis.audits import audit, internal_consistency, self_preference, stability
from medjury.analysis.audits._every_audit import AUDITS
from medjury.analysis.audits._stability import with_draws
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.store.runs import RunFolder, files
from medjury.tables import rating_table

VENDORS = {"ada": "alpha", "bob": "beta", "cyd": "gamma"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"), draws=True)


def test_what_can_be_made_is_made_and_the_rest_is_explained() -> None:
    found = audit(judged(cases=30), judge_vendors=VENDORS, system_vendors=SYSTEMS, resamples=200)
    assert [each.name for each in found.audits] == ["self_preference"]
    assert set(found.not_made) == {*AUDITS} - {"self_preference"}
    assert found.rows == found.audits[0].rows and found.frame().height == len(found.rows)
    assert {row["audit"] for row in json.loads(found.to_json())} == {"self_preference"}
    assert any(
        text.startswith("not audited: stability: no rater rated any answer twice") for text in found.warnings
    )
    said = found.text()
    assert (
        said.startswith("self_preference (n 720, unscored 0)")
        and "not audited: group_differences: give --group" in said
    )


def test_an_audit_that_is_named_is_refused_where_something_is_missing() -> None:
    with pytest.raises(MedjuryError, match="2 repeats or more"):
        audit(judged(cases=6), audits="stability")
    with pytest.raises(MedjuryError, match="there is no audit 'colour'"):
        audit(judged(cases=6), audits=["colour"])
    with pytest.raises(
        MedjuryError, match="nothing could be audited:\nnot audited: self_preference: no vendor"
    ):
        audit(judged(cases=6))


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("confidence", [95, 0.0, 1.0, 0.5])
def test_a_confidence_that_is_no_share_is_refused_by_every_audit(name: str, confidence: float) -> None:
    ratings = judged(cases=6)
    with pytest.raises(MedjuryError, match="a share between"):
        audit(ratings, audits=name, confidence=confidence, groups=["system"], earlier=ratings)


def test_texts_and_groups_come_from_the_cases_in_one_pass() -> None:
    ratings = judged(cases=24)
    cases = (
        Case(id=f"case {k}", system=system, candidate="word " * (k + 1), metadata={"sex": "fm"[k % 2]})
        for k in range(24)
        for system in SYSTEMS
    )
    found = audit(ratings, audits=["text", "groups"], cases=cases, groups=["sex"], resamples=100)
    assert [each.name for each in found.audits] == ["text_effects", "group_differences"]
    assert {row.group for row in found.audits[1].rows} == {"sex: f − m"}


@pytest.mark.parametrize("name", ["errors", "groups"])
def test_a_group_that_nothing_has_is_refused_and_not_left_out(name: str) -> None:
    with pytest.raises(MedjuryError, match="there is no column 'sxe'"):
        audit(judged(cases=30), audits=name, groups=["sxe"], resamples=60)


def test_two_sexes_of_one_case_are_refused() -> None:
    cases = [
        Case(id="case 1", system=system, metadata={"sex": sex}) for system, sex in (("a", "f"), ("b", "m"))
    ]
    with pytest.raises(MedjuryError, match="item 'case 1' have different values of sex"):
        audit(judged(cases=6), cases=cases, groups=["sex"])


def test_a_run_folder_says_who_made_whom_and_which_cases_and_dimensions_count(run: Path) -> None:
    found = audit(run)
    assert {each.name for each in found.audits} == {"self_preference", "stability", "internal_consistency"}
    assert {row.dimension for row in found.rows} == {
        "accuracy",
        "risk",
        "",
    }  # the composite is no further evidence
    one = found.audits[0].find(statistic="same_vendor", rater="ada", dimension="risk")
    assert one.estimate.n == 29 * 4 * 3  # the development case is left out
    contrast = found.audits[0].find(statistic="own_vendor_contrast", rater="", dimension="risk").estimate
    assert contrast.value is None and "too few systems" in contrast.reason


def test_the_jury_is_audited_where_it_can_show_something(run: Path) -> None:
    assert {row.rater for row in self_preference(run).rows} == {"", *JUDGES}
    assert {row.rater for row in stability(run).rows} == {"ada"}
    assert {row.rater for row in internal_consistency(run).rows} == {*JUDGES, "jury", "dr one"}
    formed = internal_consistency(rating_table(run, jury="median"))
    assert {row.rater for row in formed.rows} == {*JUDGES, "jury", "dr one"}


def test_a_jury_formed_here_counts_what_it_left_without_a_score() -> None:
    ratings = pl.concat(
        [judged(cases=12, judges=("ada", "bob"), dimension=name) for name in ("risk", "tone")]
    )
    lost = (pl.col("rater") == "bob") & (pl.col("item") == "case 3")
    found = internal_consistency(
        ratings.with_columns(pl.when(~lost).then(pl.col("score")).alias("score")), resamples=50
    )
    counts = {row.rater: row.n_unscored for row in found.rows if row.statistic == "mean_correlation"}
    assert counts == {"ada": 0, "bob": 16, "jury": 16}  # two judges: one score is not more than half
    assert found.n_unscored == 32


def test_draws_stand_in_for_the_rating_that_was_taken_from_them(run: Path) -> None:
    table = rating_table(run)
    drawn = with_draws(table).rows
    mine = drawn.filter(pl.col("rater") == "ada", pl.col("dimension") == "risk", pl.col("item") == "case 1")
    assert mine.height == 4 * 3 and mine["repeat"].unique().sort().to_list() == [0, 1, 2]
    assert DEVELOPMENT not in drawn["item"].to_list()
    others = drawn.filter(pl.col("rater") != "ada")
    assert others.height == table.rows.filter(pl.col("rater") != "ada").height
    assert mine["cluster"].unique().to_list() == ["item case 1"]
    # What follows from the dimensions was not drawn: it stays.
    assert drawn.filter(pl.col("rater") == "ada", pl.col("dimension") == "total").height == 29 * 4
    # A draw that was raised by one grade differs from the two others: two pairs of three.
    rate = stability(run, dimensions="risk").find(statistic="flip_rate", dimension="risk").estimate.value
    raised = (
        table.rows.filter(pl.col("rater") == "ada", pl.col("dimension") == "risk")["score"].to_numpy() < 5
    )
    assert rate == pytest.approx(2 / 3 * raised.mean())
    assert with_draws(rating_table(judged(cases=3))).rows.height == judged(cases=3).height


def test_the_command_prints_the_very_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = audit(run)
    assert main(["audit", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(found.to_json())
    assert main(["audit", str(run)]) == 0
    assert capsys.readouterr().out.strip() == found.text().strip()


def test_draws_of_two_repeats_are_numbered_on(tmp_path: Path) -> None:
    folder = write_run(tmp_path, cases=3, draws=True)
    file = folder / files.RECORDS
    records = [json.loads(line) for line in file.read_text().splitlines()]
    again = [record | {"repeat": 1} for record in records]
    file.write_text("".join(json.dumps(each) + "\n" for each in (*records, *again)))
    drawn = with_draws(rating_table(folder)).rows
    mine = drawn.filter(
        pl.col("rater") == "ada",
        pl.col("dimension") == "risk",
        pl.col("item") == "case 1",
        pl.col("system") == "a",
    )
    assert sorted(mine["repeat"].to_list()) == [0, 1, 2, 3, 4, 5]


def test_records_that_the_manifest_does_not_name_are_not_the_runs(tmp_path: Path) -> None:
    folder = write_run(tmp_path, cases=3, draws=True)
    stated = RunFolder(folder).manifest
    stated.model_copy(update={"files": {files.RATINGS: "hash"}}).write(folder)
    assert not rating_table(folder).run.records.kinds()
    stated.model_copy(update={"files": {files.RATINGS: "hash", files.RECORDS: "hash"}}).write(folder)
    assert rating_table(folder).run.records.kinds() == {"repeats": 3 * 4}


def test_a_vendor_that_is_given_counts_more_than_the_runs(run: Path) -> None:
    with pytest.raises(MedjuryError, match="no judge shares a vendor"):
        self_preference(run, judge_vendors=dict.fromkeys(JUDGES, "none"))
    with pytest.raises(MedjuryError, match="no judge shares a vendor"):
        self_preference(run, system_vendors=dict.fromkeys("abcd", "none"))


def test_nobody_is_compared_with_himself(run: Path) -> None:
    found = internal_consistency(run, raters="dr one")
    assert {row.rater for row in found.rows} == {"dr one"}
    assert "spearman_less_reference" not in {row.statistic for row in found.rows}


def test_a_column_of_the_ratings_counts_more_than_the_cases() -> None:
    ratings = judged(cases=24).with_columns(pl.lit("x").alias("sex"))
    cases = [Case(id=f"case {k}", metadata={"sex": "fm"[k % 2]}) for k in range(24)]
    with pytest.raises(MedjuryError, match="has 1 level"):
        audit(ratings, audits="groups", cases=cases, groups=["sex"])
