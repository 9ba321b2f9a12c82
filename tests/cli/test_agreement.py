"""`medjury agreement`: from a file to every coefficient, in the words and names that stay."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.agreement.rating_rows import likert, long_table
from tests.ratings.samples import rating

from medjury import MedjuryError, calibrate
from medjury.cli import main
from medjury.store.ratings import open_store

STABLE = (
    "exact_match", "offset", "rmse", "pearson", "spearman", "kendall_tau_b", "kappa", "kappa_linear",
    "kappa_quadratic", "icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k", "icc_3_k_z",
    "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval", "gwet_ac1",
    "gwet_ac2_quadratic", "fleiss_kappa", "macro_f1", "accuracy",
)  # fmt: skip
KEYS = ["dimension", "reference", "rater", "statistic", "value", "low", "high", "n", "n_unscored", "method"]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    file = tmp_path / "ratings.csv"
    long_table(likert(0, 40, human=0.5, judge=0.7, other=0.9)).write_csv(file)
    return file


def rows(capsys: pytest.CaptureFixture[str], *words: str | Path, status: int = 0) -> list[dict[str, Any]]:
    assert main(["agreement", *map(str, words), "--json"]) == status
    found: list[dict[str, Any]] = json.loads(
        capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON")
    )
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["agreement", *map(str, words)]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


def test_json_has_one_row_per_pair_and_statistic_under_stable_names(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, ratings, "--reference", "human", "--raters", "judge,other", "--scale", "1", "5",
                 "--resamples", "200", "--seed", "0")  # fmt: skip
    assert all(list(row)[:10] == KEYS for row in found)
    identities = [(row["rater"], row["statistic"]) for row in found]
    assert len(identities) == len(set(identities))
    for rater in ("judge", "other"):
        assert {name for who, name in identities if who == rater} >= set(STABLE)
    for row in found:
        if row["value"] is not None and row["low"] is not None:
            assert row["low"] <= row["high"]


def test_earlier_names_of_options_and_keys_are_understood(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (ratings, "--reference", "human", "--scale", "1", "5", "--resamples", "50")
    found = rows(capsys, *words, "--raters", "judge", "--dimensions", "quality")
    assert found == rows(capsys, *words, "--compare", "judge", "--dimension", "quality")
    assert all(row["compare"] == row["rater"] == "judge" for row in found)
    assert all(row["ceiling_compare"] == row["ceiling_rater"] is not None for row in found)
    assert all(row["floor_compare"] == row["floor_rater"] is not None for row in found)


def test_the_table_is_readable_and_is_the_default(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["agreement", str(ratings), "--reference", "human", "--scale", "1", "5", "--resamples", "100"])
        == 0
    )
    text = capsys.readouterr().out
    assert text.startswith("Agreement with human\n") and "colleagues" not in text
    assert re.search(r"^quality +judge +other\nkappa_quadratic +0\.", text, re.M)
    assert not re.search(r"\bnan\b", text.lower())


def clinicians(folder: Path, kind: str = "clinician", **spreads: float) -> Path:
    """A table of people alone; those who spread little agree well."""
    file = folder / "clinicians.csv"
    scores = likert(3, 60, **(spreads or {"anna": 0.4, "ben": 0.5, "carl": 0.4}))
    long_table(scores).with_columns(rater_kind=pl.lit(kind)).write_csv(file)
    return file


@pytest.mark.parametrize("kind", ["clinician", ""])
def test_clinicians_alone_are_compared_with_one_another(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clinicians(tmp_path, kind)
    words = (file, "--scale", "1", "5", "--resamples", "200")
    found = rows(capsys, *words)
    kappas = {(row["reference"], row["rater"]) for row in found if row["statistic"] == "kappa_quadratic"}
    assert kappas >= {
        ("anna", "ben"),
        ("anna", "carl"),
        ("ben", "carl"),
        ("each reference", "the other references"),
    }
    enough = next(row for row in found if row["statistic"] == "colleagues")
    assert enough["n"] == 60 and 0.4 < enough["low"] < enough["value"] < enough["high"]
    assert main(["agreement", *map(str, words)]) == 0
    text = capsys.readouterr().out
    for label in ("all 3 together", "anna, ben", "anna, carl", "ben, carl"):
        assert re.search(rf"^{label} +0\.\d+ \(0\.", text, re.M), label
    assert re.search(rf"quality: yes\. {enough['value']:.3f}, at worst {enough['low']:.3f}", text)
    assert ("so all are compared as equals" in text) == (not kind)


def test_clinicians_who_do_not_agree_are_not_good_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clinicians(tmp_path, anna=3.0, ben=3.0)
    assert main(["agreement", str(file), "--scale", "1", "5", "--resamples", "200"]) == 0
    assert "quality: no. Clinicians agree with one another too little" in capsys.readouterr().out


def test_every_pair_of_clinicians_alone_is_listed_also_without_a_scale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clinicians(tmp_path)
    with_scale = rows(capsys, file, "--pairs", "--scale", "1", "5")
    assert [(row["first"], row["second"]) for row in with_scale] == [
        ("anna", "ben"), ("anna", "carl"), ("ben", "carl"),
    ]  # fmt: skip
    assert all(row["group"] == "human with human" and row["kappa_quadratic"] > 0.5 for row in with_scale)
    assert rows(capsys, file, "--pairs") == with_scale


def test_many_pairs_are_shown_by_the_lowest_and_the_highest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clinicians(tmp_path, **{f"rater {place}": 0.2 * place for place in range(1, 7)})
    assert main(["agreement", str(file), "--scale", "1", "5", "--resamples", "50"]) == 0
    text = capsys.readouterr().out
    assert "lowest of 15 pairs: " in text and "highest of 15 pairs: rater 1, rater 2" in text
    assert len(text.splitlines()) < 20


def test_a_mapping_reads_a_file_with_other_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, mapping = tmp_path / "grades.csv", tmp_path / "mapping.yaml"
    pl.read_csv(clinicians(tmp_path)).rename({"item": "Case No.", "rater": "Who"}).write_csv(file)
    mapping.write_text(
        "item: Case No.\nrater: Who\ndimension: dimension\nscore: score\nscale: [1, 5]\n", "utf-8"
    )
    found = rows(capsys, file, "--mapping", mapping, "--scale", "1", "5", "--resamples", "50")
    assert {row["reference"] for row in found} >= {"anna", "ben", "consensus without anna"}


def test_the_same_seed_gives_the_same_bytes(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (ratings, "--reference", "human", "--raters", "judge", "--scale", "1", "5", "--resamples", "150")
    first, second = rows(capsys, *words, "--seed", "3"), rows(capsys, *words, "--seed", "3")
    assert first == second
    assert first != rows(capsys, *words, "--seed", "4")


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "tsv"])
def test_other_kinds_of_file_give_the_same_rows(
    suffix: str, ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"copy.{suffix}"
    frame = pl.read_csv(ratings)
    {
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
        "tsv": lambda path: frame.write_csv(path, separator="\t"),
    }[suffix](file)
    words = ("--reference", "human", "--raters", "judge", "--scale", "1", "5", "--resamples", "50")
    assert rows(capsys, file, *words) == rows(capsys, ratings, *words)


def test_a_mapping_describes_a_wide_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "wide.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "accuracy (Dr A)", "accuracy (Dr B)", "accuracy (judge)"])
        writer.writerows([[i, i % 5 + 1, i % 5 + 1, (i + i % 3) % 5 + 1] for i in range(20)])
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(
        "item: case\ncolumns: '{dimension} ({rater})'\nscale: [1, 5]\nfiles:\n  - file: wide.csv\n",
        encoding="utf-8",
    )
    found = rows(capsys, mapping, "--reference", "Dr A,Dr B", "--raters", "judge", "--scale", "1", "5",
                 "--resamples", "50")  # fmt: skip
    pairs = {(row["reference"], row["rater"]) for row in found}
    assert pairs >= {("Dr A", "judge"), ("consensus", "judge"), ("Dr A", "Dr B"), ("each reference", "judge")}


def test_a_run_folder_is_read(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    pl.read_csv(ratings).write_parquet(folder / "ratings.parquet")
    words = ("--reference", "human", "--raters", "judge", "--scale", "1", "5", "--resamples", "50")
    assert rows(capsys, folder, *words) == rows(capsys, ratings, *words)
    (tmp_path / "empty").mkdir()
    assert "is it a run folder?" in refused(capsys, tmp_path / "empty", "--reference", "human")


def test_a_store_is_read_run_by_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "ratings.sqlite"
    with open_store(place) as store:
        for run, shift in (("first", 0), ("second", 1)):
            store.put_run(run, {})
            store.write_ratings(
                run,
                [
                    rating(
                        item=f"{i}", rater=who, score=float(i % 4 + 1 + shift * moved), key=f"{run} {who} {i}"
                    )
                    for who, moved in (("human", 0), ("judge", 1))
                    for i in range(8)
                ],
            )
    words = (
        place,
        "--reference",
        "human",
        "--raters",
        "judge",
        "--resamples",
        "50",
        "--statistics",
        "offset",
    )
    assert "name the run" in refused(capsys, *words)
    for run, offset in (("first", 0), ("second", 1)):
        assert [row["value"] for row in rows(capsys, *words, "--run", run)] == [offset]
    assert "a run is chosen from a store" in refused(capsys, tmp_path, "--run", "first")


def test_what_was_not_scored_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dirty.csv"
    file.write_text(
        "item,rater,dimension,score\n"
        "1,human,q,1\n2,human,q,2\n3,human,q,3\n4,human,q,4\n5,human,q,5\n"
        "1,judge,q,1\n2,judge,q,NaN\n3,judge,q,four\n4,judge,q,\n5,judge,q,9\n",
        encoding="utf-8",
    )
    assert main(["agreement", str(file), "--reference", "human", "--scale", "1", "5", "--json"]) == 0
    said = capsys.readouterr()
    assert "unscored ratings of judge: 2 missing, 1 out_of_range, 1 parse" in said.err
    row = next(row for row in json.loads(said.out) if row["statistic"] == "rmse")
    assert (row["n"], row["n_unscored"]) == (1, 4)


def test_no_overlap_is_undefined_with_ids_of_both_sides_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "apart.csv"
    file.write_text(
        "item,rater,dimension,score\n1,human,q,1\n2,human,q,2\n01,judge,q,1\n02,judge,q,2\n", "utf-8"
    )
    assert main(["agreement", str(file), "--reference", "human", "--json"]) == 1
    said = capsys.readouterr()
    assert "Check that the ids" in said.err
    assert all(row["value"] is None and row["reason"] for row in json.loads(said.out))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reference", "human", "--raters", "Judge"), "did you mean 'judge'"),
        (("--reference", "human", "--dimensions", "qualty"), "did you mean 'quality'"),
        (("--reference", "human", "--level", "system", "--scale", "1", "5"), "fewer than two systems"),
        (("--reference", "human", "--scale", "1", "5", "--grades", "1,2"), "give one of them"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_message(
    words: tuple[str, ...], message: str, ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, ratings, *words)


def test_every_table_of_a_diagnosis_jury_study_comes_from_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Offsets, RMSE, rho, kappa, severe errors with posterior and overlap, win rates over the re-score panel."""
    scores = likert(1, 90, panel=0.3, opus=0.6, gemini=0.8, o3=0.5, rescore=1.0)
    scores["rescore"][30:] = [None] * 60
    frame = long_table(scores, dimension="safety").filter(pl.col("score").is_not_null())
    file = tmp_path / "diagnosis.parquet"
    frame.write_parquet(file)
    found = rows(
        capsys, file, "--reference", "panel", "--raters", "opus,gemini,o3", "--jury", "mean", "--panel", "rescore",
        "--severe", "safety", "--scale", "1", "5", "--resamples", "300",
    )  # fmt: skip
    names = {(row["rater"], row["statistic"]) for row in found}
    for rater in ("opus", "gemini", "o3", "jury", "rescore"):
        assert {
            (rater, each) for each in ("offset", "rmse", "spearman", "kappa_quadratic", "severe_error_rate")
        } <= names
    wins = {f"win_rate_{each}" for each in ("offset", "rmse", "spearman", "kappa_quadratic")}
    assert wins | {"severe_error_lower_flat", "severe_error_lower_jeffreys"} <= {
        name for who, name in names if who == "jury"
    }


def test_every_table_of_a_summary_quality_study_comes_from_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Median of humans against median of repeats over all attributes: ICC(3,k), median difference, Wilcoxon, AC2,
    alpha, and the judge as extra or replacement rater."""
    parts = []
    for dimension in ("useful", "succinct"):
        humans = likert(2, 30, a=0.5, b=0.5, c=0.6)
        parts.append(long_table(humans, dimension=dimension).with_columns(repeat=pl.lit(0)))
        for repeat in range(3):
            judge = {"judge": likert(3 + repeat, 30, judge=0.7)["judge"]}
            parts.append(long_table(judge, dimension=dimension).with_columns(repeat=pl.lit(repeat)))
    file = tmp_path / "summaries.csv"
    pl.concat(parts).write_csv(file)
    found = rows(
        capsys, file, "--reference", "a,b,c", "--raters", "judge", "--consensus", "median", "--repeats", "median",
        "--by", "all", "--scale", "1", "5", "--resamples", "200",
    )  # fmt: skip
    by_name = {(row["reference"], row["rater"], row["statistic"]): row for row in found}
    for name in ("icc_3_k", "median_difference", "difference_q1", "wilcoxon_signed_rank", "gwet_ac2_quadratic",
                 "krippendorff_alpha_ordinal"):  # fmt: skip
        assert by_name["consensus", "judge", name]["n"] == 60
    assert by_name["consensus", "judge", "wilcoxon_signed_rank"]["p_value"] is not None
    assert ("a + b + c", "judge", "icc_3_k_change_added") in by_name
    assert {
        ("a", "judge", "icc_3_k_change_replaced"),
        ("c", "judge", "icc_3_k_change_replaced"),
    } <= by_name.keys()


def test_every_table_of_a_concordance_study_comes_from_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Majority of three physicians: F1, kappa, sensitivity... of the judge, each physician against the majority,
    all pairs, Fleiss' kappa, and the AUC of a support share."""
    scores = {name: [float(score > 3) for score in values] for name, values in
              likert(5, 40, p1=0.4, p2=0.6, p3=0.6, judge=0.5).items()}  # fmt: skip
    scores["support"] = [min(1.0, max(0.0, score / 5)) for score in likert(5, 40, support=0.6)["support"]]
    frame = long_table(scores, dimension="concordant").with_columns(
        pl.when(pl.col("rater") == "support")
        .then(pl.lit("metric"))
        .otherwise(pl.lit("judge"))
        .alias("rater_kind")
    )
    file = tmp_path / "concordance.jsonl"
    frame.write_ndjson(file)
    found = rows(
        capsys, file, "--reference", "p1,p2,p3", "--raters", "judge,support,p1,p2,p3", "--consensus", "majority",
        "--scale", "0", "1", "--resamples", "300",
    )  # fmt: skip
    by_name = {(row["reference"], row["rater"], row["statistic"]): row for row in found}
    for name in ("f1", "kappa", "sensitivity", "specificity", "precision", "recall", "accuracy"):
        assert by_name["consensus", "judge", name]["value"] is not None
    assert "BCa" in by_name["consensus", "judge", "kappa"]["method"]
    assert "contains this rater" in by_name["consensus", "p2", "kappa"]["method"]
    assert by_name["consensus", "support", "auc"]["value"] is not None
    assert by_name["p1 + p2 + p3", "among references", "fleiss_kappa"]["value"] is not None
    assert ("p1", "p3", "kappa") in by_name


def test_an_error_names_the_option_at_a_terminal_and_the_argument_in_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = clinicians(tmp_path)
    assert main(["calibrate", "report", str(file)]) == 2
    assert "(--reference RATER)" in capsys.readouterr().err
    with pytest.raises(MedjuryError, match=r"\(reference=RATER\)"):
        calibrate(file)
