"""Is the jury worth more than its best judge? The report says it where there is a jury and clinicians rated."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
from tests.report.planted import planted_frame, section_made, write_run

from medjury.analysis.agreement import jury_worth
from medjury.report._sections.calibration import best_judge
from medjury.tables import open_run


def words(folder: Path) -> str:
    body = section_made(folder, best_judge, resamples=2000)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))).strip()


def test_the_section_says_what_the_function_gives(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_run(folder, planted_frame(dimensions=("accuracy",)))
    said = words(folder)
    (row,) = jury_worth(open_run(folder)).rows
    assert (
        f"its 3 judges count as {row.votes.value:.1f} ({row.votes.low:.1f} to {row.votes.high:.1f}) votes"
        in said
    )
    assert f"the jury agrees {row.jury_agreement.value:.3f}, its best judge (judge-a)" in said
    assert "with the clinicians' mean, on the answers that the jury and all of its judges scored" in said
    assert "copies" not in said


def test_copies_are_named(tmp_path: Path) -> None:
    frame = planted_frame(dimensions=("accuracy",), judges={"judge-a": 0.9, "judge-b": 0.6})
    copy = frame.filter(pl.col("rater") == "judge-a").with_columns(
        pl.lit("judge-c").alias("rater"), ("copy " + pl.col("key")).alias("key")
    )
    write_run(tmp_path / "run", pl.concat([frame, copy]))
    assert "judge-a and judge-c are in effect copies of one another on Accuracy" in words(tmp_path / "run")


def test_without_clinicians_or_with_one_judge_there_is_no_section(tmp_path: Path) -> None:
    write_run(tmp_path / "alone", planted_frame(dimensions=("accuracy",), judges={"judge-a": 0.5}))
    write_run(tmp_path / "unrated", planted_frame(dimensions=("accuracy",), clinicians={}))
    assert [words(tmp_path / name) for name in ("alone", "unrated")] == ["", ""]


def test_one_clinician_is_not_enough_to_take_noise_out_and_the_section_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "run", planted_frame(dimensions=("accuracy",), clinicians={"anna": 0.5}))
    assert "there the number of votes is too low" in words(tmp_path / "run")
