"""The clinicians' ranking from few labels and many jury scores: its ranks hold, however biased the jury is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from medjury.analysis.ranking import rank
from medjury.cli import main

WORTH = dict(zip("abcdefgh", (4.0, 3.9, 3.6, 3.5, 3.2, 3.1, 2.8, 2.5), strict=True))
TRUE_RANK = {system: place for place, system in enumerate(WORTH, start=1)}


def judged(
    seed: int,
    *,
    cases: int = 150,
    labelled: int = 50,
    liking: float = 0.4,
    dimensions: tuple[str, ...] = ("quality",),
) -> pl.DataFrame:
    """A jury of one that likes and dislikes single systems by `liking`, and a clinician who labels some cases."""
    generator = np.random.default_rng(seed)
    taste = dict(zip(WORTH, generator.normal(0, liking, len(WORTH)), strict=True))
    rows = []
    for case in range(cases):
        hard = generator.normal(0, 0.6)
        for system, worth in WORTH.items():
            for dimension in dimensions:
                truth = worth + hard + generator.normal(0, 0.5)
                if case < labelled:
                    rows.append((f"c{case}", system, "dr", "clinician", dimension, truth))
                jury = truth + taste[system] + generator.normal(0, 0.4)
                rows.append((f"c{case}", system, "judge", "judge", dimension, jury))
    columns = ["item", "system", "rater", "rater_kind", "dimension", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def holds(rows: tuple[object, ...]) -> list[bool]:
    return [row.rank_low <= TRUE_RANK[row.system] <= row.rank_high for row in rows]  # type: ignore[attr-defined]


@pytest.mark.simulation
def test_the_true_ranks_lie_in_their_intervals_where_the_jurys_own_do_not() -> None:
    by_jury, by_reference, together, width = [], [], [], []
    for seed in range(60):
        found = rank(judged(seed), resamples=400, labels_random=True)
        assert found.reference_ranks is not None
        by_jury += holds(found.rows)
        by_reference += holds(found.reference_ranks.rows)
        together.append(all(holds(found.reference_ranks.rows)))
        width += [row.rank_high - row.rank_low for row in found.reference_ranks.rows]
    assert np.mean(by_jury) < 0.8, "the jury is sure of its own opinion"
    assert np.mean(by_reference) >= 0.95 and np.mean(together) >= 0.9
    assert np.mean(width) < 4, "and still the intervals say something"


def test_the_jury_makes_the_ranks_of_the_labels_narrower() -> None:
    """The same labels with the jury's scores of other cases, and without them."""
    widths = []
    for labelled_alone in (False, True):
        total = 0
        for seed in range(4):
            frame = judged(seed, cases=400, labelled=40, liking=0.2)
            if labelled_alone:
                frame = frame.filter(pl.col("item").str.slice(1).cast(pl.Int64) < 40)
            found = rank(frame, resamples=300, labels_random=True).reference_ranks
            assert found is not None
            total += sum(row.rank_high - row.rank_low for row in found.rows)
        widths.append(total)
    assert widths[0] < widths[1]


def test_the_words_say_whose_ranking_it_is() -> None:
    found = rank(judged(0), resamples=200)
    assert "of judge" in found.title and "as this judge sees it" in found.title
    assert found.reference_ranks is not None
    said = "as dr would rank them: estimated from 400 labels and the scores of judge"
    assert found.reference_ranks.title.startswith(said)
    assert any("not stated to be a random draw" in text for text in found.reference_ranks.warnings)
    without = rank(judged(0).filter(pl.col("rater") == "judge"), resamples=200)
    assert without.reference_ranks is None and "as this judge sees it" in without.title
    clinicians = rank(judged(0), raters=["dr"], resamples=200)
    assert "sees it" not in clinicians.title


def test_too_few_labels_leave_it_out_and_say_so() -> None:
    found = rank(judged(1, labelled=4), resamples=200)
    assert found.reference_ranks is None
    assert any(
        text.startswith("the ranking by dr is not estimated: a, quality: 4 cases have a clinician's label")
        for text in found.warnings
    )


def test_several_dimensions_are_averaged_and_turned_as_the_jurys_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = judged(2, dimensions=("quality", "harm")).with_columns(
        score=pl.when(pl.col("dimension") == "harm")
        .then(6 - pl.col("score"))
        .otherwise("score")
        .clip(1, 5)
        .round()
    )
    frame.write_csv(tmp_path / "ratings.csv")
    asked = ["rank", str(tmp_path / "ratings.csv"), "--scale", "1", "5", "--lower-is-better", "harm",
             "--labels-random", "--resamples", "200"]  # fmt: skip
    assert main([*asked, "--json", "--show", "reference_ranks"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert rows[0]["system"] in "ab" and rows[-1]["system"] == "h" and rows[0]["labels"] == 100
    own = frame.filter(pl.col("rater") == "dr", pl.col("system") == "h")
    turned = pl.when(pl.col("dimension") == "harm").then(6 - pl.col("score")).otherwise("score")
    alone = own.select(turned.mean()).item()
    assert rows[-1]["mean_low"] < rows[-1]["mean"] < rows[-1]["mean_high"]
    assert rows[-1]["mean"] == pytest.approx(alone, abs=0.2)
    assert main(asked) == 0
    assert "as dr would rank them" in capsys.readouterr().out
