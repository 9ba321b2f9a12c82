"""The corpus table: counts, lengths and tests, against scipy; groups that share cases are not tested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.report.planted import DIMENSIONS, planted_frame, rules, write_run

from medjury.analysis.audits import corpus
from medjury.analysis.audits._corpus import chi_square, means_differ
from medjury.store.runs import GateRules
from medjury.tables import open_run, rating_table, with_rules

CASES, DEVELOPMENT = 60, 20


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty cases of three specialties, twenty of them for development, with ages and tokens that judges read."""
    items = [f"case-{number:04d}" for number in range(CASES)]
    parts = pl.DataFrame(
        {
            "item": items,
            "specialty": [
                ("surgery", "medicine", "neurology")[number * number % 3] for number in range(CASES)
            ],
            "age": [str(20 + number * 7 % 61) for number in range(CASES)],
        }
    )
    # What a judge read is split among the dimensions that it graded; one that follows from others took nothing.
    read = 400 + pl.col("item").str.slice(5).cast(pl.Int64) * 13 % 101
    own = [pl.col("dimension") == name for name in DIMENSIONS]
    share = pl.when(own[0]).then(read // 4).when(own[1]).then(read - read // 4).otherwise(0)
    frame = planted_frame(cases=CASES).with_columns(share.alias("tokens_in"))
    return write_run(
        tmp_path_factory.mktemp("corpus") / "run",
        frame,
        parts=parts,
        gate=rules(development_cases=tuple(items[:DEVELOPMENT])),
    )


def test_every_column_of_the_cases_is_described_and_what_the_gate_names_whatever_it_is() -> None:
    frame = planted_frame(cases=20).with_columns(
        pl.when(pl.col("item") < "case-0005")
        .then(pl.lit("3 notes"))
        .otherwise(pl.lit("5 notes"))
        .alias("notes_read"),
        ("bed " + pl.col("item")).alias("bed"),
    )
    table = rating_table(frame, scale=(1, 5))
    found = corpus(table)
    counts = {row.level: row.n for row in found.rows if row.characteristic == "notes_read"}
    assert counts == {"3 notes": 5, "5 notes": 15}
    assert not [row for row in found.rows if row.characteristic == "bed"]
    found = corpus(with_rules(table, GateRules(parts=("bed", "length", "system"))))
    assert len([row for row in found.rows if row.characteristic == "bed"]) == 20
    assert [row.characteristic for row in found.rows].count("system") == 0


def test_p_values_are_scipys(run: Path) -> None:
    found = corpus(open_run(run))
    ages = np.array([20 + number * 7 % 61 for number in range(CASES)], dtype=float)
    row = found.find(characteristic="age", group="held out")
    expected = stats.ttest_ind(ages[:DEVELOPMENT], ages[DEVELOPMENT:], equal_var=False)
    assert row.p_value == pytest.approx(expected.pvalue)
    counts = np.array([[12, 5, 9], [7, 14, 6]])
    assert chi_square(counts)[0] == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)
    sides = [np.array([1.0, 2, 4, 3]), np.array([2.0, 5, 6]), np.array([1.0, 1, 3])]
    assert means_differ(sides)[0] == pytest.approx(stats.f_oneway(*sides).pvalue)


def test_small_expected_counts_are_told() -> None:
    p, test = chi_square(np.array([[1, 9], [3, 7]]))
    assert p is not None and "expected counts from 2.0" in test


def test_systems_that_answered_the_same_cases_are_shown_and_not_tested() -> None:
    frame = planted_frame(cases=20, systems=("alpha", "beta")).with_columns(
        pl.when(pl.col("system") == "alpha").then(100.0).otherwise(200.0).alias("length")
    )
    found = corpus(rating_table(frame, scale=(1, 5)))
    assert found.groups == ("alpha", "beta")
    assert [row.median for row in found.rows if row.characteristic == "words of the answer"] == [100, 200]
    assert all(row.p_value is None for row in found.rows)
    assert "the groups share cases, so their differences are not tested" in found.warnings
