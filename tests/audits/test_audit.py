"""What an audit returns can be read, tabulated and stored without loss."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil

import polars as pl
import pytest

from medjury.analysis import audits
from medjury.analysis.audits import Audit
from medjury.analysis.audits._finding import Finding
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
