"""What the lexical metrics are made of: whole numbers counted once per pair, read by every metric."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq, Levenshtein

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import split_words

COLUMNS = (
    "reference_words", "hypothesis_words", "hits", "substitutions", "deletions", "insertions",
    "reference_characters", "hypothesis_characters", "character_edits",
    "bleu_1", "bleu_2", "bleu_3", "bleu_4",
    "reference_tokens", "hypothesis_tokens", "rouge_1", "rouge_2", "longest_common",
    "reference_signs", "hypothesis_signs", "chrf_1", "chrf_2", "chrf_3", "chrf_4", "chrf_5", "chrf_6",
    "reference_pieces", "hypothesis_pieces", "pieces_1", "pieces_2",
)  # fmt: skip
# What may be counted, each with the columns it fills. ROUGE-W fills `weighted` beside those of ROUGE.
WORDS, CHARACTERS, BLEU, ROUGE, CHRF, PIECES = (
    slice(0, 6), slice(6, 9), slice(9, 13), slice(13, 18), slice(18, 26), slice(26, 30)
)  # fmt: skip
GROUPS = ("words", "characters", "bleu", "rouge", "rouge_w", "chrf", "chrf_words")
# A run of k matching words weighs k to this power in ROUGE-W, as in ROUGE 1.5.5.
RUN_POWER = 1.2
# Weighted common subsequences need every cell of the table; beyond this many, none is computed.
WEIGHTED_CELLS = 100_000_000
_TOKEN = re.compile(r"(?:[^\W_]|(?<=\w)[\u0300-\u036f\u0900-\u109f\u1780-\u17ff])+")
SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """One row of counts per pair; `weighted` is the weighted common subsequence, -1 where the pair is too long for
    it."""

    table: NDArray[np.int64]
    weighted: NDArray[np.float64]

    def __getitem__(self, column: str) -> NDArray[np.int64]:
        return self.table[:, COLUMNS.index(column)]


def count(
    references: Sequence[str],
    hypotheses: Sequence[str],
    groups: Sequence[str] = GROUPS,
    other: Collection[int] = (),
) -> Counts:
    """Count what each pair of texts shares, for the wanted groups of columns (the others stay 0). `other` are
    the rows in another language than English."""
    if len(references) != len(hypotheses):
        raise MedjuryError(
            f"{len(references)} references and {len(hypotheses)} hypotheses cannot be paired. "
            "Give one hypothesis for every reference, an empty text where nothing was recognised."
        )
    table = np.zeros((len(references), len(COLUMNS)), dtype=np.int64)
    weighted = np.zeros(len(references), dtype=np.float64)
    for row, (said, heard) in enumerate(zip(references, hypotheses, strict=True)):
        if "words" in groups or "bleu" in groups:
            a, b = split_words(said), split_words(heard)
            table[row, WORDS] = (
                (len(a), len(b), *align(a, b)) if "words" in groups else (len(a), len(b), 0, 0, 0, 0)
            )
            if "bleu" in groups:
                table[row, BLEU] = [shared(a, b, order) for order in (1, 2, 3, 4)]
        if "characters" in groups:
            c, d = said.strip(), heard.strip()
            table[row, CHARACTERS] = len(c), len(d), Levenshtein.distance(c, d)
        if "rouge" in groups or "rouge_w" in groups:
            a, b = tokens(said, row not in other), tokens(heard, row not in other)
            table[row, ROUGE] = len(a), len(b), shared(a, b, 1), shared(a, b, 2), LCSseq.similarity(a, b)
            if "rouge_w" in groups:
                fits = len(a) * len(b) <= WEIGHTED_CELLS
                weighted[row] = weighted_common(a, b) if fits else -1.0
        if "chrf" in groups or "chrf_words" in groups:
            c, d = "".join(said.split()), "".join(heard.split())
            table[row, CHRF] = len(c), len(d), *(shared(c, d, order) for order in (1, 2, 3, 4, 5, 6))
        if "chrf_words" in groups:
            a, b = pieces(said), pieces(heard)
            table[row, PIECES] = len(a), len(b), shared(a, b, 1), shared(a, b, 2)
    return Counts(table, weighted)


def align(a: Sequence[str], b: Sequence[str]) -> tuple[int, int, int, int]:
    """Hits, substitutions, deletions and insertions of one best alignment."""
    kinds = [kind for kind, _, _ in Levenshtein.editops(a, b).as_list()]
    replaced, deleted = kinds.count("replace"), kinds.count("delete")
    return len(a) - replaced - deleted, replaced, deleted, len(kinds) - replaced - deleted


def links(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """For every word of the first the place of the word of the second that it is matched with, or -1."""
    found = [-1] * len(a)
    for start, to, size in Levenshtein.editops(a, b).as_matching_blocks():
        found[start : start + size] = range(to, to + size)
    return found


def tokens(text: str, english: bool = True) -> list[str]:
    """Runs of a-z and 0-9 in lower case: the tokens of ROUGE. In other languages all letters count, sign by sign in
    scripts without spaces."""
    if not english:
        return split_words(" ".join(_TOKEN.findall(text.lower())))
    return "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower()).split()


def pieces(text: str) -> list[str]:
    """Words with one sign split off at the end, or else at the beginning: the words of chrF++."""
    found = []
    for word in text.split():
        if len(word) > 1 and word[-1] in SIGNS:
            found += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in SIGNS:
            found += [word[0], word[1:]]
        else:
            found.append(word)
    return found


def shared(a: Sequence[str], b: Sequence[str], order: int) -> int:
    """How many n-grams both sides have, each as often as on the side that has fewer."""
    one, other = _ngrams(a, order), _ngrams(b, order)
    common = one.keys() & other.keys()
    return sum(min(one[each], other[each]) for each in common)


def _ngrams(items: Sequence[str], order: int) -> Counter[Any]:
    if isinstance(items, str):
        return Counter([items[start : start + order] for start in range(len(items) - order + 1)])
    return Counter(zip(*(items[start:] for start in range(order)), strict=False))


def weighted_common(a: Sequence[str], b: Sequence[str]) -> float:
    """The weight of the heaviest common subsequence, a run of k matches weighing k to the power (Lin 2004)."""
    weights = (np.arange(min(len(a), len(b)) + 2, dtype=np.float64) ** RUN_POWER).tolist()
    cells, runs = [0.0] * (len(b) + 1), [0] * (len(b) + 1)
    for item in a:
        corner, run = cells[0], runs[0]
        for j, other in enumerate(b, start=1):
            above, above_run = cells[j], runs[j]
            if item == other:
                cells[j], runs[j] = corner + weights[run + 1] - weights[run], run + 1
            else:
                cells[j], runs[j] = max(above, cells[j - 1]), 0
            corner, run = above, above_run
    return float(cells[-1])
