"""Pictures for a paper: one coefficient by rater, the colleague test against its limits, systems in their order."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest
from tests.report.planted import planted_frame, write_run

from medjury import MedjuryError, RatingTable, agreement, rank, rating_table, validate


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> RatingTable:
    frame = planted_frame(cases=40, dimensions=("accuracy", "clarity"), seed=3)
    folder: Path = write_run(tmp_path_factory.mktemp("pictures"), frame, report={"resamples": 50, "seed": 1})
    return rating_table(folder)


def labels(axes: object) -> list[str]:
    return [each.get_text() for each in axes.get_yticklabels()]  # type: ignore[attr-defined]


def test_agreement_is_one_coefficient_by_rater(table: RatingTable) -> None:
    figure = agreement(table, resamples=50).plot()
    drawn = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in drawn] == ["accuracy", "clarity"]
    for axes in drawn:
        assert labels(axes) == ["jury", "judge-a", "judge-b", "judge-c", "colleagues"]
        assert axes.get_xlabel() == "kappa_quadratic with one clinician"
        assert axes.get_xlim() == drawn[0].get_xlim()


def test_the_colleague_test_is_drawn_against_its_limits(table: RatingTable) -> None:
    found = validate(table, resamples=50)
    figure = found.plot()
    panels = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert {"Agreement", "Missed danger", "Offset", "Clinicians' own agreement"} <= panels.keys()
    rule = found.verdicts[0].rule("agreement")
    at = {tuple(line.get_xdata()) for line in panels["Agreement"].lines}
    assert (rule.limit, rule.limit) in at and (rule.value,) in at and (rule.low, rule.high) in at
    limit = found.verdicts[0].rule("offset").limit
    assert limit is not None and {(limit, limit), (-limit, -limit)} <= {
        tuple(line.get_xdata()) for line in panels["Offset"].lines
    }


def test_a_ranking_is_drawn_by_what_ranks_it() -> None:
    scores = {"item": [str(i) for i in range(40)] * 2, "system": ["a"] * 40 + ["b"] * 40, "rater": "gpt"}
    scores |= {
        "dimension": "accuracy",
        "score": [1 + i % 3 for i in range(40)] + [3 + i % 3 for i in range(40)],
    }
    frame = pl.DataFrame(scores).with_columns(rater_kind=pl.lit("judge"))
    found = rank(rating_table(frame, scale=(1, 5)), resamples=50)
    (axes,) = found.plot().axes
    assert labels(axes) == [f"{row.rank}. {row.system} ({row.tie_group})" for row in found.rows]
    assert axes.get_xlabel() == "macro average"


def test_without_matplotlib_the_extra_is_named(table: RatingTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MedjuryError, match=r'pip install "medjury\[report\]"'):
        validate(table, resamples=50).plot()
