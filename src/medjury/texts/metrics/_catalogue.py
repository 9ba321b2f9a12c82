"""The catalogue of metrics: their names, which way is better, and to which family they belong."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError

Family = Literal["edit distance", "n-gram overlap", "learned"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name; `higher_is_better` says how to read it. `variant_of` names the metric of ours that a
    paper computed in this other way: such a one is computed only where it is named."""

    name: str
    title: str
    family: Family
    higher_is_better: bool
    variant_of: str = ""

    def oriented(self, value: float) -> float:
        """The value such that higher is better; error rates become 1 − rate."""
        return value if self.higher_is_better else 1.0 - value


METRICS = {
    metric.name: metric
    for metric in (
        Metric("wer", "WER", "edit distance", False),
        Metric("cer", "CER", "edit distance", False),
        Metric("mer", "MER", "edit distance", False),
        Metric("wil", "WIL", "edit distance", False),
        Metric("semantic_wer", "semantic-weighted WER", "edit distance", False),
        *(Metric(f"bleu_{n}", f"BLEU-{n}", "n-gram overlap", True) for n in (1, 2, 3, 4)),
        Metric("rouge_1", "ROUGE-1", "n-gram overlap", True),
        Metric("rouge_2", "ROUGE-2", "n-gram overlap", True),
        Metric("rouge_l", "ROUGE-L", "n-gram overlap", True),
        Metric("rouge_w", "ROUGE-W", "n-gram overlap", True),
        Metric("rouge_w_ellis", "ROUGE-W of Ellis et al.", "n-gram overlap", True, "rouge_w"),
        Metric("chrf", "chrF", "n-gram overlap", True),
        Metric("chrf++", "chrF++", "n-gram overlap", True),
        Metric("meteor", "METEOR", "n-gram overlap", True),
        Metric("bert_score", "BERTScore", "learned", True),
        Metric("sbert", "SBERT similarity", "learned", True),
        Metric("simcse", "SimCSE similarity", "learned", True),
        Metric("nli", "NLI, both directions", "learned", True),
        Metric("bart_score", "BARTScore", "learned", True),
        Metric("bleurt", "BLEURT", "learned", True),
        Metric("clinical_bleurt", "ClinicalBLEURT", "learned", True),
        Metric("sema_score", "SeMaScore", "learned", True),
        Metric("heval", "HEVAL", "learned", False),
        Metric("intelligibility", "intelligibility", "learned", True),
        Metric("semantic_wer_ellis", "S-WER of Ellis et al.", "learned", False, "semantic_wer"),
    )
}
LEXICAL = tuple(
    name for name, metric in METRICS.items() if metric.family != "learned" and not metric.variant_of
)
LEARNED = tuple(name for name, metric in METRICS.items() if metric.family == "learned")
# The detector's estimate of clinical impact, from 0 to 2: a rater beside the metrics, computed by `impact` with the
# question before, and so none of those that compare two texts alone.
IMPACT_ESTIMATE = Metric("impact_estimate", "impact estimate", "learned", False)
# Names under which metrics are known elsewhere.
ALIASES = {"swer": "semantic_wer", "chrfpp": "chrf++", "chrfplusplus": "chrf++", "bertscore": "bert_score"}


def metric_named(name: str) -> Metric:
    """The metric of this name, written in any of the usual ways: "BLEU-1", "bleu_1", "chrF++", "SeMaScore". Learned
    ones may be told apart by their model: "nli@small"."""
    base, at, label = name.partition("@")
    plain = _plain(base)
    known = {_plain(each): each for each in METRICS} | ALIASES
    if plain not in known:
        raise MedjuryError(f"There is no metric {name!r}; {nearest(base.lower(), list(METRICS))}")
    metric = METRICS[known[plain]]
    if not at:
        return metric
    if metric.family != "learned" or not re.fullmatch(r"[A-Za-z0-9._-]+", label):
        raise MedjuryError(
            f"{name!r}: only a learned metric has models to tell apart, by a word such as nli@small"
        )
    return replace(metric, name=f"{metric.name}@{label}", title=f"{metric.title}, {label}")


def base_name(name: str) -> str:
    """The metric's name without that of its model."""
    return name.partition("@")[0]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9+]", "", name.lower())
