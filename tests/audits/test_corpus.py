"""The corpus table: counts, lengths and tests, against scipy; groups that share cases are not tested."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.report.planted import DIMENSIONS, planted_frame, rules, write_run

from medjury.analysis.audits import corpus
from medjury.analysis.audits._corpus import chi_square, means_differ
from medjury.cli import main
from medjury.report import write_page
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


def test_counts_and_medians_are_those_of_the_answers(run: Path) -> None:
    found = corpus(open_run(run))
    assert found.groups == ("development", "held out")
    assert [row.n for row in found.rows if row.characteristic == "answers"] == [
        DEVELOPMENT,
        CASES - DEVELOPMENT,
    ]
    levels = [("surgery", "medicine", "neurology")[number * number % 3] for number in range(CASES)]
    for group, part in (("development", levels[:DEVELOPMENT]), ("held out", levels[DEVELOPMENT:])):
        row = found.find(characteristic="specialty", level="surgery", group=group)
        assert (row.n, row.share) == (part.count("surgery"), pytest.approx(part.count("surgery") / len(part)))
    read = [400 + number * 13 % 101 for number in range(CASES)]
    row = found.find(characteristic="tokens judges read", group="held out")
    assert [row.median, row.q1, row.q3] == pytest.approx(np.quantile(read[DEVELOPMENT:], [0.5, 0.25, 0.75]))


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


def test_command_and_report_say_the_same(run: Path) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main(["audit", str(run), "--corpus", "--json"]) == 0
    said = json.loads(out.getvalue())
    write_page(run)
    lines = pl.read_csv(run / "tables" / "corpus.csv", infer_schema_length=None)
    shown = {line["characteristic"]: line for line in lines.iter_rows(named=True)}
    for row in said:
        name = f"{row['characteristic']}: {row['level']}" if row["level"] else row["characteristic"]
        cell = str(shown[name][row["group"]])
        assert cell.startswith(f"{row['n'] if row['median'] is None else round(row['median']):,}"), name
