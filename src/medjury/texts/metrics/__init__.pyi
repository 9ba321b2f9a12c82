from ._beside_labels import (
    MetricBesideLabels as MetricBesideLabels,
)
from ._beside_labels import (
    MetricsBesideLabels as MetricsBesideLabels,
)
from ._beside_labels import (
    metrics_beside_labels as metrics_beside_labels,
)
from ._catalogue import (
    IMPACT_ESTIMATE as IMPACT_ESTIMATE,
)
from ._catalogue import (
    LEARNED as LEARNED,
)
from ._catalogue import (
    LEXICAL as LEXICAL,
)
from ._catalogue import (
    METRICS as METRICS,
)
from ._catalogue import (
    Metric as Metric,
)
from ._catalogue import (
    base_name as base_name,
)
from ._catalogue import (
    metric_named as metric_named,
)
from ._enrichment_figure import enrichment_figure as enrichment_figure
from ._impact.check import ImpactCheck as ImpactCheck
from ._impact.check import check_impact as check_impact
from ._impact.impact import Impact as Impact
from ._impact.impact import impact as impact
from ._impact.impact import impact_features as impact_features
from ._impact.model import (
    MODEL_FEATURES as MODEL_FEATURES,
)
from ._impact.model import (
    ImpactModel as ImpactModel,
)
from ._impact.model import (
    fit_impact_model as fit_impact_model,
)
from ._impact.model import (
    load_impact_model as load_impact_model,
)
from ._impact.model import (
    read_impact_model as read_impact_model,
)
from ._impact.model import (
    shipped_model as shipped_model,
)
from ._impact.pairs import ImpactPairs as ImpactPairs
from ._impact.pairs import impact_counts as impact_counts
from ._impact.pairs import impact_text as impact_text
from ._learned.embedding import sentence_embedder as sentence_embedder
from ._learned.learned import Kept as Kept
from ._learned.learned import models_of as models_of
from ._lexical.counts import kernels_in_use as kernels_in_use
from ._meta_evaluation import (
    MetricEvaluation as MetricEvaluation,
)
from ._meta_evaluation import (
    meta_content as meta_content,
)
from ._meta_evaluation import (
    meta_evaluate as meta_evaluate,
)
from ._meta_evaluation import (
    meta_text as meta_text,
)
from ._pairs import labels_of as labels_of
from ._pairs import read_pairs as read_pairs
from ._pairs import write_pairs as write_pairs
from ._score import score as score
from ._scored_pairs import (
    ScoredPairs as ScoredPairs,
)
from ._scored_pairs import (
    added_columns as added_columns,
)
from ._scored_pairs import (
    chosen_metrics as chosen_metrics,
)
from ._scored_pairs import (
    score_pairs as score_pairs,
)
from ._scores import MetricScores as MetricScores
