"""Contextual vectors of tokens, words and sentences, from any encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.models import split_bits
from medjury.texts.metrics._learned.neural import Loaded, batches

Floats = NDArray[np.float64]
Pooling = Literal["mean", "cls", "pooler"]


def token_vectors(
    loaded: Loaded, texts: Sequence[str], layer: int | None = None
) -> list[tuple[Floats, list[bool]]]:
    """For every text the unit vectors of its tokens, and which of them only frame it ([CLS], [SEP])."""
    found: list[Any] = [None] * len(texts)
    words = loaded.tokenizer
    frame = {
        words.cls_token_id,
        words.sep_token_id,
        words.bos_token_id,
        words.eos_token_id,
        words.pad_token_id,
    }
    for indices in batches([len(text) for text in texts]):
        chosen = [texts[index] for index in indices]
        hidden, encoded = _hidden(loaded, chosen, layer)
        for row, index in enumerate(indices):
            kept = encoded["attention_mask"][row].bool().cpu().numpy()
            ids = encoded["input_ids"][row].cpu().numpy()[kept].tolist()
            found[index] = (unit(hidden[row][kept]), [token in frame for token in ids])
    return found


def word_vectors(loaded: Loaded, texts: Sequence[Sequence[str]], layer: int | None = None) -> list[Floats]:
    """For every list of words the mean vector of each word's tokens, in context; rows follow the words.

    Words beyond the model's longest input have no vector: their rows are zero.
    """
    found: list[Any] = [None] * len(texts)
    for indices in batches([len(words) for words in texts]):
        chosen = [list(texts[index]) for index in indices]
        encoded = loaded.tokenizer(
            chosen, is_split_into_words=True, padding=True, truncation=True, max_length=loaded.longest,
            return_tensors="pt",
        )  # fmt: skip
        owners = [encoded.word_ids(row) for row in range(len(chosen))]
        hidden = _run(loaded, encoded.to(loaded.device), layer)
        for row, index in enumerate(indices):
            vectors = np.zeros((len(chosen[row]), hidden.shape[-1]), dtype=np.float64)
            counts = np.zeros(len(chosen[row]), dtype=np.float64)
            for token, owner in enumerate(owners[row]):
                if owner is not None:
                    vectors[owner] += hidden[row][token]
                    counts[owner] += 1
            found[index] = vectors / np.maximum(counts, 1)[:, None]
    return found


def sentence_vectors(loaded: Loaded, texts: Sequence[str], pooling: Pooling) -> Floats:
    """One unit vector per text: the mean of its tokens, its first token, or the model's own pooler."""
    import torch

    found: list[Any] = [None] * len(texts)
    for indices in batches([len(text) for text in texts]):
        encoded = loaded.encode([texts[index] for index in indices])
        with torch.inference_mode():
            output = loaded.model(**encoded)
            if pooling == "pooler":
                pooled = output.pooler_output
            elif pooling == "cls":
                pooled = output.last_hidden_state[:, 0]
            else:
                mask = encoded["attention_mask"].unsqueeze(-1).to(output.last_hidden_state.dtype)
                pooled = (output.last_hidden_state * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        for row, vector in zip(indices, pooled.float().cpu().numpy(), strict=True):
            found[row] = vector
    return unit(np.stack(found)) if found else np.zeros((0, 0), dtype=np.float64)


def pooling_of(model: str | Path) -> Pooling:
    """How a sentence-transformers folder says that its tokens are pooled; the mean where it says nothing."""
    file = Path(split_bits(model)[0]) / "1_Pooling" / "config.json"
    if file.is_file() and json.loads(file.read_text(encoding="utf-8")).get("pooling_mode_cls_token"):
        return "cls"
    return "mean"


def unit(vectors: Floats) -> Floats:
    """Vectors of length one; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float64)


def _hidden(loaded: Loaded, texts: Sequence[str], layer: int | None) -> tuple[Floats, Any]:
    encoded = loaded.encode(texts)
    return _run(loaded, encoded, layer), encoded


def _run(loaded: Loaded, encoded: Any, layer: int | None) -> Floats:
    import torch

    with torch.inference_mode():
        output = loaded.model(**encoded, output_hidden_states=layer is not None)
    hidden = output.last_hidden_state if layer is None else output.hidden_states[layer]
    return np.asarray(hidden.float().cpu().numpy())
