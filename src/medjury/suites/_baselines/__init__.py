"""Baselines: what trivial answers score, where they are right, and whether a model knows a benchmark by heart."""

from medjury.suites._baselines._beats import AgainstBaseline, above_baseline, beats, beats_baseline
from medjury.suites._baselines._completion import CompletionProbe, completion_probe
from medjury.suites._baselines._exchangeability import ExchangeabilityTest, exchangeability_test
from medjury.suites._baselines._scores import (
    BaselineScore,
    baseline_scores,
    decided_without_reading,
    mean_score,
    without_items,
)
from medjury.suites._baselines._trivial import SAYS_NOTHING, trivial_answers
from medjury.suites._baselines._unanswerable import (
    CandidateEffect,
    UnanswerableEffect,
    effect_of_unanswerable,
)

__all__ = [
    "SAYS_NOTHING",
    "AgainstBaseline",
    "BaselineScore",
    "CandidateEffect",
    "CompletionProbe",
    "ExchangeabilityTest",
    "UnanswerableEffect",
    "above_baseline",
    "baseline_scores",
    "beats",
    "beats_baseline",
    "completion_probe",
    "decided_without_reading",
    "effect_of_unanswerable",
    "exchangeability_test",
    "mean_score",
    "trivial_answers",
    "without_items",
]
