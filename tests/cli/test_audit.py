"""`medjury audit`: every audit the data allow, and the reason for every one they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.audits.simulated import JUDGES, SYSTEMS, judged
from tests.audits.test_drift import anchors
from tests.audits.test_groups import rated as rated_groups
from tests.audits.test_position import preferences
from tests.remembered import Remembered

from medjury.cli import main

KEYS = [
    "audit", "statistic", "rater", "dimension", "group", "value", "low", "high", "n", "n_unscored", "p_value",
    "p_adjusted", "verdict", "stands_out", "method", "reason",
]  # fmt: skip
VENDORS = (
    "--judge-vendor", ",".join(f"{judge}={vendor}" for judge, vendor in JUDGES.items()),
    "--system-vendor", ",".join(f"{system}={vendor}" for system, vendor in SYSTEMS.items()),
)  # fmt: skip


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    both = [
        judged(cases=60, preference={"ada": 0.6}, dimension=name, seed=k)
        for k, name in enumerate(("risk", "tone"))
    ]
    pl.concat(both).write_csv(tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


def rows(capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[dict[str, Any]]:
    assert main(["audit", *map(str, words), "--resamples", "100", "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(
        capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON")
    )
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["audit", *map(str, words)]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err and said.out == ""
    return said.err


def test_without_a_name_every_possible_audit_is_made_and_the_rest_explained(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(ratings), *VENDORS, "--resamples", "100", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert {row["audit"] for row in found} == {"self_preference", "internal_consistency"}
    assert all(list(row) == KEYS for row in found)
    for name in ("stability", "text_effects", "group_differences", "drift", "position"):
        assert f"not audited: {name}: " in said.err


def test_self_preference_by_options(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, ratings, "--audit", "self_preference", *VENDORS, "--own-model", "ada=alpha-1")
    by = {(row["statistic"], row["rater"], row["dimension"]): row for row in found}
    assert by["same_vendor", "ada", "risk"]["verdict"] == "favours its own vendor"
    assert by["same_vendor", "bob", "risk"]["verdict"] == "not shown"
    assert ("same_model", "", "tone") in by


def test_vendors_of_systems_may_stand_in_the_cases(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        {"id": "case 1", "system": system, "vendor": vendor, "candidate": "text"}
        for system, vendor in SYSTEMS.items()
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(json.dumps(case) for case in cases))
    words = (ratings, "--audit", "self-preference", *VENDORS[:2], "--dimension", "risk")
    found = rows(capsys, *words, "--cases", tmp_path / "cases.jsonl")
    assert found == rows(capsys, *words, *VENDORS[2:])


def test_the_table_says_what_stands_out(ratings: Path) -> None:
    remembered = Remembered()
    words = ["audit", str(ratings), "--audit", "self-preference", *VENDORS, "--resamples", "100"]
    (_, said), (_, whole) = (remembered.command(*words, *more) for more in ((), ("--all",)))
    assert "favours its own vendor" in said and "case_variance" not in said and "(--all " in said
    assert "case_variance" in whole
    pl.concat([pl.read_csv(ratings), judged(cases=60, dimension="style")]).write_csv(ratings)
    (_, said), (_, whole) = (remembered.command(*words, *more) for more in ((), ("--all",)))
    assert "favours its own vendor" in said
    assert "do not stand out" in said and "case_variance" not in said and "case_variance" in whole


def test_stability_with_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    anchors().write_csv(tmp_path / "repeats.csv")
    found = rows(
        capsys, tmp_path / "repeats.csv", "--audit", "stability", "--width", "0.2", "--threshold", "3"
    )
    by = {row["statistic"]: row for row in found}
    assert by["repeats_needed"]["group"] == "interval ≤ 0.2 wide" and by["flip_rate"]["group"] == "score ≥ 3"


def test_text_effects_from_the_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        {
            "id": f"c{k}",
            "system": "s",
            "candidate": "word " * (k + 1) + ("\n- item" * (k % 3)),
            "sex": "fm"[k % 2],
        }
        for k in range(40)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(json.dumps(case) for case in cases))
    table = [(f"c{k}", "s", "judge", "quality", 1 + k / 10) for k in range(40)]
    schema = ["item", "system", "rater", "dimension", "score"]
    pl.DataFrame(table, schema=schema, orient="row").write_csv(tmp_path / "ratings.csv")
    words = (tmp_path / "ratings.csv", "--cases", tmp_path / "cases.jsonl")
    found = rows(capsys, *words, "--audit", "length")
    slope = next(row for row in found if row["group"] == "length")
    assert slope["audit"] == "text_effects" and slope["value"] > 0.3
    groups = rows(capsys, *words, "--audit", "groups", "--group", "sex")
    assert [row["group"] for row in groups] == ["sex: f − m"]
    by_hand = pl.read_csv(words[0]).with_columns((pl.int_range(pl.len()) // 20).cast(pl.String).alias("half"))
    by_hand.write_csv(words[0])
    both = rows(capsys, *words, "--audit", "groups", "--group", "sex", "--group", "half")
    assert [row["group"] for row in both] == ["sex: f − m", "half: 0 − 1"]
    assert "no column 'ward'" in refused(capsys, *words, "--audit", "groups", "--group", "ward")


def test_groups_with_bands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rated_groups(bias=0.4).write_csv(tmp_path / "ratings.csv")
    found = rows(
        capsys, tmp_path / "ratings.csv", "--audit", "groups", "--group", "specialty", "--group", "age=40,60",
        "--reference", "dr one", "--adjust", "benjamini_hochberg",
    )  # fmt: skip
    beyond = {row["group"]: row for row in found if row["statistic"] == "group_difference_beyond_reference"}
    assert beyond["specialty: oncology − all others"]["verdict"].startswith("scored lower")
    assert "age: 40 to < 60 − all others" in beyond and "age: ≥ 60 − all others" in beyond


def test_drift_between_two_files_and_between_two_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier, later = anchors(seed=1), anchors(seed=2, shift=0.6)
    earlier.write_csv(tmp_path / "earlier.csv")
    later.write_csv(tmp_path / "later.csv")
    found = rows(capsys, tmp_path / "later.csv", "--audit", "drift", "--earlier", tmp_path / "earlier.csv")
    assert next(row for row in found if row["statistic"] == "shift")["verdict"] == "moved up"
    pl.concat(
        [earlier.with_columns(pl.lit("1").alias("version")), later.with_columns(pl.lit("2").alias("version"))]
    ).write_csv(tmp_path / "both.csv")
    again = rows(capsys, tmp_path / "both.csv", "--audit", "drift", "--versions", "version=1,2")
    assert [row["value"] for row in again] == pytest.approx([row["value"] for row in found])


def test_position_from_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preferences(favour_first=0.3, favour_a=0.0).write_csv(tmp_path / "pairs.csv")
    found = rows(capsys, tmp_path / "pairs.csv")
    assert {row["audit"] for row in found} == {"position"}
    assert (
        next(row for row in found if row["statistic"] == "first_place_bias")["verdict"]
        == "prefers the first place"
    )


def test_bad_input_is_refused_without_a_trace(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no audit 'colour'" in refused(capsys, ratings, "--audit", "colour")
    assert "no vendor is known" in refused(capsys, ratings, "--audit", "self-preference")
    assert "write NAME=NAME" in refused(
        capsys, ratings, "--audit", "self-preference", "--judge-vendor", "ada"
    )
    assert "given twice" in refused(
        capsys, ratings, "--audit", "self-preference", "--judge-vendor", "ada=x", "--judge-vendor", "ada=y"
    )
    assert "give --group" in refused(capsys, ratings, "--audit", "groups")
    assert "COLUMN=CUT,CUT" in refused(capsys, ratings, "--audit", "groups", "--group", "age=old")
    assert "COLUMN=EARLIER,LATER" in refused(capsys, ratings, "--audit", "drift", "--versions", "version")
    assert "give --earlier" in refused(capsys, ratings, "--audit", "drift")
    assert "give --pairs" in refused(capsys, ratings, "--audit", "position")
    assert "no such file" in refused(capsys, ratings, "--audit", "position", "--pairs", tmp_path / "none.csv")
    assert "there is no rater 'eve'" in refused(capsys, ratings, "--audit", "stability", "--judge", "eve")
    single = judged(cases=5, judges=("ada",)).filter(pl.col("system") == "clinic").drop("system")
    single.write_csv(tmp_path / "single.csv")
    assert "nothing could be audited" in refused(capsys, tmp_path / "single.csv")
