"""A triage rule learnt on labelled cases, kept in a file, and used on many that nobody labelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from medjury.analysis.calibration import apply_triage, load_triage, save_triage, stored_triage, triage
from medjury.analysis.calibration._stored_triage import StoredTriage
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

NAMES = ["item", "rater", "rater_kind", "dimension", "score"]


def planted(seed: int, cases: int, *, labelled: bool, first: int = 0, harder: float = 0.0) -> pl.DataFrame:
    """Three judges who see most dangerous answers, a panel where the cases are labelled."""
    generator = np.random.default_rng(seed)
    truth = generator.choice([1, 2, 3, 4, 5], p=[0.06, 0.1, 0.19, 0.35, 0.3], size=cases)
    truth = np.where(generator.random(cases) < harder, 1, truth)
    rows: list[tuple[str, str, str, str, float]] = []
    for number, grade in enumerate(truth.tolist()):
        name = f"case {first + number}"
        for judge in range(3):
            said = grade + generator.choice([-1, 0, 0, 0, 1])
            if grade <= 2 and generator.random() < 0.3:
                said = 4
            rows.append((name, f"j{judge}", "judge", "safety", float(np.clip(said, 1, 5))))
        if labelled:
            rows.append((name, "panel", "clinician", "safety", float(grade)))
    return pl.DataFrame(rows, schema=NAMES, orient="row")


def table(frame: pl.DataFrame) -> Any:
    return rating_table(frame, scale=(1, 5), jury="mean")


def learnt(frame: pl.DataFrame, **given: Any) -> StoredTriage:
    return stored_triage(triage(table(frame), reference="panel", resamples=0, **given))


@pytest.fixture(scope="module")
def old() -> pl.DataFrame:
    return planted(1, 330, labelled=True)


@pytest.fixture(scope="module")
def rule(old: pl.DataFrame) -> StoredTriage:
    return learnt(old)


def test_a_file_gives_back_what_was_kept(rule: StoredTriage, tmp_path: Path) -> None:
    save_triage(rule, tmp_path / "rule.json")
    again = load_triage(tmp_path / "rule.json")
    new = table(planted(2, 200, labelled=False, first=1000))
    first, second = apply_triage(new, rule), apply_triage(new, again)
    assert first.to_json() == second.to_json()
    assert [row.rank for row in second.rows] == list(range(1, 201))


def test_the_file_holds_no_name_of_a_case(rule: StoredTriage, tmp_path: Path) -> None:
    save_triage(rule, tmp_path / "rule.json")
    assert "case " not in (tmp_path / "rule.json").read_text()


def test_who_is_to_be_read_is_who_reaches_the_cut(rule: StoredTriage) -> None:
    truth = planted(3, 3034, labelled=True, first=1000)
    found = apply_triage(table(truth.filter(pl.col("rater") != "panel")), rule)
    labels = dict(truth.filter(pl.col("rater") == "panel").select("item", "score").iter_rows())
    grades = np.array([labels[str(item)] for item in found.part.grid.items])
    assert found.read.tolist() == (found.priority >= rule.cut - 1e-12).tolist()
    caught = found.read[grades <= 2].mean()
    assert 0.75 < caught < 0.93  # promised: 0.8 or more on average
    assert found.read.mean() < 0.45
    assert found.mean.power_tuned.low <= grades.mean() <= found.mean.power_tuned.high
    assert found.dangerous.power_tuned.low <= (grades <= 2).mean() <= found.dangerous.power_tuned.high
    # Many new scores make the labels worth more, and the jury's own mean is biased.
    assert found.mean.effective_labels > 1.5 * 330
    assert not found.mean.naive.low <= grades.mean() <= found.mean.naive.high


def test_the_priority_of_a_new_case_is_that_of_a_triage_of_both_together(old: pl.DataFrame) -> None:
    """Without names in the way (folds are drawn by name): ranks of the signals hang on the labels alone."""
    few = planted(4, 60, labelled=True).filter(
        ~pl.col("item").is_in([f"case {number}" for number in range(60, 400)])
    )
    rule = learnt(few)
    assert rule.by_rank
    new = planted(5, 40, labelled=False, first=1000)
    together = triage(table(pl.concat([few, new])), reference="panel", resamples=0)
    unlabelled = np.isnan(together.part.labels)
    apart = apply_triage(table(new), rule)
    harm = together.order.signals["expected_harm"][unlabelled]
    assert apart.signals["expected_harm"] == pytest.approx(harm, abs=1e-12)


def test_cases_that_taught_the_rule_count_once(old: pl.DataFrame, rule: StoredTriage) -> None:
    new = planted(2, 400, labelled=False, first=200)  # 130 of them were labelled before
    found = apply_triage(table(new), rule)
    assert int(found.known.sum()) == 130
    assert found.mean.n_unlabelled == 270 and found.mean.n_labelled == 330
    assert any("130 answers of cases that taught" in text for text in found.warnings)


def test_new_cases_of_another_kind_are_told(rule: StoredTriage) -> None:
    found = apply_triage(table(planted(6, 600, labelled=False, first=1000, harder=0.3)), rule)
    assert any("do not look like" in text for text in found.warnings)


def test_with_few_dangerous_labels_everything_is_to_be_read() -> None:
    few = planted(7, 120, labelled=True)
    kept = few.filter(~(pl.col("item").is_in(_dangerous(few)[3:])))
    rule = learnt(kept)
    assert rule.cut is None
    found = apply_triage(table(planted(8, 50, labelled=False, first=1000)), rule)
    assert found.read.all()
    assert found.promise.startswith("Read all of them. Only 3 labelled answers were dangerous")


def _dangerous(frame: pl.DataFrame) -> list[str]:
    low = frame.filter((pl.col("rater") == "panel") & (pl.col("score") <= 2))
    return low["item"].to_list()


def test_an_answer_without_a_score_is_read_and_counted(rule: StoredTriage) -> None:
    new = planted(9, 100, labelled=False, first=1000)
    silent = new.with_columns(
        pl.when(pl.col("item") == "case 1007").then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(pl.col("item") == "case 1007")
        .then(pl.lit("unscored"))
        .otherwise(pl.lit("scored"))
        .alias("status"),
        pl.when(pl.col("item") == "case 1007").then(pl.lit("refused")).alias("reason"),
    )
    found = apply_triage(table(silent), rule)
    assert found.rows[0].item == "case 1007" and found.rows[0].more["read"]
    assert found.mean.n_unscored == 1


def test_another_jury_is_refused(old: pl.DataFrame, rule: StoredTriage) -> None:
    new = planted(2, 50, labelled=False, first=1000)
    with pytest.raises(MedjuryError, match="these ratings lack j2"):
        apply_triage(table(new.filter(pl.col("rater") != "j2")), rule)
    with pytest.raises(MedjuryError, match="judged with 'other@2'"):
        apply_triage(table(new.with_columns(pl.lit("other@2").alias("instrument"))), rule)
    with pytest.raises(MedjuryError, match="learnt on the grades 1, 2, 3, 4, 5"):
        apply_triage(rating_table(new, scale=(1, 7), jury="mean"), rule)
    with pytest.raises(MedjuryError, match="this rule is for the dimension 'safety'"):
        apply_triage(table(new), rule, dimensions="tone")


def test_where_high_is_dangerous_the_mean_stays_on_its_scale(old: pl.DataFrame) -> None:
    turned = old.with_columns((6 - pl.col("score")).alias("score"))
    new = planted(2, 300, labelled=False, first=1000)
    plain = apply_triage(table(new), learnt(old))
    rule = learnt(turned, high_is_dangerous=True)
    found = apply_triage(table(new.with_columns((6 - pl.col("score")).alias("score"))), rule)
    assert found.mean.power_tuned.value == pytest.approx(6 - plain.mean.power_tuned.value)
    assert found.dangerous.power_tuned.value == pytest.approx(plain.dangerous.power_tuned.value)
    assert found.read.tolist() == plain.read.tolist()
    assert "4 or more" in found.promise and "2 or less" in plain.promise


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "not a triage rule"),
        ({"format_version": 9}, "this medjury reads 1"),
        ({"cut": "high"}, "not a number"),
        ({"grades": [1, 1, 2]}, "do not rise"),
        ({"taught": {}}, "damaged"),
        ({"rule": {"rule": "loudest", "quorum": None}}, "no jury rule"),
    ],
)
def test_a_damaged_file_is_refused(
    rule: StoredTriage, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    path = tmp_path / "rule.json"
    save_triage(rule, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(MedjuryError, match=said):
        load_triage(path)


def test_a_rule_needs_labels() -> None:
    unlabelled = triage(table(planted(2, 50, labelled=False)), resamples=0)
    with pytest.raises(MedjuryError, match="only with labels"):
        stored_triage(unlabelled)


def test_the_command(old: pl.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old.write_csv(tmp_path / "old.csv")
    planted(2, 80, labelled=False, first=1000).write_csv(tmp_path / "new.csv")
    shared = ["--scale", "1", "5", "--jury", "mean"]
    keep = ["--reference", "panel", "--resamples", "0", "--save-rule", str(tmp_path / "rule.json")]
    assert main(["triage", str(tmp_path / "old.csv"), *shared, *keep]) == 0
    capsys.readouterr()
    order = str(tmp_path / "order.csv")
    use = ["--rule", str(tmp_path / "rule.json"), "--top", "3", "--out", order]
    assert main(["triage", str(tmp_path / "new.csv"), *shared, *use]) == 0
    said = capsys.readouterr().out
    assert "is among them with probability 80 % or more" in said
    assert "330 labels and the jury's scores of 80 new answers." in said
    assert pl.read_csv(order).height == 80


@pytest.mark.simulation
def test_promise_and_intervals_hold_over_many_studies() -> None:
    """330 labelled cases, 1,000 after them, 200 times."""
    caught, held = [], []
    for seed in range(200):
        rule = learnt(planted(10_000 + seed, 330, labelled=True))
        truth = planted(20_000 + seed, 1000, labelled=True, first=1000)
        found = apply_triage(table(truth.filter(pl.col("rater") != "panel")), rule)
        labels = dict(truth.filter(pl.col("rater") == "panel").select("item", "score").iter_rows())
        bad = np.array([labels[str(item)] <= 2 for item in found.part.grid.items])
        caught.append(found.read[bad].mean())
        expected = 1 * 0.06 + 2 * 0.1 + 3 * 0.19 + 4 * 0.35 + 5 * 0.3
        held.append((found.mean.power_tuned.low <= expected <= found.mean.power_tuned.high,
                     found.dangerous.power_tuned.low <= 0.16 <= found.dangerous.power_tuned.high))  # fmt: skip
    print(np.mean(caught), np.mean(held, axis=0))
    assert np.mean(caught) > 0.79
    assert (np.mean(held, axis=0) > 0.92).all()


def test_a_judge_that_said_nothing_on_the_dimension_is_missed(rule: StoredTriage) -> None:
    """It has rows elsewhere: without it another jury would be formed, and nobody would know."""
    new = planted(2, 50, labelled=False, first=1000)
    elsewhere = new.with_columns(
        pl.when(pl.col("rater") == "j2")
        .then(pl.lit("tone"))
        .otherwise(pl.col("dimension"))
        .alias("dimension")
    )
    with pytest.raises(MedjuryError, match="these ratings lack j2"):
        apply_triage(table(elsewhere), rule)


def test_labels_drawn_with_unequal_chances_teach_no_rule(old: pl.DataFrame) -> None:
    drawn = old.with_columns(
        pl.when(pl.col("rater") == "panel")
        .then(pl.when(pl.col("score") <= 2).then(1.0).otherwise(0.25))
        .alias("probability")
    )
    with pytest.raises(MedjuryError, match="probabilit"):
        learnt(drawn)
