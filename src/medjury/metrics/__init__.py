"""Metrics: how far a text is from its reference, and what the difference means to a clinician."""

from medjury.metrics._catalogue import LEARNED, LEXICAL, METRICS, Metric, metric_named
from medjury.metrics._counts import kernels_in_use
from medjury.metrics._embedding import sentence_embedder
from medjury.metrics._enrichment_figure import enrichment_figure
from medjury.metrics._impact import Impact, impact, impact_features
from medjury.metrics._impact_check import ImpactCheck, check_impact
from medjury.metrics._impact_model import (
    MODEL_FEATURES,
    ImpactModel,
    fit_impact_model,
    read_impact_model,
    shipped_model,
)
from medjury.metrics._meta_evaluation import MetricEvaluation, meta_evaluate
from medjury.metrics._pairs import labels_of, read_pairs, write_pairs
from medjury.metrics._score import score
from medjury.metrics._scores import Scores

__all__ = [
    "LEARNED",
    "LEXICAL",
    "METRICS",
    "MODEL_FEATURES",
    "Impact",
    "ImpactCheck",
    "ImpactModel",
    "Metric",
    "MetricEvaluation",
    "Scores",
    "check_impact",
    "enrichment_figure",
    "fit_impact_model",
    "impact",
    "impact_features",
    "kernels_in_use",
    "labels_of",
    "meta_evaluate",
    "metric_named",
    "read_impact_model",
    "read_pairs",
    "score",
    "sentence_embedder",
    "shipped_model",
    "write_pairs",
]
