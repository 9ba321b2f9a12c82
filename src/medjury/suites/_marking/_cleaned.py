"""What a model said, without its thoughts before it, the question it repeats and the one it makes up behind it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# Letters in a box or a disc, which are letters to the eye alone.
_BOXED_LETTERS = {start + step: chr(65 + step) for start in (0x1F130, 0x1F150, 0x1F170) for step in range(26)}
_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad|reflection"
_THOUGHT = re.compile(rf"<\s*({_TAGS})\s*>.*?<\s*/\s*\1\s*>", re.IGNORECASE | re.DOTALL)
_OPENS = re.compile(rf"<\s*(?:{_TAGS})\s*>", re.IGNORECASE)
_CLOSES = re.compile(rf"<\s*/\s*(?:{_TAGS})\s*>", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|message\|>)?", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]")
_NEXT_QUESTION = re.compile(
    r"\n[#*\s]*(?:(?:next|new)\s+question|question|human|user|instruction|problem)\s*\d*\s*\**\s*:",
    re.IGNORECASE,
)
_LONG_ENOUGH = 25  # characters of an input that cannot be met by chance


class UnfinishedError(ValueError):
    """The reasoning began and never ended, so that there is no answer after it."""


def plain_text(text: str) -> str:
    """One spelling of every character: full-width, circled and mathematical letters are letters."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.translate(_BOXED_LETTERS)))


def without_thought(text: str) -> str:
    """The text after the reasoning that models put into tags or channels of its own."""
    if _CHANNEL.search(text):
        parts = _FINAL_CHANNEL.split(text)
        if len(parts) == 1:
            raise UnfinishedError
        text = parts[-1]
    text = _THOUGHT.sub("\n", text)
    if closing := list(_CLOSES.finditer(text)):  # where the prompt itself opened the tag
        text = text[closing[-1].end() :]
    if opening := _OPENS.search(text):
        if not text[: opening.start()].strip():
            raise UnfinishedError
        text = text[: opening.start()]
    return _SPECIAL.sub(" ", text).strip()


def without_question(text: str, shown: Iterable[str]) -> str:
    """The text without the inputs it repeats word for word, and without a question that it makes up at its end."""
    for given in sorted((plain_text(each).strip() for each in shown), key=len, reverse=True):
        if len(given) >= _LONG_ENOUGH:
            text = re.sub(r"\s+".join(re.escape(word) for word in given.split()), "\n", text)
    invented = _NEXT_QUESTION.search(text)
    if invented and text[: invented.start()].strip():
        text = text[: invented.start()]
    return text.strip()
