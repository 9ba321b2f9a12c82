"""Models for the learned metrics: loading one, and the vectors of tokens, words and sentences that it gives.

torch and transformers are imported here, when they are first needed; they come with the `neural` extra. A model is
a name of the hub's or a local folder. Nothing is fetched unless asked: clinical work is local first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError, first_line
from medjury.models import loading_options, read_whole, reading_weights, refuse_pickled, split_bits

Kind = Literal["encoder", "classifier", "sequence_to_sequence"]
CLASSES = {
    "encoder": "AutoModel",
    "classifier": "AutoModelForSequenceClassification",
    "sequence_to_sequence": "AutoModelForSeq2SeqLM",
}
UNUSED = {"encoder": "pooler."}  # many encoders are saved without it, and no metric reads it
BATCH = 32


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model with its tokenizer on a device, ready for inference."""

    name: str
    tokenizer: Any
    model: Any
    device: str

    def encode(self, texts: Sequence[str], others: Sequence[str] | None = None) -> Any:
        """Texts (or pairs of texts) as padded tensors on the device, cut at the model's longest input."""
        pairs = (list(texts),) if others is None else (list(texts), list(others))
        batch = self.tokenizer(
            *pairs, padding=True, truncation=True, max_length=self.longest, return_tensors="pt"
        )
        return batch.to(self.device)

    @property
    def longest(self) -> int:
        positions = getattr(self.model.config, "max_position_embeddings", 512)
        # RoBERTa keeps two of its positions for itself; an unset tokenizer says 10^30.
        return int(min(self.tokenizer.model_max_length, positions - 2))


def load(name: str | Path, kind: Kind, *, device: str | None = None, allow_download: bool = False) -> Loaded:
    """Load a model by name or from a folder; on the GPU where there is one. `NAME:4bit` and `NAME:8bit` make its
    weights smaller."""
    place, bits = split_bits(name)
    refuse_pickled(place)
    try:
        import torch
        import transformers
    except ImportError:
        raise MedjuryError(
            "Learned metrics need torch and transformers. Install them: pip install 'medjury[neural]'"
        ) from None
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    options: dict[str, Any] = {"local_files_only": not allow_download}
    smaller = loading_options(name, torch, transformers, where)
    try:
        with reading_weights(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
            model = read_whole(
                getattr(transformers, CLASSES[kind]), place, unused=UNUSED.get(kind), **options, **smaller
            )
    except (OSError, ValueError) as error:
        hint = (
            "" if allow_download else " Nothing is fetched by itself: give a local folder, or allow_download."
        )
        raise MedjuryError(f"The model {str(name)!r} cannot be loaded: {first_line(error)}{hint}") from None
    # Weights of few bits are where they belong already, and cannot be moved.
    return Loaded(str(name), tokenizer, (model if bits else model.to(where)).eval(), where)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices in batches of texts of like length, so that little is padded."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


# Contextual vectors of tokens, words and sentences, from any encoder.


Floats = NDArray[np.float64]
Pooling = Literal["mean", "cls", "pooler"]


def token_vectors(loaded: Loaded, texts: Sequence[str]) -> list[tuple[Floats, list[bool]]]:
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
        encoded = loaded.encode(chosen)
        hidden = _run(loaded, encoded)
        for row, index in enumerate(indices):
            kept = encoded["attention_mask"][row].bool().cpu().numpy()
            ids = encoded["input_ids"][row].cpu().numpy()[kept].tolist()
            found[index] = (unit(hidden[row][kept]), [token in frame for token in ids])
    return found


def word_vectors(loaded: Loaded, texts: Sequence[Sequence[str]]) -> list[Floats]:
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
        hidden = _run(loaded, encoded.to(loaded.device))
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


def _run(loaded: Loaded, encoded: Any) -> Floats:
    import torch

    with torch.inference_mode():
        hidden = loaded.model(**encoded).last_hidden_state
    return np.asarray(hidden.float().cpu().numpy())
