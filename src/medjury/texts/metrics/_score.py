"""One call for all metrics: `score` counts every pair once and reads the wanted metrics from the counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medjury.texts.metrics._catalogue import LEXICAL, metric_named
from medjury.texts.metrics._learned.learned import Kept, Models, learned_scores, models_of
from medjury.texts.metrics._lexical.counts import Counts, Kernels, count
from medjury.texts.metrics._lexical.lexical import FORMULAS, NO_WORDS, TOO_LONG
from medjury.texts.metrics._lexical.meteor import meteor
from medjury.texts.metrics._lexical.semantic_wer import semantic_wer
from medjury.texts.metrics._lexical.wordnet import WordNet, open_wordnet
from medjury.texts.metrics._lexicons import lexicons
from medjury.texts.metrics._scores import MetricScores

Reasons = dict[int, str]


def score(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    metrics: Sequence[str] = LEXICAL,
    *,
    models: Models | None = None,
    device: str | None = None,
    allow_download: bool = False,
    kernels: Kernels = "auto",
    kept: Kept | None = None,
) -> MetricScores:
    """Score every pair of texts with every wanted metric.

    A missing text counts as empty. Without a reference no metric is defined; with an empty hypothesis the
    error rates are 1 and the overlaps 0: everything was lost. Texts are compared as they are; normalise them
    first (`medjury.texts.transcripts.normalise`) where case, signs and digits should not count.

    `models` names the model of each learned metric (a name or a local folder, or several of them: then each gets
    a column, `nli@small` and `nli@large`) where it is not the default; nothing is fetched unless `allow_download`
    is true. `device` is theirs too: the GPU where there is one. `kept` holds the models that were loaded, for
    whoever scores again and again.

    >>> scores = score(["not throat but lips"], ["not so but lips"], ["wer", "bleu_1"])
    >>> scores.column("wer"), scores.column("bleu_1")
    ([0.25], [0.75])
    """
    said = [text or "" for text in references]
    heard = [text or "" for text in hypotheses]
    chosen = models_of(list(dict.fromkeys(metric_named(name).name for name in metrics)), models or {})
    names = list(chosen)
    groups = list(dict.fromkeys(FORMULAS[name].group for name in names if name in FORMULAS))
    counts = count(said, heard, groups or ["words"], kernels=kernels)
    wordnet = open_wordnet()
    values: dict[str, NDArray[np.float64]] = {}
    reasons: dict[str, Reasons] = {}
    notes: dict[str, str] = {}
    for name in names:
        if name in FORMULAS:
            values[name], reasons[name] = _formula(name, counts)
        elif name == "meteor":
            values[name], reasons[name] = _meteor(said, heard, wordnet)
            notes[name] = "exact, stem and WordNet synonym" if wordnet else "exact and stem (no WordNet here)"
        elif name == "semantic_wer":
            values[name], reasons[name] = _semantic(said, heard)
    wanted = {name: model for name, model in chosen.items() if model}
    if wanted:
        found = learned_scores(said, heard, wanted, device=device, allow_download=allow_download, kept=kept)
        for name, (numbers, why, note) in found.items():
            values[name], reasons[name], notes[name] = numbers, why, note
    return MetricScores(
        values={name: values[name] for name in names},
        reasons={name: why for name, why in reasons.items() if why},
        notes=notes,
        kernels=counts.kernels,
    )


def _formula(name: str, counts: Counts) -> tuple[NDArray[np.float64], Reasons]:
    formula = FORMULAS[name]
    values = np.array(formula.read(counts), dtype=np.float64)
    why: Reasons = dict.fromkeys(np.flatnonzero(counts[formula.size] == 0).tolist(), formula.reason)
    if formula.group == "rouge_w":
        long = (counts.weighted < 0) & (counts[formula.size] > 0)
        why |= dict.fromkeys(np.flatnonzero(long).tolist(), TOO_LONG)
    values[list(why)] = np.nan
    return values, why


def _meteor(
    said: list[str], heard: list[str], wordnet: WordNet | None
) -> tuple[NDArray[np.float64], Reasons]:
    values = np.full(len(said), np.nan)
    why: Reasons = {}
    for row, (reference, hypothesis) in enumerate(zip(said, heard, strict=True)):
        words = reference.split()
        if words:
            values[row] = meteor(words, hypothesis.split(), wordnet)
        else:
            why[row] = NO_WORDS
    return values, why


def _semantic(said: list[str], heard: list[str]) -> tuple[NDArray[np.float64], Reasons]:
    lists = lexicons()
    values = np.full(len(said), np.nan)
    why: Reasons = {}
    for row, (reference, hypothesis) in enumerate(zip(said, heard, strict=True)):
        value, reason = semantic_wer(reference, hypothesis, lists)
        if value is None:
            why[row] = reason
        else:
            values[row] = value
    return values, why
