"""Metrics: how far a text is from its reference, and what the difference means to a clinician."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.metrics._beside_labels import MetricBesideLabels, MetricsBesideLabels, metrics_beside_labels
    from medjury.metrics._catalogue import (
        IMPACT_ESTIMATE,
        LEARNED,
        LEXICAL,
        METRICS,
        Metric,
        base_name,
        metric_named,
    )
    from medjury.metrics._enrichment_figure import enrichment_figure
    from medjury.metrics._impact.check import ImpactCheck, check_impact
    from medjury.metrics._impact.impact import Impact, impact, impact_features
    from medjury.metrics._impact.model import (
        MODEL_FEATURES,
        ImpactModel,
        fit_impact_model,
        load_impact_model,
        read_impact_model,
        shipped_model,
    )
    from medjury.metrics._impact.pairs import ImpactPairs, impact_counts, impact_text
    from medjury.metrics._learned.embedding import sentence_embedder
    from medjury.metrics._learned.learned import Kept, models_of
    from medjury.metrics._lexical.counts import kernels_in_use
    from medjury.metrics._meta_evaluation import MetricEvaluation, meta_content, meta_evaluate, meta_text
    from medjury.metrics._pairs import labels_of, read_pairs, write_pairs
    from medjury.metrics._score import score
    from medjury.metrics._scored_pairs import ScoredPairs, added_columns, chosen_metrics, score_pairs
    from medjury.metrics._scores import MetricScores

__all__ = [
    "IMPACT_ESTIMATE",
    "LEARNED",
    "LEXICAL",
    "METRICS",
    "MODEL_FEATURES",
    "Impact",
    "ImpactCheck",
    "ImpactModel",
    "ImpactPairs",
    "Kept",
    "Metric",
    "MetricBesideLabels",
    "MetricEvaluation",
    "MetricScores",
    "MetricsBesideLabels",
    "ScoredPairs",
    "added_columns",
    "base_name",
    "check_impact",
    "chosen_metrics",
    "enrichment_figure",
    "fit_impact_model",
    "impact",
    "impact_counts",
    "impact_features",
    "impact_text",
    "kernels_in_use",
    "labels_of",
    "load_impact_model",
    "meta_content",
    "meta_evaluate",
    "meta_text",
    "metric_named",
    "metrics_beside_labels",
    "models_of",
    "read_impact_model",
    "read_pairs",
    "score",
    "score_pairs",
    "sentence_embedder",
    "shipped_model",
    "write_pairs",
]
