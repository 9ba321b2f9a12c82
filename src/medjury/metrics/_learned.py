"""Which model each learned metric uses, and scoring pairs with them; every model is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.metrics import _learned_metrics as formulas
from medjury.metrics._catalogue import metric_named
from medjury.metrics._neural import Kind, Loaded, load
from medjury.metrics._word_vectors import pooling_of

NO_REFERENCE = "the reference has no words"
NO_HYPOTHESIS = "nothing was recognised, and a learned metric compares two texts"
# The models of the paper on clinical recognition errors, where they are named there.
DEFAULT_MODELS = {
    "bert_score": "microsoft/deberta-large-mnli",
    "sbert": "sentence-transformers/all-MiniLM-L6-v2",
    "simcse": "princeton-nlp/sup-simcse-bert-base-uncased",
    "nli": "cross-encoder/nli-deberta-v3-base",
    "bart_score": "facebook/bart-large-cnn",
    "bleurt": "Elron/bleurt-base-128",
    "sema_score": "microsoft/deberta-large-mnli",
    "heval": "FacebookAI/roberta-base",
    "intelligibility": "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli",
}

Found = tuple[NDArray[np.float64], dict[int, str], str]
Loader = Callable[[str | Path, Kind], Loaded]


def learned_scores(
    references: Sequence[str],
    hypotheses: Sequence[str],
    metrics: Sequence[str],
    *,
    models: Mapping[str, str | Path],
    device: str | None,
    allow_download: bool,
) -> dict[str, Found]:
    """Values, reasons where undefined, and the model used, for every wanted learned metric."""
    chosen: dict[str, str | Path] = {**DEFAULT_MODELS}
    chosen |= {metric_named(name).name: model for name, model in models.items()}
    reasons = {
        row: NO_REFERENCE if not said.split() else NO_HYPOTHESIS
        for row, (said, heard) in enumerate(zip(references, hypotheses, strict=True))
        if not said.split() or not heard.split()
    }
    rows = [row for row in range(len(references)) if row not in reasons]
    said, heard = [references[row] for row in rows], [hypotheses[row] for row in rows]
    loaded: dict[tuple[str, Kind], Loaded] = {}

    def model_of(name: str | Path, kind: Kind) -> Loaded:
        key = (str(name), kind)
        if key not in loaded:
            loaded[key] = load(name, kind, device=device, allow_download=allow_download)
        return loaded[key]

    found: dict[str, Found] = {}
    for metric in metrics:
        values = np.full(len(references), np.nan)
        if rows:
            values[rows] = SCORERS[metric](said, heard, chosen[metric], model_of)
        found[metric] = values, dict(reasons), f"model {chosen[metric]}"
    return found


def _intelligibility(said: Sequence[str], heard: Sequence[str], model: str | Path, get: Loader) -> Any:
    entailment = formulas.mutual_entailment(said, heard, get(model, "classifier"))
    meaning = formulas.bert_score(said, heard, get(model, "encoder"))
    return formulas.intelligibility(said, heard, entailment, meaning)


SCORERS: dict[str, Callable[[Sequence[str], Sequence[str], str | Path, Loader], Any]] = {
    "bert_score": lambda r, h, model, get: formulas.bert_score(r, h, get(model, "encoder")),
    "sbert": lambda r, h, model, get: formulas.sentence_similarity(
        r, h, get(model, "encoder"), pooling_of(model)
    ),
    "simcse": lambda r, h, model, get: formulas.sentence_similarity(r, h, get(model, "encoder"), "pooler"),
    "nli": lambda r, h, model, get: formulas.mutual_entailment(r, h, get(model, "classifier")),
    "bart_score": lambda r, h, model, get: formulas.bart_score(r, h, get(model, "sequence_to_sequence")),
    "bleurt": lambda r, h, model, get: formulas.bleurt(r, h, get(model, "classifier")),
    "sema_score": lambda r, h, model, get: formulas.sema_score(r, h, get(model, "encoder")),
    "heval": lambda r, h, model, get: formulas.heval(r, h, get(model, "encoder")),
    "intelligibility": _intelligibility,
}
