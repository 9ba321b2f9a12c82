"""Sentence vectors for whoever searches by meaning: the encoder of the sentence metrics, loaded when first used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from medjury.texts.metrics._learned.learned import DEFAULT_MODELS
from medjury.texts.metrics._learned.neural import Loaded, load
from medjury.texts.metrics._learned.word_vectors import pooling_of, sentence_vectors


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
