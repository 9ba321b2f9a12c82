"""The aligner's constants, all in words, and why they are what they are. One word that differs costs 1. The rest is
reasoned, not fitted; results do not hang on the exact values."""

# A turn without counterpart costs a little more than its words, so that one shared word, or half the letters of a
# short turn, is reason enough to pair two turns.
MISSED = SPURIOUS = 0.5
# Recognisers seldom run two turns together across the other speaker. Above `MISSED`, so that a turn that brings no
# word of its own is missed and not tied to its neighbour; below `MISSED` + 2, so that one word found in the
# neighbour's segment is evidence enough.
EXTRA_GOLDEN = 1.5
# Recognisers often split. Above `SPURIOUS` for the same reason, below it + 2 likewise.
EXTRA_FRAGMENT = 0.75
# Times 1 − similarity: where the words cost the same, the whole turn is a better home for a segment than a part of
# one. And a segment of confidence 0 costs a fifth less to leave over. Both are tie-breakers, far below one word.
UNLIKE, DOUBT = 0.25, 0.2
# Clocks are set by the text and drift, so that time, whose cost is reached at so many seconds, never outweighs one
# word; it settles which of several "okay" is meant.
TIME, TIME_REACH = 0.5, 10.0
# The lexical similarity at which a missed turn is given to an unused segment after all (as published).
RETRY = 0.65
# Bounds of a group in the search; repair may add fragments.
MOST_GOLDEN, MOST_FRAGMENTS = 5, 40
