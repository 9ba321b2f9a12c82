"""The lexical metrics that are formulas over counts: edit rates, BLEU, ROUGE, chrF.

Each formula is the one of the tool the papers use (jiwer, NLTK, rouge_score, sacrebleu), and gives its values.
All are on the scale of a share: chrF is between 0 and 1, not 0 and 100.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from medjury.texts.metrics._counts import RUN_POWER, Counts

Floats = NDArray[np.float64]

NO_WORDS = "the reference has no words"
NO_TOKENS = "the reference has no letters and no digits that ROUGE reads (a-z and 0-9 in English)"
TOO_LONG = "the texts are too long for ROUGE-W (more than 100 million pairs of words)"


def word_error_rate(counts: Counts) -> Floats:
    """WER = (S + D + I) / N: edits per word of the reference. Above 1 where much was added."""
    return _share(_edits(counts), counts["reference_words"])


def match_error_rate(counts: Counts) -> Floats:
    """MER = (S + D + I) / (H + S + D + I): the share of aligned places that are wrong (Morris et al. 2004)."""
    return _share(_edits(counts), _edits(counts) + counts["hits"])


def word_information_lost(counts: Counts) -> Floats:
    """WIL = 1 − H² / (N·M), N words said and M recognised (Morris et al. 2004)."""
    hits = counts["hits"]
    return 1.0 - _share(hits, counts["reference_words"]) * _share(hits, counts["hypothesis_words"])


def character_error_rate(counts: Counts) -> Floats:
    """CER: the edit distance of the stripped texts, spaces included, per character of the reference."""
    return _share(counts["character_edits"], counts["reference_characters"])


def bleu(order: int) -> Callable[[Counts], Floats]:
    """BLEU-n = brevity penalty × geometric mean of the clipped precisions of 1- to n-grams, unsmoothed.

    Papineni et al. (2002). An order without a match makes it 0, and so does a hypothesis shorter than n words.
    """

    def read(counts: Counts) -> Floats:
        said, heard = counts["reference_words"], counts["hypothesis_words"]
        logarithms = np.zeros(len(said))
        with np.errstate(divide="ignore"):
            for n in range(1, order + 1):
                logarithms += np.log(counts[f"bleu_{n}"] / np.maximum(heard - n + 1, 1))
            brevity = np.where(heard > said, 1.0, np.exp(1.0 - said / np.maximum(heard, 1)))
            return np.where(heard > 0, brevity * np.exp(logarithms / order), 0.0)

    return read


def rouge_n(order: int) -> Callable[[Counts], Floats]:
    """ROUGE-n: F1 of the shared n-grams (Lin 2004). 0 where a side is shorter than n tokens."""

    def read(counts: Counts) -> Floats:
        shared = counts[f"rouge_{order}"]
        precision = shared / np.maximum(counts["hypothesis_tokens"] - order + 1, 1)
        recall = shared / np.maximum(counts["reference_tokens"] - order + 1, 1)
        return _share(2.0 * precision * recall, precision + recall)

    return read


def rouge_l(counts: Counts) -> Floats:
    """ROUGE-L: F1 of the longest common subsequence of tokens (Lin 2004)."""
    shared = counts["longest_common"]
    precision = _share(shared, counts["hypothesis_tokens"])
    recall = _share(shared, counts["reference_tokens"])
    return _share(2.0 * precision * recall, precision + recall)


def rouge_w(counts: Counts) -> Floats:
    """ROUGE-W: as ROUGE-L, but a run of k consecutive matches weighs k^1.2 (Lin 2004).

    P and R are f⁻¹(WLCS / f(length)) with f(k) = k^1.2; NaN where the texts are too long for it.
    """
    said, heard = counts["reference_tokens"], counts["hypothesis_tokens"]
    with np.errstate(invalid="ignore"):
        precision = _share(counts.weighted, np.maximum(heard, 1) ** RUN_POWER) ** (1.0 / RUN_POWER)
        recall = _share(counts.weighted, np.maximum(said, 1) ** RUN_POWER) ** (1.0 / RUN_POWER)
        return _share(2.0 * precision * recall, precision + recall)


def chrf(word_orders: int) -> Callable[[Counts], Floats]:
    """chrF (0 word orders) and chrF++ (2): F2 of character n-grams up to 6, averaged (Popović 2015, 2017).

    Precision and recall are averaged over the orders that both sides have, as sacrebleu does.
    """
    orders = [("chrf", "signs", n) for n in range(1, 7)]
    orders += [("pieces", "pieces", n) for n in range(1, word_orders + 1)]

    def read(counts: Counts) -> Floats:
        precision, recall, used = (np.zeros(len(counts.table)) for _ in range(3))
        for name, unit, n in orders:
            shared = counts[f"{name}_{n}"]
            heard = np.maximum(counts[f"hypothesis_{unit}"] - n + 1, 0)
            said = np.maximum(counts[f"reference_{unit}"] - n + 1, 0)
            precision += _share(shared, heard)
            recall += _share(shared, said)
            used += (heard > 0) & (said > 0)
        precision, recall = _share(precision, used), _share(recall, used)
        return _share(5.0 * precision * recall, 4.0 * precision + recall)

    return read


# How each metric is read, and from which group of counts.
FORMULAS: dict[str, tuple[str, Callable[[Counts], Floats]]] = {
    "wer": ("words", word_error_rate),
    "mer": ("words", match_error_rate),
    "wil": ("words", word_information_lost),
    "cer": ("characters", character_error_rate),
    **{f"bleu_{n}": ("bleu", bleu(n)) for n in (1, 2, 3, 4)},
    "rouge_1": ("rouge", rouge_n(1)),
    "rouge_2": ("rouge", rouge_n(2)),
    "rouge_l": ("rouge", rouge_l),
    "rouge_w": ("rouge_w", rouge_w),
    # Ellis et al. (2025) took the longest common subsequence for ROUGE-W: their two columns are the same.
    "rouge_w_ellis": ("rouge", rouge_l),
    "chrf": ("chrf", chrf(0)),
    "chrf++": ("chrf_words", chrf(2)),
}
# By group, the count of the reference that must not be 0 for its metrics to exist, and what to say where it is.
NEEDED = {
    **dict.fromkeys(("words", "bleu"), ("reference_words", NO_WORDS)),
    "characters": ("reference_characters", NO_WORDS),
    **dict.fromkeys(("rouge", "rouge_w"), ("reference_tokens", NO_TOKENS)),
    **dict.fromkeys(("chrf", "chrf_words"), ("reference_signs", NO_WORDS)),
}


def _edits(counts: Counts) -> NDArray[np.int64]:
    return counts["substitutions"] + counts["deletions"] + counts["insertions"]


def _share(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Floats:
    """Part over whole, 0 where both are 0. What does not exist for want of a reference is taken out later."""
    result = np.zeros(len(part))
    np.divide(part, whole, out=result, where=np.asarray(whole != 0))
    return result
