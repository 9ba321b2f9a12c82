"""Which model each learned metric uses, and scoring pairs with them; every model is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import _learned_metrics as formulas
from medjury.texts.metrics._catalogue import LEARNED, base_name, metric_named
from medjury.texts.metrics._encoders import Kind, Loaded, load, pooling_of, sentence_vectors
from medjury.texts.metrics._semantic_wer import MOST_CELLS, TOO_LONG

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
    "semantic_wer_ellis": "sentence-transformers/all-MiniLM-L6-v2",
}
NO_CLINICAL_BLEURT = (
    "clinical_bleurt has no public model: give the folder of your own (--model "
    "clinical_bleurt=FOLDER). It is a BLEURT fine-tuned on clinical notes (Ben Abacha et al. 2023), saved for "
    "transformers as a sequence classifier with one number per pair; convert a TensorFlow checkpoint first. Or "
    "leave it out: bleurt is the general one."
)

Model = str | Path
Models = Mapping[str, Model | Sequence[Model]]
Found = tuple[NDArray[np.float64], dict[int, str], str]
Loader = Callable[[Model, Kind], Loaded]
Kept = dict[tuple[str, Kind], Loaded]  # by model and what is wanted of it


def models_of(metrics: Sequence[str], models: Models) -> dict[str, Model]:
    """Every wanted metric with its model, the lexical ones with "". A learned metric of several models becomes
    several: `nli@small`, `nli@large`, under the names they were given or those of their folders."""
    given: dict[str, dict[str, Model]] = {}
    for name, value in models.items():
        metric = metric_named(name).name
        if base_name(metric) not in LEARNED:
            raise MedjuryError(f"{metric} is counted without a model; take it out of the models")
        listed: list[Model] = [value] if isinstance(value, str | Path) else list(value)
        for model in listed:
            label = metric if "@" in metric or len(listed) == 1 else f"{metric}@{_short(model)}"
            known = given.setdefault(base_name(metric), {})
            if label in known:
                raise MedjuryError(
                    f"two models of {base_name(metric)} would both be called {label}; name them apart: "
                    f"{base_name(metric)}@NAME=MODEL"
                )
            known[metric_named(label).name] = model
    chosen: dict[str, Model] = {}
    for name in metrics:
        known = given.get(base_name(name), {})
        if name not in LEARNED and "@" not in name:
            chosen[name] = ""
        elif name in known:
            chosen[name] = known[name]
            if "@" not in name:
                chosen |= known
        elif "@" in name:
            raise MedjuryError(f"no model is named {name}; say which one it is: {name}=MODEL")
        elif known:
            chosen |= known
        elif name in DEFAULT_MODELS:
            chosen[name] = DEFAULT_MODELS[name]
        else:
            raise MedjuryError(NO_CLINICAL_BLEURT)
    return chosen


def learned_scores(
    references: Sequence[str],
    hypotheses: Sequence[str],
    chosen: Mapping[str, Model],
    *,
    device: str | None,
    allow_download: bool,
    kept: Kept | None = None,
) -> dict[str, Found]:
    """Values, reasons where undefined, and the model used, for every learned metric with its chosen model."""
    reasons = {
        row: NO_REFERENCE if not said.split() else NO_HYPOTHESIS
        for row, (said, heard) in enumerate(zip(references, hypotheses, strict=True))
        if not said.split() or not heard.split()
    }
    rows = [row for row in range(len(references)) if row not in reasons]
    loaded: Kept = {} if kept is None else kept

    def model_of(name: Model, kind: Kind) -> Loaded:
        key = (str(name), kind)
        if key not in loaded:
            loaded[key] = load(name, kind, device=device, allow_download=allow_download)
        return loaded[key]

    found: dict[str, Found] = {}
    for metric, model in chosen.items():
        values, whole, why = np.full(len(references), np.nan), rows, dict(reasons)
        if base_name(metric) == "semantic_wer_ellis":
            why |= {row: TOO_LONG for row in rows if _cells(references[row], hypotheses[row]) > MOST_CELLS}
            whole = [row for row in rows if row not in why]
        if whole:
            said, heard = ([side[row] for row in whole] for side in (references, hypotheses))
            values[whole] = SCORERS[base_name(metric)](said, heard, model, model_of)
        found[metric] = values, why, f"model {model}"
    return found


def _cells(said: str, heard: str) -> int:
    return len(said.split()) * len(heard.split())


def _short(model: Model) -> str:
    """The last part of a model's name or folder."""
    return str(model).replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _intelligibility(said: Sequence[str], heard: Sequence[str], model: Model, get: Loader) -> Any:
    entailment = formulas.mutual_entailment(said, heard, get(model, "classifier"))
    meaning = formulas.bert_score(said, heard, get(model, "encoder"))
    return formulas.intelligibility(said, heard, entailment, meaning)


SCORERS: dict[str, Callable[[Sequence[str], Sequence[str], Model, Loader], Any]] = {
    "bert_score": lambda r, h, model, get: formulas.bert_score(r, h, get(model, "encoder")),
    "sbert": lambda r, h, model, get: formulas.sentence_similarity(
        r, h, get(model, "encoder"), pooling_of(model)
    ),
    "simcse": lambda r, h, model, get: formulas.sentence_similarity(r, h, get(model, "encoder"), "pooler"),
    "nli": lambda r, h, model, get: formulas.mutual_entailment(r, h, get(model, "classifier")),
    "bart_score": lambda r, h, model, get: formulas.bart_score(r, h, get(model, "sequence_to_sequence")),
    "bleurt": lambda r, h, model, get: formulas.bleurt(r, h, get(model, "classifier")),
    "clinical_bleurt": lambda r, h, model, get: formulas.bleurt(r, h, get(model, "classifier")),
    "sema_score": lambda r, h, model, get: formulas.sema_score(r, h, get(model, "encoder")),
    "heval": lambda r, h, model, get: formulas.heval(r, h, get(model, "encoder")),
    "intelligibility": _intelligibility,
    "semantic_wer_ellis": lambda r, h, model, get: formulas.semantic_wer(
        r, h, get(model, "encoder"), pooling_of(model)
    ),
}


# Sentence vectors for whoever searches by meaning: the encoder of the sentence metrics, loaded when first used.


def sentence_embedder(
    model: str | Path = DEFAULT_MODELS["sbert"], *, device: str | None = None, allow_download: bool = False
) -> Callable[[Sequence[str]], list[list[float]]]:
    """A function from texts to unit vectors. Nothing is loaded before its first call, and nothing is fetched
    unless allowed: give a local folder."""

    @cache
    def loaded() -> Loaded:
        return load(model, "encoder", device=device, allow_download=allow_download)

    def embed(texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = sentence_vectors(loaded(), list(texts), pooling_of(model)).tolist()
        return vectors

    return embed
