"""The kernels in Python, for machines without a C compiler: slower, the same numbers.

Columns of the edit-distance table are Python's long integers, one bit per word (Myers 1999, Hyyrö 2003), so that
even here a turn of 100,000 words is a matter of seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS, CHARACTERS, BLEU, ROUGE, ROUGE_W, CHRF, CHRF_WORDS = 1, 2, 4, 8, 16, 32, 64
SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
# As in `_kernels.c`, where it is said what they decide.
ALIGNMENT_BYTES = 1024 * 1024
WEIGHTED_CELLS = 100_000_000

Items = Sequence[Hashable]


def count(
    references: Sequence[str],
    hypotheses: Sequence[str],
    wanted: int,
    power: float,
    table: NDArray[np.int64],
    weighted: NDArray[np.float64],
) -> None:
    """Fill `table` and `weighted`, one row per pair."""
    for index, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        row = table[index]
        if wanted & (WORDS | BLEU):
            a, b = reference.split(), hypothesis.split()
            row[0:2] = len(a), len(b)
            if wanted & BLEU:
                row[9:13] = [shared(a, b, order) for order in (1, 2, 3, 4)]
            if wanted & WORDS:
                row[2:6] = align(a, b)
        if wanted & CHARACTERS:
            c, d = reference.strip(), hypothesis.strip()
            row[6:9] = len(c), len(d), distance(c, d)
        if wanted & ROUGE:
            a, b = tokens(reference), tokens(hypothesis)
            row[13:18] = len(a), len(b), shared(a, b, 1), shared(a, b, 2), longest_common(a, b)
            if wanted & ROUGE_W:
                fits = len(a) * len(b) <= WEIGHTED_CELLS
                weighted[index] = weighted_common(a, b, power) if fits else -1.0
        if wanted & CHRF:
            c, d = "".join(reference.split()), "".join(hypothesis.split())
            row[18:26] = len(c), len(d), *(shared(c, d, order) for order in (1, 2, 3, 4, 5, 6))
        if wanted & CHRF_WORDS:
            a, b = pieces(reference), pieces(hypothesis)
            row[26:30] = len(a), len(b), shared(a, b, 1), shared(a, b, 2)


def links(references: Sequence[str], hypotheses: Sequence[str]) -> list[list[int]]:
    """For every word of every reference the place of its equal in the hypothesis, or -1."""
    found = []
    for reference, hypothesis in zip(references, hypotheses, strict=True):
        a, b = reference.split(), hypothesis.split()
        pairs = [-1] * len(a)
        align(a, b, links=pairs)
        found.append(pairs)
    return found


def tokens(text: str) -> list[str]:
    """Runs of a-z and 0-9 in lower case: the tokens of ROUGE."""
    lower = text.lower()
    return "".join(c if c.isascii() and c.isalnum() else " " for c in lower).split()


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


def shared(a: Any, b: Any, order: int) -> int:
    """How many n-grams both sides have, each as often as on the side that has fewer."""

    def ngrams(items: Any) -> Counter[Any]:
        if isinstance(items, str):
            return Counter(items[i : i + order] for i in range(len(items) - order + 1))
        return Counter(zip(*(items[i:] for i in range(order)), strict=False))

    return (ngrams(a) & ngrams(b)).total()


def distance(a: str, b: str) -> int:
    """The edit distance between two texts."""
    start, stop_a, stop_b = _trim(a, b)
    a, b = a[start:stop_a], b[start:stop_b]
    return _last_column(a, b)[-1] if a and b else len(a) + len(b)


def align(a: Items, b: Items, *, links: list[int] | None = None) -> tuple[int, int, int, int]:
    """Hits, substitutions, deletions and insertions of one best alignment."""
    hits = substitutions = deletions = insertions = 0
    parts = [(a, b, 0, 0, max(len(a), len(b)))]
    while parts:
        a, b, at, to, limit = parts.pop()
        start, stop_a, stop_b = _trim(a, b)
        hits += start + len(a) - stop_a
        if links is not None:
            links[at : at + start] = range(to, to + start)
            links[at + stop_a : at + len(a)] = range(to + stop_b, to + len(b))
        a, b, at, to = a[start:stop_a], b[start:stop_b], at + start, to + start
        n, m = len(a), len(b)
        limit = min(limit, max(n, m))
        if n and m and 2 * min(n, 2 * limit + 1) * m // 8 >= ALIGNMENT_BYTES and n >= 65 and m >= 10:
            middle = m // 2
            left = _last_column(a, b[:middle])
            right = _last_column(a[::-1], b[middle:][::-1])
            cut = min(range(n + 1), key=lambda i: left[i] + right[n - i])
            parts.append((a[:cut], b[:middle], at, to, left[cut]))
            parts.append((a[cut:], b[middle:], at + cut, to + middle, right[n - cut]))
            continue
        columns = _columns(a, b)
        i, j = n, m
        while i and j:
            if columns[j - 1][0] >> (i - 1) & 1:
                i, deletions = i - 1, deletions + 1
                continue
            j -= 1
            if j and columns[j - 1][1] >> (i - 1) & 1:
                insertions += 1
                continue
            i -= 1
            if a[i] != b[j]:
                substitutions += 1
            else:
                hits += 1
                if links is not None:
                    links[at + i] = to + j
        deletions, insertions = deletions + i, insertions + j
    return hits, substitutions, deletions, insertions


def longest_common(a: Items, b: Items) -> int:
    """The length of the longest common subsequence (Hyyrö 2004)."""
    mask, rows = (1 << len(a)) - 1, _rows(a)
    left = mask
    for item in b:
        kept = left & rows.get(item, 0)
        left = ((left + kept) | (left - kept)) & mask
    return len(a) - left.bit_count()


def weighted_common(a: Items, b: Items, power: float) -> float:
    """The weight of the heaviest common subsequence, a run of k matches weighing k to the power (Lin 2004)."""
    weights = (np.arange(min(len(a), len(b)) + 2, dtype=np.float64) ** power).tolist()
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


def _trim(a: Any, b: Any) -> tuple[int, int, int]:
    """Where the two stop being equal from the front, and from the back on either side."""
    start, shorter = 0, min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    back = 0
    while back < shorter - start and a[-1 - back] == b[-1 - back]:
        back += 1
    return start, len(a) - back, len(b) - back


def _rows(items: Items) -> dict[Hashable, int]:
    """For every item the places where it stands, as the bits of one integer."""
    places: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item, []).append(place)
    rows = {}
    for item, where in places.items():
        bits = bytearray(where[-1] // 8 + 1)
        for place in where:
            bits[place // 8] |= 1 << (place % 8)
        rows[item] = int.from_bytes(bits, "little")
    return rows


def _columns(a: Items, b: Items, *, keep: bool = True) -> list[tuple[int, int]]:
    """The columns of the table as (where it rises by one, where it falls by one); the last one alone if asked."""
    mask, rows = (1 << len(a)) - 1, _rows(a)
    up, down = mask, 0
    columns = [(up, down)]
    for item in b:
        row = rows.get(item, 0)
        diagonal = ((((row & up) + up) ^ up) | row | down) & mask
        right_up = down | (mask & ~(diagonal | up))
        right_down = diagonal & up
        right_up = (right_up << 1 | 1) & mask
        right_down = right_down << 1 & mask
        up, down = right_down | (mask & ~(diagonal | right_up)), right_up & diagonal
        if keep:
            columns.append((up, down))
        else:
            columns[0] = (up, down)
    return columns[1:] if keep else columns


def _last_column(a: Items, b: Items) -> list[int]:
    up, down = _columns(a, b, keep=False)[0]
    scores = [len(b)]
    for rises, falls in zip(_bits(up, len(a)), _bits(down, len(a)), strict=True):
        scores.append(scores[-1] + rises - falls)
    return scores


def _bits(number: int, length: int) -> list[int]:
    raw = np.frombuffer(number.to_bytes(length // 8 + 1, "little"), dtype=np.uint8)
    bits: list[int] = np.unpackbits(raw, bitorder="little")[:length].tolist()
    return bits
