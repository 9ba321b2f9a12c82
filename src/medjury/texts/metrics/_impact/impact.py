"""Clinical impact of recognition errors: none (0), minimal (1) or significant (2), with the reasons in words.

The critical differences of a pair and one lexical metric go into a small ordinal model. No language model is
asked; a pair takes microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics._differences.compare_pairs import Compared, compare_pairs
from medjury.texts.metrics._impact.model import MODEL_FEATURES, ImpactModel, shipped_model
from medjury.texts.metrics._lexical.counts import Kernels

NO_REFERENCE = "not estimated: there is no reference to compare with"
# Pairs are read in slices, so that memory stays flat however many there are.
SLICE = 500

Floats = NDArray[np.float64]
Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Impact:
    """The estimate for one pair. Without a reference there is none: `level` and `score` are None.

    `score` is the expected level, from 0 to 2; `probabilities` are those of the levels 0, 1 and 2; `reasons`
    say what changed, the gravest first, or why there is no estimate.
    """

    level: int | None
    score: float | None
    probabilities: tuple[float, float, float] | None
    reasons: tuple[str, ...]


def impact(
    references: Texts,
    hypotheses: Texts,
    questions: Texts | None = None,
    *,
    model: ImpactModel | None = None,
    kernels: Kernels = "auto",
) -> list[Impact]:
    """Estimate the clinical impact of every pair, and say why.

    `questions` are the turns before (usually the clinician's question); without one, a pair is taken for an
    answer about health. An empty hypothesis means that nothing was recognised.

    >>> found = impact(["No, I don't take any aspirin."], ["no i take an aspirin"], ["Any medicines?"])[0]
    >>> found.level, found.reasons[0]
    (2, "'aspirin' was denied and now reads as affirmed: denial of a drug lost")
    """
    chosen = model or shipped_model()
    results: list[Impact] = []
    for start, stop, compared in _slices(references, hypotheses, questions, kernels):
        probabilities = chosen.probabilities(compared.features)
        levels = chosen.levels(probabilities).tolist()
        rows = zip(references[start:stop], levels, probabilities.tolist(), compared.reasons(), strict=True)
        for reference, level, (none, minimal, significant), reasons in rows:
            if not reference or not reference.strip():
                results.append(Impact(None, None, None, (NO_REFERENCE,)))
            else:
                score = minimal + 2.0 * significant
                results.append(Impact(level, score, (none, minimal, significant), reasons))
    return results


def impact_features(
    references: Texts, hypotheses: Texts, questions: Texts | None = None, *, kernels: Kernels = "auto"
) -> Floats:
    """What the model sees: one row per pair, in the order of MODEL_FEATURES."""
    parts = [each.features for _, _, each in _slices(references, hypotheses, questions, kernels)]
    return np.concatenate(parts) if parts else np.zeros((0, len(MODEL_FEATURES)))


def _slices(
    references: Texts, hypotheses: Texts, questions: Texts | None, kernels: Kernels
) -> Iterator[tuple[int, int, Compared]]:
    sizes = {len(references), len(hypotheses), len(references) if questions is None else len(questions)}
    if len(sizes) > 1:
        raise MedjuryError(
            f"{len(references)} references, {len(hypotheses)} hypotheses"
            + ("" if questions is None else f" and {len(questions)} questions")
            + " cannot be paired. Give one of each for every pair."
        )
    for start in range(0, len(references), SLICE):
        stop = min(start + SLICE, len(references))
        said = [text or "" for text in references[start:stop]]
        heard = [text or "" for text in hypotheses[start:stop]]
        asked = [None] * len(said) if questions is None else [text or None for text in questions[start:stop]]
        yield start, stop, compare_pairs(said, heard, asked, kernels=kernels)
