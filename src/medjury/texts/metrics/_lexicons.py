"""The word lists, read from the data files beside this module and made ready for look-up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from medjury.texts.metrics._porter import stem
from medjury.texts.transcripts import fillers, normalise

Phrase = tuple[str, ...]
Phrases = dict[str, tuple[Phrase, ...]]
Term = tuple[Phrase, str]  # the canonical words of a listed phrase, and its category
Wordings = dict[str, tuple[tuple[Phrase, Phrase], ...]]

# Category -> its file. A term that stands in several lists belongs to the first of them.
CATEGORIES = {
    "drug": "drugs",
    "symptom": "symptoms",
    "condition": "conditions",
    "anatomy": "anatomy",
    "laterality": "laterality",
    "family": "family",
    "frequency": "frequencies",
    "time": "times",
    "unit": "units",
    "history": "history",
    "exposure": "exposures",
    "qualifier": "qualifiers",
}
# A question that holds one of these asks about health.
CLINICAL = frozenset({"drug", "symptom", "condition", "anatomy", "family", "history"})
# Sounds that can be an answer are kept, the other hesitations are not words at all.
SPOKEN_ANSWERS = frozenset({"huh", "mhm", "mhmm", "mmhm", "mmhmm"})
# A stream of ever new words must not fill the memory.
MOST_WORDS = 200_000

NEGATION, TURN, NUMBER, TERM, COURTESY, FUNCTION, ANSWER, CONTEXT, ASKS = (1 << bit for bit in range(9))
TURNS = "but though although except apart however just only because and yes"
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
    "point half quarter couple few several dozen third fourth fifth sixth seventh eighth ninth tenth"
)


class Canon(dict[str, Phrase]):
    """Word -> its canonical stems: none for a hesitation, several where a contraction is written out."""

    def __init__(self, known: dict[str, Phrase]) -> None:
        super().__init__(known)
        self.by_stem = {stem(word): phrase for word, phrase in known.items() if phrase}

    def __missing__(self, word: str) -> Phrase:
        root = stem(word)
        found = self.by_stem.get(root, (root,))
        if len(self) < MOST_WORDS:
            self[word] = found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Lexicons:
    """All lists in the form in which an utterance is read against them.

    `kinds` says of a canonical word in which lists a phrase begins with it (the bits above); the phrases
    themselves are found by their first word, the longest first. `alone` gives the category of a word that is
    a term by itself and begins no longer one.
    """

    canon: Canon
    wordings: Wordings
    kinds: dict[str, int]
    terms: dict[str, tuple[Term, ...]]
    alone: dict[str, str]
    drug_endings: tuple[str, ...]
    courtesy: Phrases
    yes: Phrases
    short_yes: Phrases
    no: Phrases
    greetings: Phrases
    administrative: Phrases
    closing: Phrases


@cache
def lexicons() -> Lexicons:
    """The lists that come with the package; read once."""
    canon, wordings = _wordings()
    kinds: dict[str, int] = {}

    def canonical(phrase: str) -> Phrase:
        return canonical_words(phrase.split(), canon, wordings)[0]

    def mark(words: Iterable[str], kind: int) -> None:
        for word in words:
            kinds[word] = kinds.get(word, 0) | kind

    def phrases(file: str, kind: int) -> Phrases:
        found: dict[str, set[Phrase]] = {}
        for words in map(canonical, entries(file)):
            if words:
                found.setdefault(words[0], set()).add(words)
        mark(found, kind)
        return {first: tuple(sorted(each, key=len, reverse=True)) for first, each in found.items()}

    terms: dict[str, list[Term]] = {}
    taken: set[Phrase] = set()
    for category, file in CATEGORIES.items():
        for words in map(canonical, entries(file)):
            if words and words not in taken:
                taken.add(words)
                terms.setdefault(words[0], []).append((words, category))
                mark(words[:1], TERM | ASKS if category in CLINICAL and len(words) == 1 else TERM)
    mark(
        (word for words in map(canonical, entries("negations")) if len(words) == 1 for word in words),
        NEGATION,
    )
    mark((word for words in map(canonical, entries("function_words")) for word in words), FUNCTION)
    mark(map(stem, TURNS.split()), TURN)
    mark((word for number in NUMBERS.split() for word in canonical(number)), NUMBER)
    return Lexicons(
        canon=canon,
        wordings=wordings,
        kinds=kinds,
        terms={
            first: tuple(sorted(each, key=lambda term: len(term[0]), reverse=True))
            for first, each in terms.items()
        },
        alone={first: each[0][1] for first, each in terms.items() if len(each) == len(each[0][0]) == 1},
        drug_endings=tuple(entries("drug_endings")),
        courtesy=phrases("courtesy", COURTESY),
        yes=phrases("answers_yes", ANSWER),
        short_yes=phrases("answers_short", ANSWER),
        no=phrases("answers_no", ANSWER),
        greetings=phrases("greetings", CONTEXT),
        administrative=phrases("administrative", CONTEXT),
        closing=phrases("closing", CONTEXT),
    )


def entries(file: str) -> Iterator[str]:
    """The terms of one list: between commas or line ends, without comments."""
    for line in _lines(file):
        for term in line.split(","):
            if term.strip():
                yield normalise(term)


def canonical_words(words: list[str], canon: Canon, wordings: Wordings) -> tuple[Phrase, list[int]]:
    """The words of a text in canonical form, equivalent wordings replaced, and where each came from."""
    found: list[str] = []
    origins: list[int] = []
    place, count = 0, len(words)
    while place < count:
        word = words[place]
        step, replacement = 1, canon[word]
        for wording, other in wordings.get(word, ()):
            if tuple(words[place : place + len(wording)]) == wording:
                step, replacement = len(wording), other
                break
        for each in replacement:
            found.append(each)
            origins.append(place)
        place += step
    return tuple(found), origins


def _lines(file: str) -> Iterator[str]:
    text = (
        resources.files("medjury.texts.metrics").joinpath(f"lexicons/{file}.txt").read_text(encoding="utf-8")
    )
    for line in text.splitlines():
        yield line.partition("#")[0]


def _wordings() -> tuple[Canon, Wordings]:
    known: dict[str, Phrase] = dict.fromkeys(fillers() - SPOKEN_ANSWERS, ())
    pairs: list[tuple[Phrase, Phrase]] = []
    for line in _lines("equivalents"):
        first, equal, others = line.partition("=")
        if equal:
            replacement = tuple(stem(word) for word in first.split())
            pairs += [(tuple(other.split()), replacement) for other in others.split(",") if other.strip()]
    known |= {words[0]: replacement for words, replacement in pairs if len(words) == 1}
    canon = Canon(known)
    longer: dict[str, list[tuple[Phrase, Phrase]]] = {}
    for words, replacement in pairs:
        # "do not" beside "dont" says nothing new: word by word it is canonical already.
        if len(words) > 1 and tuple(each for word in words for each in canon[word]) != replacement:
            longer.setdefault(words[0], []).append((words, replacement))
    return canon, {
        first: tuple(sorted(each, key=lambda pair: len(pair[0]), reverse=True))
        for first, each in longer.items()
    }
