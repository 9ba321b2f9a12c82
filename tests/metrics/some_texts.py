"""Texts for the tests of the metrics."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
PRIMOCK = ROOT.parent / "shared" / "data" / "transcript_impact" / "primock_dev.csv"

# Few different words and signs, so that pairs share much; white space and letters of every kind.
WORDS = st.sampled_from(
    ["yes", "no", "the", "pain", "left", "I", "I'm", "(hi)", "so.", "é", "İ", "\u212aelvin", "中文"]
)
SPACES = st.sampled_from([" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000"])
# Words of letters a to z, which every metric reads.
LETTERS = st.sampled_from(["yes", "no", "the", "pain", "left", "I"])


def joined(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(word + space for word, space in pairs)


SENTENCES = st.lists(st.tuples(WORDS, SPACES), max_size=30).map(joined)
# Sentences with a word at least, and those with four words of letters somewhere in them.
SPOKEN = st.lists(st.tuples(WORDS, SPACES), min_size=1, max_size=30).map(joined)
READABLE = (
    st.tuples(
        st.lists(st.tuples(LETTERS, SPACES), min_size=4, max_size=4),
        st.lists(st.tuples(WORDS, SPACES), max_size=26),
    )
    .flatmap(lambda parts: st.permutations(parts[0] + parts[1]))
    .map(joined)
)
ANYTHING = st.one_of(SENTENCES, st.text(max_size=120), st.text(alphabet="ab .", max_size=200))
