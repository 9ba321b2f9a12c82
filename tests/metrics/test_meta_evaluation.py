"""Meta-evaluation: enrichment and rank correlation of metrics against labels, with intervals by call."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.report import enrichment_svg
from medjury.texts.metrics import MetricEvaluation, meta_evaluate


def only(*given: Any, **how: Any) -> MetricEvaluation:
    (found,) = meta_evaluate(*given, **how).rows
    return found


def test_enrichment_is_the_difference_of_means_on_oriented_scores() -> None:
    found = meta_evaluate(
        {"wer": [0.1, 0.3, 0.5, 0.9], "chrf": [0.9, 0.7, 0.5, 0.1]}, [0, 0, 1, 2], resamples=0
    )
    assert [each.enrichment.value for each in found.rows] == pytest.approx([-0.7, -0.7])
    assert [each.kendall_tau_b.value for each in found.rows] == pytest.approx([5 / 30**0.5, -5 / 30**0.5])


def test_undefined_values_do_not_count_and_are_counted() -> None:
    found = only({"wer": [0.1, None, 0.9]}, [0, 0, 2], resamples=0)
    assert found.enrichment.value == pytest.approx(-0.8)
    assert (found.enrichment.n, found.n_undefined) == (2, 1)


def test_without_one_of_the_classes_enrichment_is_undefined() -> None:
    found = only({"wer": [0.1, 0.2]}, [0, 1], resamples=0)
    assert found.enrichment.value is None and found.enrichment.reason


def test_intervals_resample_whole_calls() -> None:
    generator = np.random.default_rng(0)
    labels = np.repeat(generator.integers(0, 3, 30), 10)
    scores = 1.0 - 0.3 * labels + np.repeat(generator.normal(0, 0.2, 30), 10)
    calls = np.repeat(np.arange(30), 10).tolist()

    def width(clusters: list[int] | None) -> float:
        found = only({"chrf": scores}, labels.tolist(), clusters=clusters, resamples=500)
        assert found.enrichment.low is not None and found.enrichment.high is not None
        return found.enrichment.high - found.enrichment.low

    assert width(calls) > 1.5 * width(None)


@pytest.mark.parametrize(("pairs", "of_each"), [(50, 1), (49, 1), (50, 5), (49, 5)])
def test_enrichment_needs_fifty_pairs(pairs: int, of_each: int) -> None:
    labels = np.arange(pairs) % 3
    scores = 1.0 - 0.3 * labels + np.random.default_rng(0).normal(0, 0.2, pairs)
    whose = (np.arange(pairs) // of_each).tolist()
    found = only({"chrf": scores}, labels.tolist(), clusters=whose, resamples=200)
    said = "no interval: 49 pairs are too few, at least 50 are needed" if pairs == 49 else ""
    assert found.enrichment.value is not None and (found.enrichment.low is None) == bool(said)
    assert found.enrichment.method.startswith(said)


def test_wrong_labels_and_lengths_are_refused() -> None:
    with pytest.raises(MedjuryError, match="0, 1 and 2"):
        meta_evaluate({"wer": [0.1]}, [3])
    with pytest.raises(MedjuryError, match="wer has 1 values for 2 labels"):
        meta_evaluate({"wer": [0.1]}, [0, 2])


def test_the_figure_has_a_bar_for_every_metric_that_has_a_value() -> None:
    values = {"wer": [0.1, 0.2, 0.8, 0.9], "chrf": [0.9, 0.8, 0.3, 0.2], "nli": [None] * 4}
    found = meta_evaluate(values, [0, 0, 2, 2], resamples=200)
    tree = ElementTree.fromstring(enrichment_svg(found.rows))
    texts = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert "WER" in texts and "chrF" in texts and "NLI, both directions" not in texts
    assert ElementTree.fromstring(enrichment_svg([])).tag.endswith("svg")
