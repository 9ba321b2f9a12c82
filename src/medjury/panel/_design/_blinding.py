"""What would tell a rater whose answer it is: words that are hidden, and those that a coordinator must know of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from medjury.intake.cases import Case

HIDDEN = "[hidden]"
_SHORTEST = 3  # a name of two letters stands in every text


@dataclass(frozen=True)
class TellingWord:
    """A word that names the system, found in a text that raters see."""

    item: str
    system: str
    word: str
    place: str


# Between the parts of a name: `quokka-scribe` is written quokka_scribe, Quokka Scribe and QuokkaScribe as well.
_BETWEEN = r"[\s_\-\u2010-\u2015]"


def hider(words: Sequence[str], followed_by: str = r"[^\W_]") -> re.Pattern[str] | None:
    """A pattern of the words to hide, longest first, however they are capitalised, spaced and hyphenated."""
    parted = ([part for part in re.split(f"{_BETWEEN}+", word) if part] for word in words)
    longest_first = sorted(filter(None, parted), key=lambda each: -len("".join(each)))
    ways = [f"{_BETWEEN}*".join(map(re.escape, word)) for word in longest_first]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?!{followed_by})", re.IGNORECASE) if ways else None


def hide(text: str, pattern: re.Pattern[str] | None) -> str:
    return text if pattern is None else pattern.sub(HIDDEN, text)


def telling_words(case: Case, texts: Iterable[tuple[str, str]], names: Iterable[str]) -> list[TellingWord]:
    """Names of systems and vendors that stand in what a rater would read after hiding: for `blind_words`."""
    told = []
    texts = list(texts)
    for name in sorted({each for each in names if len(each) >= _SHORTEST}):
        pattern = hider([name], followed_by=r"[^\W\d_]")  # with its version behind it, it tells as much
        for place, text in texts:
            if pattern is not None and pattern.search(text):
                told.append(TellingWord(case.id, case.system, name, place))
    return told
