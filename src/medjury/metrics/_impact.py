"""Clinical impact of recognition errors: none (0), minimal (1) or significant (2), with the reasons in words.

The critical differences of a pair and one lexical metric go into a small ordinal model. No language model is
asked; a pair takes microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.errors import MedjuryError
from medjury.metrics._counts import Kernels, count, links
from medjury.metrics._differences import Comparison, compare
from medjury.metrics._explain import explain
from medjury.metrics._impact_model import MODEL_FEATURES, ImpactModel, shipped_model
from medjury.metrics._lexical import FORMULAS
from medjury.metrics._lexicons import Lexicons, lexicons
from medjury.metrics._reading import UNKNOWN, Reading, read, read_question

NO_REFERENCE = "not estimated: there is no reference to compare with"
# Pairs are read in slices, so that memory stays flat however many there are.
SLICE = 2000

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


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    said: list[Reading]
    heard: list[Reading]
    comparisons: list[Comparison]
    features: Floats
    missing: list[bool]


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
    lists = lexicons()
    results: list[Impact] = []
    for part in _slices(references, hypotheses, questions, lists, kernels):
        probabilities = chosen.probabilities(part.features)
        levels = chosen.levels(probabilities).tolist()
        reasons = _reasons(part, lists, kernels)
        for index, row in enumerate(probabilities.tolist()):
            if part.missing[index]:
                results.append(Impact(None, None, None, (NO_REFERENCE,)))
            else:
                results.append(Impact(levels[index], row[1] + 2.0 * row[2], tuple(row), reasons[index]))
    return results


def impact_features(
    references: Texts, hypotheses: Texts, questions: Texts | None = None, *, kernels: Kernels = "auto"
) -> Floats:
    """What the model sees: one row per pair, in the order of MODEL_FEATURES."""
    parts = [part.features for part in _slices(references, hypotheses, questions, lexicons(), kernels)]
    return np.concatenate(parts) if parts else np.zeros((0, len(MODEL_FEATURES)))


def _slices(
    references: Texts, hypotheses: Texts, questions: Texts | None, lists: Lexicons, kernels: Kernels
) -> Iterator[_Read]:
    sizes = {len(references), len(hypotheses), len(references) if questions is None else len(questions)}
    if len(sizes) > 1:
        raise MedjuryError(
            f"{len(references)} references, {len(hypotheses)} hypotheses"
            + ("" if questions is None else f" and {len(questions)} questions")
            + " cannot be paired. Give one of each for every pair."
        )
    for start in range(0, len(references), SLICE):
        stop = start + SLICE
        asked = [None] * SLICE if questions is None else questions[start:stop]
        yield _read_slice(references[start:stop], hypotheses[start:stop], asked, lists, kernels)


def _read_slice(
    references: Texts, hypotheses: Texts, questions: Texts, lists: Lexicons, kernels: Kernels
) -> _Read:
    said = [read(text or "", lists) for text in references]
    heard = [read(text or "", lists) for text in hypotheses]
    comparisons = [
        compare(one, other, read_question(question, lists) if question else UNKNOWN)
        for one, other, question in zip(said, heard, questions, strict=False)
    ]
    counts = count(
        [" ".join(one.words) for one in said],
        [" ".join(one.words) for one in heard],
        ["chrf"],
        kernels=kernels,
    )
    lost = 1.0 - FORMULAS["chrf"].read(counts)
    different = np.array([bool(each.differences) for each in comparisons])
    features = np.empty((len(said), len(MODEL_FEATURES)))
    features[:, :-1] = [each.features for each in comparisons]
    features[:, -1] = np.where(different, lost, 0.0)
    return _Read(said, heard, comparisons, features, [not (text or "").strip() for text in references])


def _reasons(part: _Read, lists: Lexicons, kernels: Kernels) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()] * len(part.said)
    chosen = [index for index, each in enumerate(part.comparisons) if each.differences]
    which = links(
        [" ".join(part.said[index].words) for index in chosen],
        [" ".join(part.heard[index].words) for index in chosen],
        kernels=kernels,
    )
    for index, pairs in zip(chosen, which, strict=True):
        said, heard = part.said[index], part.heard[index]
        found[index] = explain(said, heard, part.comparisons[index].differences, pairs, lists)
    return found
