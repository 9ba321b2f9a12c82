"""Whatever the ratings, the table holds numbers or reasons: never a NaN, never an exception but a clear refusal."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.analysis.agreement import agreement
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

RATERS = ("r0", "r1", "r2", "r3", "r4")
SCORES = st.sampled_from(
    [
        (None, 1.0, 2.0, 3.0, 4.0, 5.0),
        (1.0, 3.0, 3.0, 3.0, 5.0, 2.5),
        (None, 0.0, 1.0, 1.0),
        (1.0, 2.0, 3.0, 4.0, 9.0, float("nan"), float("inf")),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Five raters, up to six items, one system or two, holes and dirt."""
    scores = st.sampled_from(draw(SCORES))
    systems = draw(st.sampled_from([("",), ("a", "b")]))
    rows = [
        {"item": f"i{item}", "system": system, "rater": rater, "dimension": "q", "score": draw(scores)}
        for rater in RATERS
        for item in range(draw(st.integers(1, 6)))
        for system in systems
    ]
    return pl.DataFrame(rows, schema_overrides={"score": pl.Float64})


@settings(max_examples=15, deadline=None)
@given(
    tables(),
    st.sampled_from([None, (0, 5)]),
    st.sampled_from(["mean", "majority"]),
    st.booleans(),
    st.booleans(),
)
def test_any_table_gives_numbers_or_reasons(
    frame: pl.DataFrame, scale: tuple[int, int] | None, rule: str, several: bool, panel: bool
) -> None:
    systems = frame["system"].n_unique() > 1
    try:
        table = agreement(
            rating_table(frame, scale=scale, jury=None if several else rule),
            reference=RATERS[:3] if several else RATERS[0],
            level="both" if systems else "item",
            by="system" if systems and panel else "dimension",
            consensus=rule,
            panel=RATERS[-1] if panel else None,
            severe="q",
            threshold=2,
            gap=2,
            margin=0.1 if several else None,
            resamples=20,
        )
    except MedjuryError as error:
        assert "the scale is probably wrong" in str(error)
        return
    rows = json.loads(table.to_json(), parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert rows
    for row in rows:
        assert (row["value"] is None) == bool(row["reason"])
        if row["low"] is not None and row["high"] is not None:
            assert row["low"] <= row["high"] + 1e-9
    assert table.text()
