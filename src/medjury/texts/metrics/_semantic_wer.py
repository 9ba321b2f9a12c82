"""Semantic-weighted word error rate: an edit costs what the word is worth to a clinician.

Two of that name: ours, by word lists, and the one that Ellis et al. (2025) computed, by vectors of single words.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from medjury.texts.metrics._lexicons import COURTESY, FUNCTION, NEGATION, NUMBER, Lexicons, Phrase
from medjury.texts.metrics._reading import read

# Words in a clinical list, negations, numbers and answers; ordinary content; function words and courtesies.
LOADED_WEIGHT, CONTENT_WEIGHT, FUNCTION_WEIGHT = 2.0, 1.0, 0.5
# The whole table is visited, row by row; beyond this many cells it is not computed.
MOST_CELLS = 400_000_000
# From this cosine on, Ellis et al. take one word for another without cost.
ALIKE = 0.6


NO_WORDS = "the reference has no word beyond hesitations"
TOO_LONG = "the texts are too long for the semantic-weighted WER (more than 400 million pairs of words)"


def semantic_wer(reference: str, hypothesis: str, lists: Lexicons) -> tuple[float | None, str]:
    """Weighted edit distance over the weight of the reference; None, and the reason, where it is undefined.

    Hesitations and stammered repeats weigh nothing, equivalent wordings ("yeah", "yes") are the same word, a
    deletion or insertion costs the word's weight and a substitution the greater of the two. The idea that
    errors weigh by meaning is Roy's (2021, Semantic-WER); the weights are ours: 2 for a clinically loaded word,
    1 for other content, ½ for function words.

    >>> from medjury.texts.metrics._lexicons import lexicons
    >>> semantic_wer("No, I have no chest pain.", "no i have chest pain", lexicons())
    (0.19047619047619047, '')
    """
    said, said_weights = _weighed(reference, lists)
    heard, heard_weights = _weighed(hypothesis, lists)
    if not said:
        return None, NO_WORDS
    if len(said) * len(heard) > MOST_CELLS:
        return None, TOO_LONG
    codes = {word: code for code, word in enumerate(dict.fromkeys([*said, *heard]))}
    columns = np.array([codes[word] for word in heard], dtype=np.int64)
    inserted = np.concatenate([[0.0], np.cumsum(heard_weights)])
    row = inserted.copy()
    for word, weight in zip(said, said_weights.tolist(), strict=True):
        substituted = row[:-1] + np.where(columns == codes[word], 0.0, np.maximum(heard_weights, weight))
        best = row + weight
        np.minimum(best[1:], substituted, out=best[1:])
        # An insertion moves along the row: the smallest start so far, plus what was inserted since.
        row = np.minimum.accumulate(best - inserted) + inserted
    return float(row[-1] / said_weights.sum()), ""


def semantic_wer_ellis(alike: Iterable[NDArray[np.bool_]], said: int, heard: int) -> float:
    """S-WER as in Table 9 of Ellis et al. (2025), from which words heard are alike to each word said.

    A deletion costs 1/N and an insertion 1/M (N words said, M heard; none of them 0), a word in the place of one
    that is alike nothing, and of any other 1; the least cost is divided by M. So a wrong word is cheaper as a
    deletion and an insertion, and the values are small. The paper gives no formula; these are the costs of its
    published code, of which one version divides by M and another by N: with N its first example would be 0.0100,
    with M it is the 0.0094 of the table.

    >>> semantic_wer_ellis(np.eye(4, dtype=bool)[:, :3], 4, 3)  # of four words the last was not heard
    0.08333333333333333
    """
    inserted = np.arange(heard + 1) / heard
    row = inserted.copy()
    for same in alike:
        best = row + 1.0 / said
        np.minimum(best[1:], row[:-1] + np.where(same, 0.0, 1.0), out=best[1:])
        row = np.minimum.accumulate(best - inserted) + inserted
    return float(row[-1] / heard)


def _weighed(text: str, lists: Lexicons) -> tuple[Phrase, NDArray[np.float64]]:
    reading = read(text, lists)
    loaded = {
        place
        for concept in reading.concepts.values()
        if concept.category != "qualifier"
        for place in range(concept.start, concept.stop)
    }
    weights = np.empty(len(reading.words))
    for place, word in enumerate(reading.words):
        kind = lists.kinds.get(word, 0)
        if place in loaded or kind & (NEGATION | NUMBER) or word in lists.yes:
            weights[place] = LOADED_WEIGHT
        else:
            weights[place] = FUNCTION_WEIGHT if kind & (FUNCTION | COURTESY) else CONTENT_WEIGHT
    return reading.words, weights
