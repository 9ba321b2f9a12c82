"""The aligner's constants, all in words, and why they are what they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """One word that differs costs 1. The rest is reasoned, not fitted; results do not hang on the exact values.

    - `missed`, `spurious` 0.5: a turn without counterpart costs a little more than its words, so that one shared
      word, or half the letters of a short turn, is reason enough to pair two turns.
    - `extra_golden` 1.5: recognisers seldom run two turns together across the other speaker. Above `missed`, so
      that a turn that brings no word of its own is missed and not tied to its neighbour; below `missed` + 2, so
      that one word found in the neighbour's segment is evidence enough.
    - `extra_fragment` 0.75: recognisers often split. Above `spurious` for the same reason, below it + 2 likewise.
    - `unlike` 0.25, times 1 − similarity: where the words cost the same, the whole turn is a better home for a
      segment than a part of one. `doubt` 0.2: a segment of confidence 0 costs a fifth less to leave over. Both are
      tie-breakers, far below one word.
    - `time` 0.5, reached at `time_reach` 10 s: clocks are set by the text and drift, so that time never outweighs
      one word; it settles which of several "okay" is meant.
    - `retry` 0.65: the lexical similarity at which a missed turn is given to an unused segment after all (as
      published). `most_golden`, `most_fragments`: bounds of a group in the search; repair may add fragments.
    """

    missed: float = 0.5
    spurious: float = 0.5
    extra_golden: float = 1.5
    extra_fragment: float = 0.75
    unlike: float = 0.25
    doubt: float = 0.2
    time: float = 0.5
    time_reach: float = 10.0
    retry: float = 0.65
    most_golden: int = 5
    most_fragments: int = 40


WEIGHTS = Weights()
