"""The most that questions can use, for a plan: a bound, where `Expected` is a guess.

A prompt has at most one token for each byte, and every answer is as long as it may be and is handed back as often
as it may be. What is asked later quotes earlier answers, which have no more tokens than their limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from medjury.judging._asking import Speaker
from medjury.judging._rater import Used
from medjury.models import TOKEN_BYTES, Message, Request, most_tokens

# More than what a model is told that is handed its answer back, and more than what stands around a quoted text.
COMPLAINT, FRAME = 3_000, 300


def most_prompt(messages: Sequence[Message], schema: object = None) -> int:
    """More tokens than these messages have, by any way of counting."""
    asked = most_tokens(Request(tuple(messages)))
    return asked + 4 * len(repr(schema)) + TOKEN_BYTES if schema is not None else asked


def most_question(prompt: int, speaker: Speaker, complaint: int = COMPLAINT) -> Used:
    """One question whose prompt has at most so many tokens, handed back as often as the speaker may be asked."""
    times = 1 + speaker.reasks
    handed_back = (speaker.max_tokens + complaint) * (times * (times - 1) // 2)
    return Used(times, times * prompt + handed_back, times * speaker.max_tokens)
