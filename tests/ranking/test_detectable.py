"""The smallest detectable difference: the formula, and that it is what can be detected."""

from __future__ import annotations

import statistics

import numpy as np
import polars as pl
import pytest
from tests.ranking.tables import benchmark_table, rating_table, scores_of

from medjury.analysis.ranking import rank
from medjury.analysis.ranking._rank_scores import detectable_effects
from medjury.foundation.errors import MedjuryError


def items(scores: dict[str, list[float]]) -> pl.DataFrame:
    rows = [(system, "b", str(k), score) for system, each in scores.items() for k, score in enumerate(each)]
    return pl.DataFrame(rows, schema=["system", "benchmark", "item", "score"], orient="row")


def test_the_formula_by_hand() -> None:
    scores = {"A": [1.0, 2.0, 3.0, 5.0], "B": [1.0, 1.0, 4.0, 4.0], "C": [2.0, 2.0, 2.0, 2.0]}
    found = detectable_effects(scores_of(items(scores)))[0]
    factor = (1.959964 + 0.841621) / 2
    sizes = [
        factor * statistics.stdev(x - y for x, y in zip(scores[one], scores[other], strict=True))
        for one, other in ("AB", "AC", "BC")
    ]
    assert found.mde == pytest.approx(statistics.fmean(sizes), rel=1e-6)
    assert found.mde_sd == pytest.approx(statistics.stdev(sizes), rel=1e-6)
    assert found.largest == pytest.approx(max(sizes)) and found.largest_pair == ("B", "C")
    assert (found.n, found.pairs, found.beyond) == (4, 3, 0)


def test_a_difference_of_that_size_is_detected_four_times_in_five() -> None:
    generator = np.random.default_rng(0)
    detected = []
    for _ in range(400):
        difference = generator.normal(0.3, 1.0, 88)  # (1.96 + 0.84)/√88 = 0.2986
        detected.append(abs(difference.mean()) > 1.96 * difference.std(ddof=1) / np.sqrt(88))
    assert np.mean(detected) == pytest.approx(0.8, abs=0.05)
    table = items({"A": generator.normal(0.3, 1.0, 88).tolist(), "B": [0.0] * 88})
    assert detectable_effects(scores_of(table))[0].mde == pytest.approx(0.3, abs=0.04)


def test_every_dimension_of_ratings_has_its_own() -> None:
    found = detectable_effects(scores_of(rating_table({"A": 0.0, "B": 1.5}, cases=50)))
    assert [each.benchmark for each in found] == ["accuracy", "clarity"]
    assert all(each.beyond == 1 and each.n == 50 for each in found)


def test_without_items_it_is_refused() -> None:
    with pytest.raises(MedjuryError, match="add a column `item`"):
        detectable_effects(scores_of(benchmark_table({"A": 0.0, "B": 0.1})))
    with pytest.raises(MedjuryError, match="share 1 scored cases on 'b'"):
        detectable_effects(scores_of(items({"A": [1.0], "B": [2.0]})))
    with pytest.raises(MedjuryError, match="between 0 and 1"):
        detectable_effects(scores_of(items({"A": [1.0, 2.0], "B": [2.0, 2.0]})), power=1.0)


@pytest.mark.parametrize(
    ("cases", "reason"),
    [(4, "4 cases are too few to tell, 10 are needed"), (12, "two systems differ by the same amount")],
)
def test_a_ranking_does_not_tell_what_too_few_cases_could_detect(cases: int, reason: str) -> None:
    found = rank(items({"A": [2.0] * cases, "B": [1.0] * cases}), resamples=50)
    assert found.detectable is None
    assert any("the smallest detectable difference is not stated for b" in each and reason in each
               for each in found.warnings)  # fmt: skip
    with pytest.raises(MedjuryError, match="10 cases or more"):
        found.part("detectable")
