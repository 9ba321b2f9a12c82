"""Cost against performance: the front, and what a careful buyer takes."""

from __future__ import annotations

import polars as pl
import pytest
from tests.ranking.tables import benchmark_table, scores_of

from medjury.analysis.ranking._rank_scores import CostPoint, rank_scores
from medjury.foundation.errors import MedjuryError


def priced(costs: dict[str, float], **quality: float) -> tuple[CostPoint, ...]:
    return rank_scores(scores_of(benchmark_table(quality)), resamples=500, costs=costs).part("cost").rows


def test_the_published_costs_and_win_rates_of_nine_models() -> None:
    """MedHELM, tables 1 and 3: win rate and total cost in dollars."""
    published = {
        "DeepSeek R1": (0.66, 1806.17), "o3-mini": (0.64, 1722.04), "Claude 3.7 Sonnet": (0.64, 1536.64),
        "Claude 3.5 Sonnet": (0.63, 1570.88), "GPT-4o": (0.57, 1413.19), "Gemini 2.0 Flash": (0.42, 814.77),
        "GPT-4o mini": (0.39, 804.74), "Llama 3.3": (0.30, 939.58), "Gemini 1.5 Pro": (0.24, 1131.06),
    }  # fmt: skip
    rows = [(system, "all", rate) for system, (rate, _) in published.items()]
    scores = scores_of(pl.DataFrame(rows, schema=["system", "benchmark", "score"], orient="row"))
    costs = {name: cost for name, (_, cost) in published.items()}
    points = rank_scores(scores, resamples=0, costs=costs).part("cost").rows
    front = [point.system for point in points if point.on_front]
    assert front == ["GPT-4o mini", "Gemini 2.0 Flash", "GPT-4o", "Claude 3.7 Sonnet", "DeepSeek R1"]
    dominated = {point.system: point.dominated_by for point in points if not point.on_front}
    assert dominated == {
        "Llama 3.3": "GPT-4o mini", "Gemini 1.5 Pro": "GPT-4o mini",
        "Claude 3.5 Sonnet": "Claude 3.7 Sonnet", "o3-mini": "Claude 3.7 Sonnet",
    }  # fmt: skip


def test_the_cheapest_that_is_not_separated_from_the_best() -> None:
    points = {
        each.system: each
        for each in priced({"best": 10.0, "twin": 4.0, "cheap": 1.0}, best=0.30, twin=0.30, cheap=0.1)
    }
    assert points["twin"].cheapest_of_best and points["twin"].level_with_best
    assert not points["cheap"].level_with_best and points["cheap"].on_front


def test_unknown_costs_are_refused_for_unknown_is_not_zero() -> None:
    with pytest.raises(MedjuryError, match="no cost of the system 'b'"):
        priced({"a": 1.0}, a=0.1, b=0.2)
    with pytest.raises(MedjuryError, match="0 or more"):
        priced({"a": 1.0, "b": -1.0}, a=0.1, b=0.2)
    with pytest.raises(MedjuryError, match="'c', which is not among"):
        priced({"a": 1.0, "b": 1.0, "c": 1.0}, a=0.1, b=0.2)
