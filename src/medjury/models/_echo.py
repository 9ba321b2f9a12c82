"""What an endpoint says of a failure may repeat the prompt, perhaps clinical text: that is not passed on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medjury.models._chat import Request

_LONGEST_QUOTE = 200
_ECHO = 13  # this many letters and digits in a row in common with the prompt count as an echo of it
_LEFT_OUT = "(left out)"
_QUOTED = re.compile(r"""(['"`‘“«])([^'"`’”»]{2,}?)['"`’”»]""")
_CUT_WORD = re.compile(r"[\w.~+/=%-]+$")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# What endpoints say of themselves: in a prompt too, these words tell nothing of a patient.
_PLAIN = frozenset(
    """
    a an and api are as at be been but by can cannot could did do does error expected field for found from had has
    have http https if in input internal invalid is it its json key limit max maximum message messages missing
    model must name no not number of on only or output parameter please prompt provided request required response
    role schema seed server should status string supported system temperature text that the there this to token
    tokens too type unknown unsupported use user value was were with you your
    """.split()  # noqa: SIM905 - words are read more easily than a list of them
)


def prompt_of(request: Request) -> list[str]:
    """The texts of a request that may be clinical: all but the instructions."""
    return [message.content for message in request.messages if message.role != "system"]


def without_echo(words: str, prompt: Iterable[str]) -> str:
    """The words on one line; nothing of them where they repeat the prompt at length, and no name, number or
    quotation that the prompt has too: "near 'Jane Roe'" is a patient's name."""
    words = " ".join(words.split())
    if len(words) > _LONGEST_QUOTE:  # a key that the cut would halve goes whole: half of one is not masked
        words = _CUT_WORD.sub("", words[:_LONGEST_QUOTE])
    prompt = list(prompt)
    said, texts = _letters(words), [_letters(text) for text in prompt]
    pieces = {said[start : start + _ECHO] for start in range(len(said) - _ECHO + 1)}
    if any(piece in text for piece in pieces for text in texts):
        return "(its words are left out: they repeat the prompt)"
    return _without_names(words, prompt, texts)


def _without_names(words: str, prompt: list[str], texts: list[str]) -> str:
    def quoted(match: re.Match[str]) -> str:
        inside = _letters(match[2])
        plain = all(each.casefold() in _PLAIN for each in _WORD.findall(match[2]))
        return match[0] if plain or not any(inside in text for text in texts) else _LEFT_OUT

    used = {each for text in prompt for each in _WORD.findall(text) if len(each) > 1}
    names = {each.casefold() for each in used if _is_name(each)}
    proper = {each for each in names if each not in used}  # never without its capital: a name in any case

    def name(match: re.Match[str]) -> str:
        word = match[0].casefold()
        known = word in proper or (word in names and _is_name(match[0]))
        return _LEFT_OUT if known and word not in _PLAIN else match[0]

    left = _WORD.sub(name, _QUOTED.sub(quoted, words))
    return re.sub(rf"{re.escape(_LEFT_OUT)}(?:[\s,;:'\"-]*{re.escape(_LEFT_OUT)})+", _LEFT_OUT, left)


def _is_name(word: str) -> bool:
    """Whether a word may be a name or a number: it has a capital or a digit."""
    return any(sign.isupper() or sign.isdigit() for sign in word)


def _letters(text: str) -> str:
    """The text's letters and digits alone: an echo may differ in case, spaces, quotes or escapes."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
