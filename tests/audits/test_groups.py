"""Group differences: Welch's t by cases, corrected for how many groups were looked at."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from medjury.analysis.audits import group_differences
from medjury.analysis.audits._groups import welch
from medjury.foundation.errors import MedjuryError

SPECIALTIES = ("cardiology", "neurology", "oncology", "surgery")


def rated(
    *, seed: int = 0, cases: int = 200, bias: float = 0.0, sicker: float = 0.0, systems: int = 2
) -> pl.DataFrame:
    """A judge and a clinician. `sicker` lowers both scores in oncology, `bias` the judge's alone."""
    generator = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        specialty = SPECIALTIES[case % 4]
        hard = generator.normal(0, 0.5)
        for system in range(systems):
            worth = 3 + hard - sicker * (specialty == "oncology") + generator.normal(0, 0.3)
            for rater in ("judge", "dr one"):
                score = (
                    worth + generator.normal(0, 0.3) - bias * (specialty == "oncology" and rater == "judge")
                )
                rows.append(
                    (f"c{case}", f"s{system}", rater, "quality", float(score), specialty, 20 + case % 60)
                )
    columns = ["item", "system", "rater", "dimension", "score", "specialty", "age"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_one_row_per_case_is_welchs_t_test() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.normal(0, 1, 15), generator.normal(1, 2, 22)
    found, p = welch(first, range(15), second, range(22))
    expected = stats.ttest_ind(first, second, equal_var=False)
    assert p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_rows_of_one_case_are_no_new_evidence() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.normal(0, 1, 15), generator.normal(0.5, 1, 22)
    once = welch(first, range(15), second, range(22))
    thrice = welch(
        np.repeat(first, 3),
        np.repeat(range(15), 3).tolist(),
        np.repeat(second, 3),
        np.repeat(range(22), 3).tolist(),
    )
    assert once[1] == pytest.approx(thrice[1] or 0)
    assert once[0].low == pytest.approx(thrice[0].low or 0)


def test_sicker_patients_are_a_difference_but_no_bias() -> None:
    found = group_differences(rated(sicker=0.8), ["specialty"], reference=["dr one"])
    group = "specialty: oncology − all others"
    assert found.find(statistic="group_difference", group=group).verdict == "scored lower"
    assert found.find(statistic="group_difference_beyond_reference", group=group).verdict == "not shown"


def test_a_bias_against_a_group_is_found() -> None:
    found = group_differences(rated(bias=0.3), ["specialty"], reference=["dr one"])
    finding = found.find(
        statistic="group_difference_beyond_reference", group="specialty: oncology − all others"
    )
    assert finding.verdict == "scored lower than the reference would"
    assert finding.estimate.value == pytest.approx(-0.3, abs=0.1)
    assert finding.rater == "judge" and len({each.rater for each in found.rows}) == 1


@pytest.mark.simulation
def test_where_there_is_nothing_nothing_is_found_as_often_as_promised() -> None:
    """Four specialties and three age bands at once: any false finding in about 5 % of the audits."""
    false = 0
    for seed in range(100):
        found = group_differences(
            rated(seed=seed, cases=60), ["specialty", "age"], bands={"age": [40, 60]}, raters=["judge"]
        )
        assert len(found.rows) == 7
        false += any(each.verdict != "not shown" for each in found.rows)
    assert false <= 11


def test_groups_without_any_spread_are_told_apart_by_permutation() -> None:
    """Twenty men all have 5 and twenty women all have 1: no t exists, and nothing could be clearer."""
    rows = [(f"c{k}", "judge", "quality", 5.0 if k < 20 else 1.0, "m" if k < 20 else "w") for k in range(40)]
    table = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score", "sex"], orient="row")
    found = group_differences(table, ["sex"]).rows[0]
    assert found.p_value == pytest.approx(2 / math.comb(40, 20)) and found.verdict == "scored higher"
    exact = stats.permutation_test(
        ([5.0] * 4, [1.0] * 3), lambda x, y: np.mean(x) - np.mean(y), n_resamples=np.inf
    )
    p = welch(np.full(4, 5.0), range(4), np.full(3, 1.0), range(4, 7))[1]
    assert p == pytest.approx(exact.pvalue) == pytest.approx(2 / 35)
    assert welch(np.full(4, 5.0), range(4), np.full(4, 5.0), range(4, 8))[1] == 1.0
    assert welch(np.full(4, 5.0), range(4), np.full(4, 1.0), range(4))[1] is None


def test_two_levels_are_one_comparison() -> None:
    found = group_differences(rated(), ["age"], bands={"age": [50]}, raters=["judge"])
    assert [each.group for each in found.rows] == ["age: < 50 − ≥ 50"]


def test_groups_may_come_from_the_cases() -> None:
    sex = {f"c{case}": "female" if case % 3 else "male" for case in range(199)}
    found = group_differences(rated(), {"sex": sex}, raters=["judge"])
    assert [each.group for each in found.rows] == ["sex: female − male"]
    assert found.warnings == ("1 of 200 items have no sex and are left out of it",)


def test_a_small_group_is_reported_not_tested() -> None:
    rare = pl.when(pl.col("item").is_in(["c0", "c1"])).then(pl.lit("rare")).otherwise(pl.col("specialty"))
    found = group_differences(rated().with_columns(rare.alias("specialty")), ["specialty"], raters=["judge"])
    finding = found.find(statistic="group_difference", group="specialty: rare − all others")
    assert finding.p_adjusted is None and "at least 10" in finding.estimate.reason


def test_what_cannot_be_grouped_is_refused() -> None:
    with pytest.raises(MedjuryError, match="no column 'sex'"):
        group_differences(rated(cases=8), ["sex"])
    with pytest.raises(MedjuryError, match="needs two"):
        group_differences(rated(cases=8).with_columns(pl.lit("one").alias("specialty")), ["specialty"])
    with pytest.raises(MedjuryError, match="Cut a number into bands"):
        group_differences(rated(), ["age"])
    with pytest.raises(MedjuryError, match="is not a number"):
        group_differences(rated(cases=8), ["specialty"], bands={"specialty": [3]})
    twice = rated(cases=8).with_columns(pl.Series("specialty", ["a", "b"] * 16))
    with pytest.raises(MedjuryError, match="has 2 values in the column 'specialty'"):
        group_differences(twice, ["specialty"])


def test_a_group_of_exactly_the_smallest_size_is_tested_and_a_cut_belongs_to_the_band_above_it() -> None:
    rows = [(f"c{k}", "judge", "quality", float(k % 3), 40 if k < 10 else 39) for k in range(20)]
    table = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score", "age"], orient="row")
    found = group_differences(table, ["age"], bands={"age": [40]}).rows[0]
    assert found.group == "age: < 40 − ≥ 40" and found.estimate.defined
    nine = group_differences(table.head(19), ["age"], bands={"age": [40]}).rows[0]
    assert "9 cases on one side; at least 10" in nine.estimate.reason
