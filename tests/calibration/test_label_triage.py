"""Labels of cases in triage: the jury's mean score of a case finds the cases whose routine diagnosis was wrong."""

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
from tests.report.planted import planted_frame, write_run

from medjury.analysis.calibration import triage
from medjury.cli import main
from medjury.statistics import Estimate
from medjury.store.runs import Manifest, RunFolder, file_hash
from medjury.tables import open_run

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
