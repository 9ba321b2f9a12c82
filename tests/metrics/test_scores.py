"""Scores: undefined is explicit, with a reason, and never a number."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import MetricScores, metric_named, score
from medjury.texts.metrics._catalogue import METRICS


def test_the_table_has_nulls_and_says_why() -> None:
    frame = score(["no pain", ""], ["no pain", "pain"], ["wer", "chrf"]).frame()
    assert frame["wer"].to_list() == [0.0, None]
    assert frame["undefined"].to_list() == ["", "wer, chrf: the reference has no words"]


def test_the_mean_is_over_what_is_defined() -> None:
    scores = score(["a b", "", "c"], ["a x", "y", "c"], ["wer"])
    assert scores.mean("wer") == 0.25
    assert score([""], [""], ["wer"]).mean("wer") is None


def test_a_value_without_a_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="undefined without a reason"):
        MetricScores({"wer": np.array([np.nan])}, {})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("WER", "wer"), ("BLEU-1", "bleu_1"), ("bleu1", "bleu_1"), ("ROUGE-L", "rouge_l"), ("chrF++", "chrf++"),
        ("S-WER", "semantic_wer"), ("BERTScore", "bert_score"), ("SeMaScore", "sema_score"), ("METEOR", "meteor"),
    ],
)  # fmt: skip
def test_metrics_are_known_under_their_usual_names(written: str, name: str) -> None:
    assert metric_named(written).name == name


def test_an_unknown_metric_is_named_with_the_nearest() -> None:
    with pytest.raises(MedjuryError, match="no metric 'blue_1'; did you mean 'bleu_1'"):
        score(["a"], ["a"], ["blue_1"])


def test_error_rates_are_turned_round_to_compare() -> None:
    assert METRICS["wer"].oriented(0.25) == 0.75
    assert METRICS["chrf"].oriented(0.25) == 0.25


def test_meteor_says_which_matches_it_made() -> None:
    note = score(["a"], ["a"], ["meteor"]).notes["meteor"]
    assert note.startswith("exact") and "stem" in note and "WordNet" in note
