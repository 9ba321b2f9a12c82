"""Loading a model for the learned metrics, and running texts through it in batches.

torch and transformers are imported here and nowhere else at the top of a call; they come with the `neural` extra.
A model is a name of the hub's or a local folder. Nothing is fetched unless asked: clinical work is local first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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


def batches(lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
    """Indices in batches of texts of like length, so that little is padded."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), size):
        yield order[start : start + size]
