"""Counting: what two texts share, and which word is which."""

from __future__ import annotations

import random
from itertools import pairwise

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.some_texts import ANYTHING

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics._counts import COLUMNS, GROUPS, count, links, shared
from medjury.texts.transcripts import split_words


@given(ANYTHING, ANYTHING)
def test_any_pair_is_counted(said: str, heard: str) -> None:
    counts = count([said], [heard])
    words, others = len(split_words(said)), len(split_words(heard))
    hits, substitutions, deletions, insertions = (
        int(counts[name][0]) for name in ("hits", "substitutions", "deletions", "insertions")
    )
    assert hits + substitutions + deletions == words == counts["reference_words"][0]
    assert hits + substitutions + insertions == others == counts["hypothesis_words"][0]
    found = [place for place in links(split_words(said), split_words(heard)) if place >= 0]
    assert len(found) == hits and all(one < other for one, other in pairwise(found))


@given(st.lists(st.sampled_from("abc"), min_size=1), st.lists(st.sampled_from("abc"), min_size=1))
def test_of_equally_good_alignments_it_takes_the_one_of_jiwer(said: list[str], heard: list[str]) -> None:
    counts = count([" ".join(said)], [" ".join(heard)], ["words"])
    other = jiwer.process_words(" ".join(said), " ".join(heard))
    assert counts["hits"][0] == other.hits
    assert counts["insertions"][0] == other.insertions


def changed(words: list[str], share: float, generator: random.Random) -> list[str]:
    """The words with some left out, some replaced and some added."""
    out = []
    for word in words:
        if generator.random() < share / 3:
            continue
        out.append(generator.choice(words) if generator.random() < share / 3 else word)
        if generator.random() < share / 3:
            out.append(generator.choice(words))
    return out


def test_a_turn_of_thirty_thousand_words_is_counted() -> None:
    generator = random.Random(1)
    words = [f"w{int(generator.paretovariate(0.6)) % 20000}" for _ in range(30_000)]
    heard = changed(words, 0.1, generator)
    counts = count([" ".join(words)], [" ".join(heard)], ["words", "bleu", "rouge", "chrf_words"])
    edits = sum(int(counts[name][0]) for name in ("substitutions", "deletions", "insertions"))
    assert counts["reference_words"][0] == 30_000
    assert 0 < edits < 3_600
    assert counts["hits"][0] + counts["substitutions"][0] + counts["deletions"][0] == 30_000
    assert counts["longest_common"][0] >= counts["hits"][0]


def test_a_weighted_subsequence_of_very_long_turns_is_refused_not_guessed() -> None:
    long = "word " * 10_001
    one = count([long], [long], ["rouge_w"])
    assert one.weighted.tolist() == [-1.0]


def test_an_n_gram_counts_as_often_as_on_the_side_that_has_fewer() -> None:
    assert [shared("aaaa", "aa", order) for order in (1, 2, 3)] == [2, 1, 0]
    assert shared(["a", "b", "a", "b"], ["a", "b"], 2) == 1


def test_links_say_which_word_is_which() -> None:
    assert links("abcde", "xacde") == [1, -1, 2, 3, 4]
    assert (links([], ["a"]), links(["a"], [])) == ([], [-1])


def test_unpaired_texts_are_refused() -> None:
    with pytest.raises(MedjuryError, match="2 references and 1 hypotheses cannot be paired"):
        count(["a", "b"], ["a"])


def test_no_pairs_give_no_rows() -> None:
    assert count([], []).table.shape == (0, len(COLUMNS))


def test_a_group_alone_counts_what_all_together_count() -> None:
    whole = count(["left arm, pain"], ["left leg pain"]).table
    parts = [count(["left arm, pain"], ["left leg pain"], [group]).table for group in GROUPS]
    assert np.array_equal(np.max(parts, axis=0), whole)
