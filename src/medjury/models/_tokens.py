"""How many tokens a text has, without a tokenizer: an approximation for plans and pacing, never for bills.

Four numbers, for four uses: `estimate_tokens` is near the truth on average (plans), `cautious_tokens` seldom
below it (does a prompt surely fit its model?), `least_tokens` seldom above it (is it clearly too long?),
`most_tokens` never below it (what may a call cost at most?).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from medjury.models._schema_text import schema_length, schema_text

if TYPE_CHECKING:
    from medjury.models._chat import Message, Request

# English clinical prose has 3.5 to 4.5 signs per token in the tokenizers in use; tables and abbreviations
# have fewer. Letters outside ASCII take about one token each.
SIGNS_PER_TOKEN = 3.6
TOKENS_PER_MESSAGE = 6
CAUTIOUS_TOKENS_PER_MESSAGE = 12
TOKEN_WORDS, TOKEN_BYTES = 60, 200  # more than the words have that show a token
MOST_COUNTED = 2**53  # no call has more; no database and no float holds them exactly


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has (within a third for ordinary clinical English).

    >>> estimate_tokens("No fever, no cough, sats 98 % on air.")
    11
    """
    if not text:
        return 0
    if text.isascii():
        return math.ceil(len(text) / SIGNS_PER_TOKEN)
    plain = sum(sign < "\x80" for sign in text)
    return math.ceil(plain / SIGNS_PER_TOKEN + (len(text) - plain))


# A word, letters in capitals, signs outside ASCII, white space that is a token of its own; else one sign.
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\x00-\x7f]+|\s{2,}|\n| (?=[0-9])|[^\sA-Za-z]")
_OTHER_LETTERS = re.compile(r"[^\W\d_\x00-\x7f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_FOREIGN_SHARE = 0.005  # from here on the words are not taken for English ones


def cautious_tokens(text: str) -> int:
    """How many tokens a text has, rather too many than too few.

    Measured against a tokenizer with a small, English vocabulary, which makes more tokens than most: 1.05 to
    1.7 times the truth for clinical notes, dialogues and abstracts, 0.95 to 1.7 times for laboratory tables,
    drug names and sixteen other languages. Text that is no language (base64) can be undercounted by a third.

    >>> cautious_tokens("No fever, no cough, sats 98 % on air.")
    14
    """
    foreign = not text.isascii() and len(_OTHER_LETTERS.findall(text)) > _FOREIGN_SHARE * len(text)
    # A long record says the same words again and again: each is looked at once.
    pieces = Counter(_PIECES.findall(text))
    return math.ceil(sum(times * _piece_tokens(piece, foreign) for piece, times in pieces.items()))


def _piece_tokens(piece: str, foreign: bool) -> float:
    length, first = len(piece), piece[0]
    if first > "\x7f":
        return 0.75 * (len(piece.encode("utf-8", "replace")) + len(_HANGUL.findall(piece)))
    if first.isspace():
        return 1 + (length - 1) / 4
    if not first.isalpha():
        return 1
    if piece[-1] <= "Z":  # in capitals
        return max(1.0, length / 1.6)
    if foreign:
        return max(1.0, length / 2.1)
    return 1 + (length - 1) // 5 if length <= 8 else length / 3.2


# The largest vocabularies in use make at least one token of so many signs that are no white space, over a text
# of some length: about 4 in English prose, fewer in tables, abbreviations and other languages.
MOST_SIGNS_PER_TOKEN = 5
_SAME_SIGN = re.compile(r"([^\sA-Za-z0-9])\1{3,}")  # a ruled line is a token or two, however long


def least_tokens(text: str) -> int:
    """How many tokens a text has at the least, rather too few than too many; whatever the model.

    >>> least_tokens("No fever, no cough, sats 98 % on air.")
    6
    """
    return math.ceil(len("".join(_SAME_SIGN.sub(r"\1", text).split())) / MOST_SIGNS_PER_TOKEN)


def reported_tokens(value: Any) -> int | None:
    """The count an endpoint reports; None where it reports none, or one that cannot be."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= MOST_COUNTED else None


def request_tokens(request: Request) -> int:
    """About how many tokens a request sends."""
    return image_tokens(request.messages) + sum(
        estimate_tokens(each.content) + TOKENS_PER_MESSAGE for each in request.messages
    )


def image_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens the images of messages are: one for 750 pixels, as far as endpoints make them
    smaller."""
    return sum(min(1600, each.width * each.height // 750) + 100 for m in messages for each in m.images)


def most_tokens(request: Request) -> int:
    """More tokens than any tokenizer makes of the request: one per byte, and with it the schema and a token."""
    texts: Iterable[str] = (message.content for message in request.messages)
    size = sum(len(text) if text.isascii() else len(text.encode("utf-8", "replace")) for text in texts)
    schema = 4 * schema_length(request.schema) + TOKEN_BYTES if request.schema is not None else 0
    # No model is known to take less than 14 × 14 pixels for a token.
    shown = sum(each.width * each.height // 196 + 1000 for m in request.messages for each in m.images)
    return size + schema + shown + 64 * (1 + len(request.messages))


def cautious_request_tokens(request: Request) -> int:
    """How many tokens a request sends, schema and token among them, rather too many than too few."""
    schema = cautious_tokens(schema_text(request.schema)) if request.schema is not None else 0
    shown = TOKEN_WORDS if request.token else 0
    return (
        schema
        + shown
        + 3 * image_tokens(request.messages)
        + sum(cautious_tokens(each.content) + CAUTIOUS_TOKENS_PER_MESSAGE for each in request.messages)
    )


def least_request_tokens(request: Request) -> int:
    """How many tokens a request sends at the least, rather too few than too many."""
    return sum(least_tokens(each.content) for each in request.messages)
