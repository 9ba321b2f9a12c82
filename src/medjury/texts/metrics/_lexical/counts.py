"""What the lexical metrics are made of: whole numbers counted once per pair, read by every metric.

`count` does one pass over the pairs, compiled where the kernels are there and in Python where they are not.
Both give the same numbers, so a metric does not depend on how it was counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import _compiled, _uncompiled

Kernels = Literal["auto", "compiled", "python"]

# In the order of the enumeration in `_kernels.c`.
COLUMNS = (
    "reference_words", "hypothesis_words", "hits", "substitutions", "deletions", "insertions",
    "reference_characters", "hypothesis_characters", "character_edits",
    "bleu_1", "bleu_2", "bleu_3", "bleu_4",
    "reference_tokens", "hypothesis_tokens", "rouge_1", "rouge_2", "longest_common",
    "reference_signs", "hypothesis_signs", "chrf_1", "chrf_2", "chrf_3", "chrf_4", "chrf_5", "chrf_6",
    "reference_pieces", "hypothesis_pieces", "pieces_1", "pieces_2",
)  # fmt: skip
GROUPS = {
    "words": 1,
    "characters": 2,
    "bleu": 4,
    "rouge": 8,
    "rouge_w": 8 | 16,
    "chrf": 32,
    "chrf_words": 32 | 64,
}
# A run of k matching words weighs k to this power in ROUGE-W, as in ROUGE 1.5.5.
RUN_POWER = 1.2
# Pairs are counted in slices, so that memory stays flat however many there are.
SLICE_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """One row of counts per pair; `weighted` is the weighted common subsequence, -1 where the pair is too
    long for it; `kernels` says how it was counted."""

    table: NDArray[np.int64]
    weighted: NDArray[np.float64]
    kernels: str

    def __getitem__(self, column: str) -> NDArray[np.int64]:
        return self.table[:, COLUMNS.index(column)]


def count(
    references: Sequence[str],
    hypotheses: Sequence[str],
    groups: Sequence[str] = tuple(GROUPS),
    *,
    kernels: Kernels = "auto",
) -> Counts:
    """Count what each pair of texts shares, for the wanted groups of columns (the others stay 0)."""
    if len(references) != len(hypotheses):
        raise MedjuryError(
            f"{len(references)} references and {len(hypotheses)} hypotheses cannot be paired. "
            "Give one hypothesis for every reference, an empty text where nothing was recognised."
        )
    library = None if kernels == "python" else _compiled.library()
    if kernels == "compiled" and library is None:
        raise MedjuryError(f"No compiled kernels: {_compiled.why_not()}.")
    wanted = 0
    for group in groups:
        wanted |= GROUPS[group]
    table = np.zeros((len(references), len(COLUMNS)), dtype=np.int64)
    weighted = np.zeros(len(references), dtype=np.float64)
    for start, stop in _slices(references, hypotheses):
        part = (references[start:stop], hypotheses[start:stop])
        if library is None:
            _uncompiled.count(*part, wanted, RUN_POWER, table[start:stop], weighted[start:stop])
        else:
            _compiled.count(library, *part, wanted, RUN_POWER, table[start:stop], weighted[start:stop])
    return Counts(table, weighted, "python" if library is None else "compiled")


def links(
    references: Sequence[str], hypotheses: Sequence[str], *, kernels: Kernels = "auto"
) -> list[list[int]]:
    """For every word of every reference, the place of the hypothesis word it was matched with, or -1."""
    library = None if kernels == "python" else _compiled.library()
    if library is None:
        return _uncompiled.links(references, hypotheses)
    found: list[list[int]] = []
    for start, stop in _slices(references, hypotheses):
        found += _compiled.links(library, references[start:stop], hypotheses[start:stop])
    return found


def kernels_in_use() -> str:
    """Which kernels count here, in words for a person."""
    if _compiled.library() is not None:
        return "compiled kernels"
    return f"kernels in Python, slower, the same values ({_compiled.why_not()})"


def _slices(references: Sequence[str], hypotheses: Sequence[str]) -> list[tuple[int, int]]:
    slices, start, characters = [], 0, 0
    for index, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        characters += len(reference) + len(hypothesis)
        if characters >= SLICE_CHARACTERS:
            slices.append((start, index + 1))
            start, characters = index + 1, 0
    if start < len(references):
        slices.append((start, len(references)))
    return slices
