"""Where a source and an answer differ in what a clinician acts on: numbers with their doses and units, sides, and
what is affirmed here and denied there. A mark says "look here", and no mark proves nothing.

Texts are read sentence by sentence by the detector of clinical impact. A number or dose of the answer that the
source has nowhere is marked; in the source, the other number of the same unit in the sentence that is most like it.
Words for sides and negations are known in English alone: in other languages only figures are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from medjury.texts.metrics._differences import DENIABLE, QUOTED_WITH
from medjury.texts.metrics._lexicons import FUNCTION, NEGATION, NUMBER, Lexicons, Phrase, lexicons
from medjury.texts.metrics._reading import Concept, origins_of, read
from medjury.texts.transcripts import normalise

Kind = Literal["number", "side", "negation"]


class Mark(NamedTuple):
    """A place of a text, by its signs, and what differs there."""

    start: int
    end: int
    kind: Kind


_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"\S+")
_ID = re.compile(r"[^\W\d]-\d")
_COUNTED = frozenset({"number", "dose", "time", "frequency", "unit"})
_BESIDE_PART = 3  # a side belongs to the part of the body so few words behind it
_SIDE_WORDS = frozenset(("left", "right", "bilater", "unilater"))
# Units as they are written; the lexicon has those that are said.
_UNITS = frozenset(("g", "kg", "l", "dl", "iu", "u", "mmol", "meq", "cm", "mm", "mmhg", "bpm", "h", "wk"))
_LONGEST, _ENOUGH = 60_000, 5_000  # signs of a text that are read, and that show its language
# Words that tell English from its neighbours.
_ENGLISH = "the and of with was is for has had she he are were denies this that from not"
_OTHERS = (
    "der die das und mit nicht kein keine ist von zu el los las de que y con sin se le les des et avec pas une du "
    "il di e non per een het van niet met og med ikke och inte na nie w"
)


class _Found(NamedTuple):
    """A concept in a sentence: its place among the signs of the text, and whether it is denied."""

    concept: Concept
    place: tuple[int, int]
    sentence: int
    beside: Phrase  # the part of the body that a side belongs to


class _Text(NamedTuple):
    found: list[_Found]
    content: list[set[str]]  # of each sentence, the words that are neither numbers nor grammar


def marked_differences(sources: Sequence[str], answer: str) -> tuple[list[list[Mark]], list[Mark]]:
    """The marks of each source, and those of the answer.

    >>> sources, answer = marked_differences(["Morphine 15 mg at night."], "Morphine 150 mg at night.")
    >>> sources, answer
    ([[Mark(start=9, end=14, kind='number')]], [Mark(start=9, end=15, kind='number')])
    """
    lists = lexicons()
    english = _english([*sources, answer])
    said, heard = [_read(text, lists) for text in sources], _read(answer, lists)
    marks: list[set[Mark]] = [set() for _ in sources]
    own: set[Mark] = set()
    for number, here, there in _numbers(said, heard, lists):
        own.add(Mark(*here.place, "number"))
        if there is not None:
            marks[number].add(Mark(*there.place, "number"))
    turned: tuple[tuple[Kind, Iterator[Pair]], ...] = (
        ("side", _sides(said, heard)),
        ("negation", _negations(said, heard)),
    )
    for kind, pairs in turned if english else ():
        for number, here, there in pairs:
            own.add(Mark(*here.place, kind))
            marks[number].add(Mark(*there.place, kind))
    return [_joined(each) for each in marks], _joined(own)


def _joined(marks: set[Mark]) -> list[Mark]:
    """In their order; what overlaps or has one sign between is one mark."""
    made: list[Mark] = []
    for each in sorted(marks):
        if made and made[-1].kind == each.kind and each.start <= made[-1].end + 1:
            each = Mark(made[-1].start, max(each.end, made.pop().end), each.kind)
        made.append(each)
    return made


def _english(texts: Sequence[str]) -> bool:
    words = [word for text in texts for word in normalise(text[:_ENOUGH]).split()]
    known, others = (sum(map(words.count, each.split())) for each in (_ENGLISH, _OTHERS))
    return known > others and known * 50 >= len(words)


@lru_cache(maxsize=20_000)
def _spoken(word: str) -> tuple[str, ...]:
    return tuple(normalise(word).split())


def _read(text: str, lists: Lexicons) -> _Text:
    found: list[_Found] = []
    content: list[set[str]] = []
    begin = 0
    for end in [*(match.end() for match in _SENTENCES.finditer(text[:_LONGEST])), min(len(text), _LONGEST)]:
        places: list[tuple[int, int]] = []
        words: list[str] = []
        for match in _WORD.finditer(text, begin, end):
            spoken = _spoken(match[0])
            word = match[0].rstrip(".,;:!?)")
            start = match.start() + len(match[0]) - len(match[0].lstrip("("))
            places += [(start, match.start() + len(word))] * len(spoken)
            words += spoken
        reading = read(" ".join(words), lists)
        begin = end
        if reading.surface != words:  # what is written otherwise when it is read again has no place
            continue
        origins = origins_of(reading, lists)
        concepts = sorted(reading.concepts.values(), key=lambda each: each.start)
        for each in concepts:
            unit = reading.words[each.stop : each.stop + 1]
            if each.category == "number" and unit and unit[0] in _UNITS:
                each = each._replace(category="dose", words=each.words + unit, stop=each.stop + 1)
            first = each.start
            if each.denied and first - each.negation <= QUOTED_WITH:
                first = each.negation
            place = places[origins[first]][0], places[origins[each.stop - 1]][1]
            near = (
                other.words
                for other in concepts
                if other.category == "anatomy" and 0 <= other.start - each.stop < _BESIDE_PART
            )
            if not _ID.search(text, *place):
                found.append(_Found(each, place, len(content), next(near, ())))
        grammar = FUNCTION | NEGATION | NUMBER
        content.append({word for word in reading.words if not lists.kinds.get(word, 0) & grammar})
    return _Text(found, content)


Pair = tuple[int, _Found, _Found]
Amount = tuple[Phrase, Phrase]


def _numbers(
    said: Sequence[_Text], heard: _Text, lists: Lexicons
) -> Iterator[tuple[int, _Found, _Found | None]]:
    """Numbers of the answer that no source has, and the number that a source has there instead."""
    known = {part for text in said for each in _counted(text, lists) for part in _split(each.concept, lists)}
    spoken = {part for each in _counted(heard, lists) for part in _split(each.concept, lists)}
    for here in _counted(heard, lists):
        wanted = _split(here.concept, lists)
        if all(_is_in(part, known) for part in wanted):
            continue
        best: tuple[int, int, _Found] | None = None
        for number, text in enumerate(said):
            for there in _counted(text, lists):
                other = _split(there.concept, lists)
                alike = len(heard.content[here.sentence] & text.content[there.sentence])
                lost = not all(_is_in(part, spoken) for part in other)
                same = other[0][1] == wanted[0][1] or other[0][0] == wanted[0][0]  # the unit, or the amount
                if lost and same and alike > (best[0] if best else 0):
                    best = alike, number, there
        yield (best[1], here, best[2]) if best else (0, here, None)


def _counted(text: _Text, lists: Lexicons) -> Iterator[_Found]:
    for each in text.found:
        words = each.concept.words
        if each.concept.category in _COUNTED and any(lists.kinds.get(word, 0) & NUMBER for word in words):
            yield each


def _split(concept: Concept, lists: Lexicons) -> list[Amount]:
    """The amount and its unit; of a range ("20 to 40 mg") both ends."""
    numbers = [place for place, word in enumerate(concept.words) if lists.kinds.get(word, 0) & NUMBER]
    amount, unit = concept.words[: numbers[-1] + 1], concept.words[numbers[-1] + 1 :]
    ends = " ".join(amount).split(" to ")
    return [(tuple(end.split()), unit) for end in ends]


def _is_in(wanted: Amount, known: set[Amount]) -> bool:
    """Whether the amount is there, with the same unit or where one of both has none."""
    return any(
        amount == wanted[0] and (unit == wanted[1] or not unit or not wanted[1]) for amount, unit in known
    )


def _sides(said: Sequence[_Text], heard: _Text) -> Iterator[Pair]:
    """Another side than in every source, of the same part of the body where one is named."""
    for here in heard.found:
        if here.concept.category != "laterality" or _SIDE_WORDS.isdisjoint(here.concept.words):
            continue
        others = [
            (number, there)
            for number, text in enumerate(said)
            for there in text.found
            if there.concept.category == "laterality" and _of(there) == _of(here)
        ]
        if others and all(there.concept.words != here.concept.words for _, there in others):
            yield others[0][0], here, others[0][1]


def _of(side: _Found) -> tuple[Phrase, Phrase]:
    """What is on that side: the part of the body, and the words that are no side."""
    return side.beside, tuple(word for word in side.concept.words if word not in _SIDE_WORDS)


def _negations(said: Sequence[_Text], heard: _Text) -> Iterator[Pair]:
    """What every source affirms and the answer denies, or the other way round."""
    for here in heard.found:
        if here.concept.category not in DENIABLE:
            continue
        phrase = here.concept.words
        own = [each.concept for each in heard.found if each.concept.words == phrase]
        others = [
            (number, there)
            for number, text in enumerate(said)
            for there in text.found
            if there.concept.words == phrase
        ]
        theirs = [there.concept for _, there in others]
        if theirs and (
            (all(each.denied for each in own) and all(each.affirmed for each in theirs))
            or (all(each.affirmed for each in own) and all(each.denied for each in theirs))
        ):
            yield others[0][0], here, others[0][1]
