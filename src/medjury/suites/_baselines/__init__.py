"""Baselines: what trivial answers score, where they are right, and whether a model knows a benchmark by heart."""

from medjury.suites._baselines._beats import (
    SAYS_NOTHING,
    AgainstBaseline,
    BaselineScore,
    above_baseline,
    baseline_scores,
    beats,
    beats_baseline,
    decided_without_reading,
    mean_score,
    trivial_answers,
    without_items,
)
from medjury.suites._baselines._completion import CompletionProbe, completion_probe
from medjury.suites._baselines._exchangeability import ExchangeabilityTest, exchangeability_test
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
