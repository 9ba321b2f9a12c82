from ._beside_labels import (
    MetricBesideLabels as MetricBesideLabels,
    MetricsBesideLabels as MetricsBesideLabels,
    metrics_beside_labels as metrics_beside_labels,
)
from ._catalogue import (
    IMPACT_ESTIMATE as IMPACT_ESTIMATE,
    LEARNED as LEARNED,
    LEXICAL as LEXICAL,
    METRICS as METRICS,
    Metric as Metric,
    base_name as base_name,
    metric_named as metric_named,
)
from ._enrichment_figure import enrichment_figure as enrichment_figure
from ._impact.check import ImpactCheck as ImpactCheck, check_impact as check_impact
from ._impact.impact import Impact as Impact, impact as impact, impact_features as impact_features
from ._impact.model import (
    MODEL_FEATURES as MODEL_FEATURES,
    ImpactModel as ImpactModel,
    fit_impact_model as fit_impact_model,
    load_impact_model as load_impact_model,
    read_impact_model as read_impact_model,
    shipped_model as shipped_model,
)
from ._impact.pairs import ImpactPairs as ImpactPairs, impact_counts as impact_counts, impact_text as impact_text
from ._learned.embedding import sentence_embedder as sentence_embedder
from ._learned.learned import Kept as Kept, models_of as models_of
from ._lexical.counts import kernels_in_use as kernels_in_use
from ._meta_evaluation import (
    MetricEvaluation as MetricEvaluation,
    meta_content as meta_content,
    meta_evaluate as meta_evaluate,
    meta_text as meta_text,
)
from ._pairs import labels_of as labels_of, read_pairs as read_pairs, write_pairs as write_pairs
from ._score import score as score
from ._scored_pairs import (
    ScoredPairs as ScoredPairs,
    added_columns as added_columns,
    chosen_metrics as chosen_metrics,
    score_pairs as score_pairs,
)
from ._scores import MetricScores as MetricScores
