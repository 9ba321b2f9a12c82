"""Reading an utterance for what a clinician would take from it: concepts, denials, numbers, the answer."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import NamedTuple

from medjury.texts.metrics._lexicons import (
    ANSWER,
    ASKS,
    CLINICAL,
    CONTEXT,
    COURTESY,
    FUNCTION,
    NEGATION,
    NUMBER,
    TERM,
    TURN,
    Lexicons,
    Phrase,
    Phrases,
    canonical_words,
)
from medjury.texts.transcripts import normalise

# After a negation this many words are denied, unless the clause turns before.
SCOPE = 5
MARGIN = 3
# An answer stands among the first words.
ANSWER_WITHIN = 6
# "right" is a side only beside a part of the body, or where a listed phrase says so.
SIDE = "right"
SHORTEST_DRUG = 7
# These are quantities only before something that is counted.
VAGUE_NUMBERS = frozenset({"one", "few", "sever", "point", "half", "quarter"})
JOINS_NUMBERS = frozenset({"and", "or", "to"})
COUNTED = {"time": "time", "frequency": "time", "unit": "dose", "drug": "dose"}


class Concept(NamedTuple):
    """Something clinically loaded: its words and where they stand; `negation` is the place of the last negation
    before it in its clause, -1 where there is none."""

    category: str
    words: Phrase
    start: int
    stop: int
    negation: int

    @property
    def denied(self) -> bool:
        return self.negation >= 0 and self.start - self.negation <= SCOPE

    @property
    def affirmed(self) -> bool:
        """Clearly so: a negation a few words too far away leaves it open."""
        return self.negation < 0 or self.start - self.negation > SCOPE + MARGIN


class Reading(NamedTuple):
    """An utterance as read: canonical words, concepts, the rest of its content, and the answer it gives.

    `answer` is "yes", "no" or ""; `courtesy` says that nothing but politeness and assent was said.
    """

    surface: list[str]
    words: Phrase
    concepts: dict[Phrase, Concept]
    content: dict[str, int]
    denials: int
    answer: str
    courtesy: bool


class Question(NamedTuple):
    """What the utterance answers: its words, whether it asks about health, about the record (name, address),
    or informs and closes."""

    words: frozenset[str] = frozenset()
    clinical: bool = True
    administrative: bool = False
    closing: bool = False


# Without a question the worst is assumed: that it asked about health.
UNKNOWN = Question()


def read(text: str, lists: Lexicons) -> Reading:
    """Read one utterance against the word lists."""
    surface = normalise(text).split()
    words = words_of(surface, lists)
    concepts: dict[Phrase, Concept] = {}
    content: dict[str, int] = {}
    denials, denied_at, polite_until, polite, answer = 0, -1, 0, bool(words), ""
    place, count, kinds, alone = 0, len(words), lists.kinds, lists.alone
    while place < count:
        word = words[place]
        kind = kinds.get(word, 0)
        if kind == FUNCTION:
            place += 1
            continue
        if kind & TURN:
            denied_at = -1
        if kind & ANSWER and not answer and place < ANSWER_WITHIN:
            answer = _answer(words, place, lists)
        if kind & NEGATION:
            polite = False
            if word != "no" or _denies_next(words, place, kinds):
                denials += 1
                denied_at = place
        if kind & COURTESY:
            polite_until = max(polite_until, place + _length(words, place, lists.courtesy[word]))
        stop, category = place, ""
        if kind & (TERM | NUMBER):
            if word in alone and not kind & NUMBER:
                stop, category = place + 1, alone[word]
            else:
                stop, category = _concept(words, place, kind, lists)
        elif not kind and len(word) >= SHORTEST_DRUG and word.endswith(lists.drug_endings):
            stop, category = place + 1, "drug"
        if stop == place and word == SIDE:
            stop, category = _side(words, place, lists)
        if stop > place:
            phrase = words[place:stop]
            if phrase not in concepts:
                concepts[phrase] = Concept(category, phrase, place, stop, denied_at)
            if stop > polite_until and category != "qualifier":
                polite = False
            place = stop
            continue
        if not kind & (FUNCTION | NEGATION) and place >= polite_until:
            content.setdefault(word, place)
            polite = False
        place += 1
    if not answer and "not" in words[:4]:
        answer = "no"
    return Reading(surface, words, concepts, content, denials, answer, polite)


def read_question(text: str, lists: Lexicons) -> Question:
    """Read what the other speaker said before, for what it asks."""
    words = words_of(normalise(text).split(), lists)
    kinds = lists.kinds
    every = 0
    for word in words:
        every |= kinds.get(word, 0)
    clinical = bool(every & ASKS) or (bool(every & TERM) and _asks(words, lists))
    if not every & CONTEXT:
        return Question(frozenset(words), clinical)
    administrative = not clinical and mentions(words, lists.administrative)
    if not administrative and not clinical and not every & TERM:
        administrative = mentions(words, lists.greetings)
    return Question(frozenset(words), clinical, administrative, mentions(words, lists.closing))


def words_of(surface: list[str], lists: Lexicons) -> Phrase:
    """The canonical words of an utterance, stammered repeats said once."""
    canon = lists.canon
    if lists.wordings.keys().isdisjoint(surface):
        words: list[str] | Phrase = [each for word in surface for each in canon[word]]
    else:
        words = canonical_words(surface, canon, lists.wordings)[0]
    # A word that follows itself, or comes again after one other, may be a stammer; mostly there is none.
    if not (any(map(eq, words, words[1:])) or any(map(eq, words, words[2:]))):
        return tuple(words)
    return tuple(words[place] for place in _said_once(words))


def origins_of(reading: Reading, lists: Lexicons) -> list[int]:
    """From which spoken word each canonical word of a reading comes; worked out only to quote them."""
    words, origins = canonical_words(reading.surface, lists.canon, lists.wordings)
    return [origins[place] for place in _said_once(words)]


def _said_once(words: Sequence[str]) -> list[int]:
    """The places of the words that stay when a repeat of one word or of two words is said once."""
    kept: list[int] = []
    for place, word in enumerate(words):
        if kept and word == words[kept[-1]]:
            continue
        if len(kept) > 2 and word == words[kept[-2]] and words[kept[-1]] == words[kept[-3]]:
            kept.pop()
            continue
        kept.append(place)
    return kept


def mentions(words: Phrase, phrases: Phrases) -> bool:
    """Whether any of the listed phrases stands in the words."""
    if phrases.keys().isdisjoint(words):
        return False
    return any(
        word in phrases and _length(words, place, phrases[word]) > 0 for place, word in enumerate(words)
    )


def _denies_next(words: Phrase, place: int, kinds: dict[str, int]) -> bool:
    """Whether a "no" denies what follows ("no pain") rather than answers ("no, I have", "no no")."""
    return place + 1 < len(words) and not kinds.get(words[place + 1], 0) & (FUNCTION | NEGATION)


def _length(words: Phrase, place: int, phrases: tuple[Phrase, ...]) -> int:
    """How many words the longest of the phrases covers here; 0 where none stands here."""
    for phrase in phrases:
        if len(phrase) == 1 or words[place : place + len(phrase)] == phrase:
            return len(phrase)
    return 0


def _listed(words: Phrase, place: int, lists: Lexicons) -> tuple[int, str]:
    """Where the listed term that begins here stops, and its category; here and "" where there is none."""
    for phrase, category in lists.terms.get(words[place], ()) if place < len(words) else ():
        stop = place + len(phrase)
        if len(phrase) == 1 or words[place:stop] == phrase:
            return stop, category
    return place, ""


def _concept(words: Phrase, place: int, kind: int, lists: Lexicons) -> tuple[int, str]:
    """The concept that begins here: a number with what it counts, or a listed term."""
    if not kind & NUMBER:
        return _listed(words, place, lists)
    kinds, count, stop = lists.kinds, len(words), place + 1
    while stop < count:
        if kinds.get(words[stop], 0) & NUMBER:
            stop += 1
        elif words[stop] in JOINS_NUMBERS and stop + 1 < count and kinds.get(words[stop + 1], 0) & NUMBER:
            stop += 2
        else:
            break
    after, category = _listed(words, stop, lists)
    if category in COUNTED:
        return after, COUNTED[category]
    if stop == place + 1 and words[place] in VAGUE_NUMBERS:
        return _listed(words, place, lists)
    return stop, "number"


def _side(words: Phrase, place: int, lists: Lexicons) -> tuple[int, str]:
    return (place + 1, "laterality") if _listed(words, place + 1, lists)[1] == "anatomy" else (place, "")


def _asks(words: Phrase, lists: Lexicons) -> bool:
    return any(_listed(words, place, lists)[1] in CLINICAL for place in range(len(words)))


def _answer(words: Phrase, place: int, lists: Lexicons) -> str:
    word = words[place]
    if word in lists.no and _length(words, place, lists.no[word]):
        return "no"
    if word in lists.yes and _length(words, place, lists.yes[word]):
        return "yes"
    if word in lists.short_yes:
        stop = place + _length(words, place, lists.short_yes[word])
        if stop > place and (stop == len(words) or words[stop] in lists.yes):
            return "yes"
    return ""
