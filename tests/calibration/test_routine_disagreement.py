"""Is the routine diagnosis wrong? The logistic curve by the mean safety score."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import t
from tests.report.planted import planted_frame, write_run

from medjury.analysis.calibration import triage
from medjury.analysis.calibration._logistic import fit_logistic
from medjury.analysis.calibration._routine_disagreement import disagreement_curve
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate
from medjury.store.runs import Manifest, RunFolder, file_hash
from medjury.tables import open_run


def ward_cases(cases: int, per_case: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several answers per case; the panel disagrees with the ward more where all of them look unsafe."""
    generator = np.random.default_rng(seed)
    level = generator.uniform(1.5, 4.5, size=cases)
    wrong = generator.random(cases) < expit(3 - 1.2 * level)
    safety = np.clip(np.repeat(level, per_case) + 0.5 * generator.normal(size=cases * per_case), 1, 5)
    return safety, np.repeat(wrong.astype(float), per_case), np.repeat(np.arange(cases), per_case)


def test_the_fit_is_that_of_a_second_implementation() -> None:
    safety, disagrees, cases = ward_cases(200)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[1, 2, 3, 4, 5])
    means = safety.reshape(200, 4).mean(axis=1)
    other = sm.Logit(disagrees[::4], sm.add_constant(means)).fit(disp=0, cov_type="HC0")
    assert found.slope.value == pytest.approx(other.params[1], rel=1e-6)
    half = (found.slope.high - found.slope.low) / 2
    assert half == pytest.approx(t.ppf(0.975, 198) * other.bse[1] * (200 / 199) ** 0.5, rel=1e-5)
    assert found.p_value == pytest.approx(2 * t.sf(abs(found.slope.value) / (half / t.ppf(0.975, 198)), 198))
    expected = other.predict(sm.add_constant(np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert [row.probability.value for row in found.rows] == pytest.approx(expected, rel=1e-6)


def test_low_safety_means_a_doubtful_routine_diagnosis() -> None:
    safety, disagrees, cases = ward_cases(300)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[1.5, 4.5])
    unsafe, safe = (row.probability for row in found.rows)
    assert found.slope.high < 0
    assert found.p_value < 0.001
    assert unsafe.low > safe.high
    assert (found.n, found.n_disagree) == (300, int(disagrees[::4].sum()))
    shares = [share.value for _, _, share in found.bands]
    assert shares[0] > shares[-1]
    assert sum(share.n for _, _, share in found.bands) == 300


def test_the_panel_speaks_once_per_case() -> None:
    """More answers per case sharpen the score, not the number of cases."""
    safety, disagrees, cases = ward_cases(60)
    found = disagreement_curve(safety, disagrees, cases=cases, at=[3])
    means = safety.reshape(60, 4).mean(axis=1)
    once = disagreement_curve(means, disagrees[::4], cases=range(60), at=[3])
    assert found.slope == once.slope


def test_cases_without_a_score_or_a_panel_are_counted() -> None:
    safety, disagrees, cases = ward_cases(60)
    safety[:4] = np.nan
    disagrees[4:8] = np.nan
    found = disagreement_curve(safety, disagrees, cases=cases, at=[3])
    assert (found.n, found.n_unknown) == (58, 2)


def test_clusters_widen_the_errors_and_separation_is_refused() -> None:
    safety, disagrees, _ = ward_cases(100, per_case=1)
    one = fit_logistic(safety, disagrees == 1, np.arange(100).astype(object))
    copied = fit_logistic(
        np.repeat(safety, 3), np.repeat(disagrees == 1, 3), np.repeat(np.arange(100), 3).astype(object)
    )
    assert copied[0] == pytest.approx(one[0])
    assert copied[1] == pytest.approx(one[1], rel=1e-6)
    for scores in (range(1, 11), [1, 2, 3, 4, 5, 5, 7, 8, 9, 10]):
        with pytest.raises(MedjuryError, match="separates the two outcomes perfectly"):
            disagreement_curve(np.array(scores) / 2, [0] * 5 + [1] * 5, cases=range(10), at=[3])


@pytest.mark.parametrize(
    ("safety", "disagrees", "message"),
    [
        ([1.0] * 9, [0, 1] * 4 + [0], "9 cases have both"),
        ([3.0] * 12, [0, 1] * 6, "every case has the mean safety score 3"),
        (list(range(12)), [0] * 12, "every outcome is the same"),
        (list(range(12)), [0, 2] * 6, r"1 \(disagrees"),
        ([1.0], [0, 1], "1 scores, 2 panel answers"),
    ],
)
def test_what_cannot_be_told_is_refused(safety: list[float], disagrees: list[float], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        disagreement_curve(safety, disagrees, cases=range(len(safety)), at=[3])


def test_a_panel_that_contradicts_itself_on_a_case_is_refused() -> None:
    with pytest.raises(MedjuryError, match="case 'a': the panel both agrees and disagrees"):
        disagreement_curve([1.0, 2.0], [0, 1], cases=["a", "a"], at=[3])


def test_a_signal_that_never_changes_is_no_perfect_separation() -> None:
    draw = np.random.default_rng(3)
    score = draw.normal(size=80)
    outcome = score + draw.normal(size=80) > 0
    cases = np.array([str(number) for number in range(80)], dtype=object)
    fitted, _ = fit_logistic(np.column_stack([score, np.zeros(80)]), outcome, cases, ridge=1.0)
    alone, _ = fit_logistic(score[:, np.newaxis], outcome, cases, ridge=1.0)
    assert fitted == pytest.approx([*alone, 0.0])


# Labels of cases.


CASES = 60


def labelled(folder: Path, wrong: set[int]) -> Path:
    """A run of two answers to each case, whose cases have a label: 1 for those that are wrong."""
    frame = planted_frame(cases=CASES, systems=("alpha", "beta"), dimensions=("accuracy",), seed=5)
    made = write_run(folder, frame)
    lines = [f"case-{case:04d},{int(case in wrong)}" for case in range(CASES)]
    (made / "labels.csv").write_text("item,routine_is_wrong\n" + "\n".join(lines) + "\n")
    (made / "audit.jsonl").touch()
    manifest: Manifest = RunFolder(made).manifest
    files = {**manifest.files, "labels.csv": file_hash(made / "labels.csv")}
    manifest.replaced(files=files).write(made)
    return made


def lowest(folder: Path, count: int) -> set[int]:
    """The cases with the jury's lowest mean scores, counted from the ratings themselves."""
    frame = pl.read_parquet(write_run(folder, planted_frame(
        cases=CASES, systems=("alpha", "beta"), dimensions=("accuracy",), seed=5)) / "ratings.parquet")  # fmt: skip
    means = frame.filter(rater="jury").group_by("item").agg(pl.col("score").mean()).sort("score", "item")
    return {int(item.split("-")[1]) for item in means["item"].head(count)}


def test_labels_at_the_low_end_are_all_found_by_their_own_share(tmp_path: Path) -> None:
    """Planted: the twelve lowest-scored of sixty cases are the wrong ones, so a fifth of them finds all."""
    folder = labelled(tmp_path / "run", lowest(tmp_path / "plain", 12))
    (found,) = triage(open_run(folder, resamples=200), dimensions="accuracy").labels
    assert (found.label, found.n, found.n_labelled) == ("routine_is_wrong", CASES, 12)
    assert found.review is not None and found.review.review_to_catch.value == pytest.approx(
        0.8 * 12 / CASES, abs=0.02
    )
    # All found after a fifth: the mean of the curve is 1 less half of that fifth.
    assert found.review.area.value == pytest.approx(1 - 0.1, abs=0.01)
    low, high = ({each.value: each for each in found.spreads}[value] for value in (1, 0))
    assert low.highest <= high.lowest and (low.cases, high.cases) == (12, 48)


def test_labels_without_meaning_are_found_by_chance(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    folder = labelled(tmp_path / "run", set(draw.choice(CASES, 30, replace=False).tolist()))
    (found,) = triage(open_run(folder, resamples=200), dimensions="accuracy").labels
    assert found.review is not None
    low, high = found.review.area.low, found.review.area.high
    assert low is not None and high is not None and low < 0.5 < high


def test_the_command_and_the_report_tell_the_same_of_a_label(tmp_path: Path) -> None:
    folder = labelled(tmp_path / "run", lowest(tmp_path / "plain", 12))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["triage", str(folder), "--dimensions", "accuracy", "--json"]) == 0
        assert main(["report", str(folder)]) == 0
    said = json.loads(out.getvalue().split("Report: ")[0])["labels"][0]
    (line,) = pl.read_csv(folder / "tables" / "triage-labels.csv").iter_rows(named=True)
    assert (line["label"], line["cases"], line["labelled"]) == ("routine_is_wrong", CASES, 12)
    assert line["share to review to find 80 %"] == pytest.approx(said["review"])
    assert line["mean share found"] == pytest.approx(said["area"])
    assert (folder / "figures" / "triage-labels.svg").is_file()
    assert (folder / "figures" / "label-scores.svg").is_file()


def test_a_label_that_every_case_has_is_told_and_not_drawn(tmp_path: Path) -> None:
    folder = labelled(tmp_path / "run", set(range(CASES)))
    (found,) = triage(open_run(folder, resamples=200), dimensions="accuracy").labels
    assert found.review is None and "every item is a case labelled routine_is_wrong" in found.why


def test_a_lower_end_of_0_is_drawn_as_0() -> None:
    from medjury.report._sections.triage import _draw_caught

    caught = (Estimate(0.1, 0.0, 0.3, 10, "counted"), Estimate(0.2, None, None, 10, "no interval"))
    axes = Mock()
    _draw_caught(axes, SimpleNamespace(reviewed=(0.5, 1.0), caught=caught), "red")
    assert axes.area.call_args.args == ([50.0, 100.0], [0.0, 20.0], [30.0, 20.0], "red")
    assert axes.line.call_args.args == ([0, 50.0, 100.0, 100], [0, 10.0, 20.0, 100], "red")
