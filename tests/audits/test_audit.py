"""What an audit returns can be read, tabulated and stored without loss."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medjury.analysis import audits
from medjury.analysis.audits import Audit
from medjury.analysis.audits._finding import Finding, adjust, adjusted
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined

FOUND = Audit(
    "example",
    (
        Finding(
            "slope",
            Estimate(0.5, 0.1, 0.9, 20, "least squares"),
            "ada",
            "risk",
            "length",
            2,
            0.01,
            0.02,
            "rewards it",
            audit="example",
        ),
        Finding(
            "slope", undefined("no spread", 20, "least squares"), "bob", "risk", "length", audit="example"
        ),
    ),
    40,
    2,
    "a method",
    ("mind the gap",),
)


def test_the_table_keeps_undefined_values_empty() -> None:
    table = FOUND.frame()
    assert table["value"].to_list() == [0.5, None] and table["reason"].to_list() == ["", "no spread"]
    assert table.schema["p_value"] == pl.Float64 and table.columns[:4] == [
        "audit",
        "statistic",
        "rater",
        "dimension",
    ]
    assert Audit("nothing", (), 0, 0, "").frame().columns == table.columns


def test_json_holds_everything() -> None:
    rows = json.loads(FOUND.to_json())
    assert rows[0]["p_adjusted"] == 0.02 and rows[1]["value"] is None and rows[0]["audit"] == "example"
    assert FOUND.warnings == ("mind the gap",) and FOUND.n_unscored == 2


@pytest.mark.parametrize(
    "module", [each.name for each in pkgutil.walk_packages(audits.__path__, f"{audits.__name__}.")]
)
def test_examples_in_the_documentation_of_the_code_are_true(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


# P-values are corrected together, as other implementations do it.


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(p_values=P_VALUES)
def test_holm_by_its_definition(p_values: list[float]) -> None:
    """The k-th smallest is multiplied by how many are not smaller; none falls below a smaller one's."""
    ordered = sorted(p_values)
    expected = [
        min(1.0, max(ordered[j] * (len(ordered) - j) for j in range(ordered.index(p) + 1))) for p in p_values
    ]
    found = adjust(p_values)
    # Equal p-values share the largest multiplier among them, whatever their order.
    assert [
        min(found[k] or 0 for k in range(len(found)) if p_values[k] == p) for p in p_values
    ] == pytest.approx(expected)


@given(p_values=P_VALUES)
def test_benjamini_hochberg_equals_scipy(p_values: list[float]) -> None:
    assert adjust(p_values, "benjamini_hochberg") == pytest.approx(
        stats.false_discovery_control(p_values).tolist()
    )


def test_holm_on_the_textbook_example() -> None:
    assert adjust([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(p_values=P_VALUES, place=st.integers(0, 30))
def test_a_missing_p_value_is_no_comparison(p_values: list[float], place: int) -> None:
    with_gap: list[float | None] = [*p_values]
    with_gap.insert(place, None)
    adjusted = adjust(with_gap)
    assert [each for each in adjusted if each is not None] == adjust(p_values)


@given(p_values=P_VALUES)
def test_holm_is_the_stricter_one(p_values: list[float]) -> None:
    pairs = zip(
        adjust(p_values), adjust(p_values, "benjamini_hochberg"), adjust(p_values, "none"), strict=True
    )
    assert all((holm or 0) >= (fdr or 0) - 1e-12 >= (none or 0) - 2e-12 for holm, fdr, none in pairs)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(MedjuryError, match="holm, benjamini_hochberg, none"):
        adjust([0.1], "sidak")  # type: ignore[arg-type]


def test_a_p_value_at_the_level_is_shown_and_one_above_it_is_not() -> None:
    estimate = Estimate(-1.0, -2.0, 0.0, 10, "made up")
    findings = [Finding("tested", estimate, p_value=p) for p in (0.05, 0.051)]
    findings.append(Finding("described", estimate, p_value=0.001))
    words = {"tested": ("up", "down", "not shown")}
    made = adjusted(findings, "none", confidence=0.95, verdicts=words)
    assert [each.verdict for each in made] == ["down", "not shown", ""]
    assert [each.stands_out for each in made] == [True, False, False]
    assert made[2] == findings[2]


def test_families_are_corrected_apart() -> None:
    estimate = Estimate(1.0, 0.5, 2.0, 10, "made up")
    findings = [Finding("tested", estimate, rater=rater, p_value=0.04) for rater in ("", "ada", "bob")]
    words = {"tested": ("up", "down", "not shown")}
    together = adjusted(findings, "holm", confidence=0.95, verdicts=words)
    apart = adjusted(findings, "holm", confidence=0.95, verdicts=words, family=lambda each: each.rater == "")
    assert [each.p_adjusted for each in together] == pytest.approx([0.12] * 3)
    assert [each.p_adjusted for each in apart] == pytest.approx([0.04, 0.08, 0.08])
