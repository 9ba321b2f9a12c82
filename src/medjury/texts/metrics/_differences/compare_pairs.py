"""Pairs of turns compared: in C where the kernels are compiled, else in Python, with the same result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.texts.metrics import _compiled
from medjury.texts.metrics._differences.detector import compare_in_c
from medjury.texts.metrics._differences.differences import FEATURES, compare
from medjury.texts.metrics._differences.explain import WordChange, located, reasons_for
from medjury.texts.metrics._differences.reading import UNKNOWN, read, read_question
from medjury.texts.metrics._lexical.counts import COLUMNS, Counts, Kernels, count, links
from medjury.texts.metrics._lexical.lexical import FORMULAS
from medjury.texts.metrics._lexicons import lexicons

Floats = NDArray[np.float64]
# The counts of chrF stand together in the table of counts.
CHRF = slice(COLUMNS.index("reference_signs"), COLUMNS.index("chrf_6") + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What changed in every pair: the features of the model, and the changes by the words as spoken."""

    features: Floats
    changes: list[list[WordChange]]
    answers: list[tuple[str, str]]
    said: list[list[str]]
    heard: list[list[str]]

    def reasons(self) -> list[tuple[str, ...]]:
        """The changes of every pair in words."""
        pairs = zip(self.changes, self.said, self.heard, self.answers, strict=True)
        return [reasons_for(changes, said, heard, *answers) for changes, said, heard, answers in pairs]


def compare_pairs(
    said: Sequence[str], heard: Sequence[str], asked: Sequence[str | None], *, kernels: Kernels = "auto"
) -> Compared:
    """Compare every pair, in the light of what it answers."""
    library = None if kernels == "python" else _compiled.library()
    if library is None:
        return _in_python(said, heard, asked)
    found = compare_in_c(library, said, heard, asked)
    table = np.zeros((len(said), len(COLUMNS)), dtype=np.int64)
    table[:, CHRF] = found.counts
    features = _with_chrf(found.features, Counts(table, np.zeros(0), "compiled"), found.changes)
    return Compared(features, found.changes, found.answers, found.surfaces[::3], found.surfaces[1::3])


def _in_python(said: Sequence[str], heard: Sequence[str], asked: Sequence[str | None]) -> Compared:
    lists = lexicons()
    one = [read(text, lists) for text in said]
    other = [read(text, lists) for text in heard]
    compared = [
        compare(first, second, read_question(question, lists) if question else UNKNOWN)
        for first, second, question in zip(one, other, asked, strict=True)
    ]
    words = [" ".join(each.words) for each in one], [" ".join(each.words) for each in other]
    pairs = zip(one, other, compared, links(*words, kernels="python"), strict=True)
    changes = [located(first, second, each.differences, link, lists) for first, second, each, link in pairs]
    features = np.array([each.features for each in compared]).reshape(-1, len(FEATURES))
    return Compared(
        _with_chrf(features, count(*words, ["chrf"], kernels="python"), changes),
        changes,
        [(first.answer, second.answer) for first, second in zip(one, other, strict=True)],
        [each.surface for each in one],
        [each.surface for each in other],
    )


def _with_chrf(features: Floats, counts: Counts, changes: list[list[WordChange]]) -> Floats:
    """The features and, where anything changed, the share of characters lost (1 − chrF)."""
    lost = np.where([bool(each) for each in changes], 1.0 - FORMULAS["chrf"].read(counts), 0.0)
    return np.column_stack([features, lost])
