"""Does a quotation really occur in a text? Checked by us: a model that invents evidence is caught.

A quotation occurs *exactly* where its words, numbers and punctuation follow one another in the text,
whatever the case, spacing and kind of quotation mark. It occurs *closely* where it leaves out a few words of the
text at most: every word of it is there in its order, its share of the passage reaches the threshold, and no
number, unit, side, negation or other word that turns the meaning was left out (`PROTECTED`). Nothing may be
replaced, for one drug's name is often like another's.

What is around a quotation counts too: it is no evidence where it leaves out a negation, a condition or a
relative of its sentence, or begins or ends within a dose, a range or a word with a hyphen.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from medjury.judging._clinical_words import (
    CONDITIONS,
    RELATIVES,
    UNITS,
    Token,
    content,
    is_negation,
    tokens,
)

# Where a quotation begins and ends: not within a dose, a range, a fraction or a word with a hyphen.
#
# "10 mg daily" is in "5-10 mg daily", "give 5 mg" in "give 5 mg/kg", and "smoker for years" in "ex-smoker for
# years"; none of them says what its text says.

# Between two numbers these make a range, a product or a ratio.
_JOINING = frozenset({"-", "to", "x", "×", "/", "or", "by"})
# Before a number these make it a limit.
_LIMITS = frozenset(
    """< > ≤ ≥ ± ~ ≈ ≠ ^ ↑ ↓ + - than above below over under least most exceed exceeding maximum max
    minimum""".split()  # noqa: SIM905
)


# Behind a number these are a part of it.
_BEHIND = frozenset("%^×°")
# A dash is no hyphen: what it joins are two thoughts, unless they are numbers.
_HYPHENS = "-\u2010\u2011/"


def is_cut(text: str, tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether `text[start:end]` leaves out a part of what it begins or ends with."""
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_left(tokens, end, key=lambda token: token.end)
    if not 0 <= first <= last < len(tokens):
        return False
    return _cut_before(text, tokens, first) or _cut_after(text, tokens, last)


def _cut_before(text: str, tokens: Sequence[Token], first: int) -> bool:
    if not first:
        return False
    here, before = tokens[first], tokens[first - 1]
    if before.end == here.start:
        if before.text == "?" or (_says(before) and _says(here) and here.text.isascii()):
            return True
        if text[before.start] in _HYPHENS and first > 1:
            other = tokens[first - 2]
            if other.end == before.start and _says(other):
                return True
    if here.kind != "number":
        return False
    if before.text == ":" and first > 1 and tokens[first - 2].end == before.start:  # a time of day, a ratio
        return tokens[first - 2].kind == "number"
    if before.text in _LIMITS and before.kind != "mark":
        return True
    return before.text in _JOINING and any(
        token.kind == "number" or token.text == "up" for token in tokens[max(0, first - 3) : first - 1]
    )


def _cut_after(text: str, tokens: Sequence[Token], last: int) -> bool:
    if last + 1 >= len(tokens):
        return False
    here, after = tokens[last], tokens[last + 1]
    then = tokens[last + 2] if last + 2 < len(tokens) else None
    if here.end == after.start:
        if after.text == "?" or (_says(here) and _says(after) and here.text.isascii()):
            return True
        if text[after.start] in _HYPHENS and then is not None and after.end == then.start and _says(then):
            return True
    if here.kind != "number" and here.text not in UNITS:
        return False
    if after.text == ":" and here.end == after.start and then is not None and then.start == after.end:
        return here.kind == then.kind == "number"
    if after.text == "per" or (here.kind == "number" and (after.text in UNITS or after.text in _BEHIND)):
        return True
    return after.text in _JOINING and after.text != "/" and then is not None and then.kind == "number"


def _says(token: Token) -> bool:
    return token.kind in ("word", "number")


# The share of a passage's words that a quotation must give: one word in ten may be left out.
CLOSENESS = 0.9
# A quotation of fewer words shows nothing, unless it is a whole line or sentence.
_FEWEST_WORDS = 3
# How far (in words) a negation in the same sentence reaches a quotation that leaves it out.
_REACH = 25
# What frames a quotation and is no part of it: quotation marks, dots that say "and so on", a bullet.
_FRAME = " \t\r\n\f\v\u00a0\"'“”‘’«»…[]"
_LISTED = re.compile(r"[-*•·–]\s")
# A sentence ends at a stop before a space and no small letter, at a semicolon, at a line that begins anew, and
# at "but", behind which a negation does not reach.
_BREAK = re.compile(
    r"[.!?][\"'”’)\]]*\s++(?![a-zà-ÿ])|;\s|[。！？；]|\n\s*\n|\n\s*(?=[-*•·–]|\d+[.)]|[A-ZÀ-Þ])|\bbut\b",
    re.ASCII,
)
# No sentence ends with these: a stop behind them shortens a word, and a line that ends so goes on in the next.
_SHORTENED = frozenset("approx ca dr mr mrs prof eg ie vs inj incl resp nr".split())  # noqa: SIM905
_UNFINISHED = frozenset(
    """a an the of for to with by in on at from and or any give given take use start started continue this these
    his her their as is are was were be has have had evidence no not without nor neither never deny
    denies denied avoid stop hold withhold discontinue exclude""".split()  # noqa: SIM905
)
_LAST_WORD = re.compile(r"([\w.']+)[.\s]*$")

_BULLET = re.compile(r"[-*•·–]|\d+[.)]")
_SHORT_LINE = 8  # words of an item of a list without bullets
_LONGEST_LIST, _LONGEST_LINE = 200, 600  # lines, signs


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quotation is: `text[start:end]`. `similarity` is 1 for an exact one."""

    start: int
    end: int
    exact: bool
    similarity: float


@dataclass(frozen=True)
class Source:
    """A text that is quoted from, with its words found once. `offset` is where it begins in the note that it is
    a passage of; places are those of that note. `label` is what else is known of it: kind and date.
    `note` is that whole note: what is around a quotation counts, shown or not."""

    id: str
    text: str
    offset: int = 0
    label: str = ""
    note: Source | None = field(default=None, repr=False, compare=False)

    @property
    def end(self) -> int:
        """Where it ends in that note."""
        return self.offset + len(self.text)

    @cached_property
    def tokens(self) -> Sequence[Token]:
        return tokens(self.text)

    @cached_property
    def texts(self) -> Sequence[str]:
        return [token.text for token in self.tokens]

    @cached_property
    def content(self) -> Sequence[Token]:
        return content(self.tokens)

    @cached_property
    def breaks(self) -> Sequence[tuple[int, int]]:
        """Where sentences end and where the next ones begin."""
        return [found.span() for found in _BREAK.finditer(self.text) if not _goes_on(self.text, found)]


def locate(quote: str, source: Source, closeness: float = CLOSENESS) -> Place | None:
    """The first place where the quotation occurs, exactly or else closely.

    >>> note = Source("n1", "Start amlodipine 5 mg once daily; review in four weeks.")
    >>> locate("start the amlodipine 5 mg", note)
    Place(start=0, end=21, exact=False, similarity=1.0)
    >>> locate("start amlodipine 10 mg", note) is None
    True
    """
    place = next(_places(quote, source, closeness), None)
    return None if place is None else _shifted(place, source.offset)


def _places(quote: str, source: Source, closeness: float = CLOSENESS) -> Iterator[Place]:
    """Every place where the quotation occurs exactly; where there is none, the one where it occurs closely."""
    wanted = tokens(_bare(quote))
    while wanted and wanted[-1].kind == "mark":  # the full stop of a quotation is often the model's own
        wanted = wanted[:-1]
    if not wanted:
        return
    needle, size = [token.text for token in wanted], len(wanted)
    exact = False
    for start in range(len(source.texts) - size + 1):
        if source.texts[start] == needle[0] and source.texts[start : start + size] == needle:
            exact = True
            yield Place(source.tokens[start].start, source.tokens[start + size - 1].end, True, 1.0)
    if not exact and (close := _locate_closely(content(wanted), source.content, closeness)):
        yield close


def check_evidence(
    quote: str, sources: Sequence[Source], closeness: float = CLOSENESS
) -> tuple[str, Place] | str:
    """The id of the source that holds the quotation and where; or, for the model, why it is no evidence."""
    why = "it does not occur in the text"
    for source in sources:
        for found in _places(quote, source, closeness):
            around, place = source, found
            if source.note is not None:
                around, place = source.note, _shifted(found, source.offset)
            left, right = _sentence(around, place.start, place.end)
            if _words(around, place.start, place.end) < min(_FEWEST_WORDS, _words(around, left, right)):
                why = "it is too short to show anything; quote the whole sentence"
            elif _negation_left_out(around, place, left, right):
                why = "it leaves out a negation that stands in the same sentence; quote the whole sentence"
            elif _whose(around, place, left):
                why = (
                    "it leaves out whose it is, a relative's and not the patient's; quote the whole sentence"
                )
            elif any(each.text in CONDITIONS for each in _around(around, place, left, right)):
                why = "it leaves out a condition that stands in the same sentence; quote the whole sentence"
            elif is_cut(around.text, around.tokens, place.start, place.end):
                why = "it begins or ends within a dose, a range or a word; quote the whole sentence"
            else:
                return source.id, _shifted(found, source.offset)
    return why


def _bare(quote: str) -> str:
    """The quotation without what frames it."""
    text = quote.strip(_FRAME)
    while True:
        if text.startswith(".."):
            text = text.lstrip("." + _FRAME)
        elif _LISTED.match(text):
            text = text[1:].lstrip(_FRAME)
        else:
            break
    return text.rstrip("." + _FRAME) if text.endswith("..") else text


def _shifted(place: Place, offset: int) -> Place:
    return Place(place.start + offset, place.end + offset, place.exact, place.similarity)


def _locate_closely(wanted: Sequence[Token], text: Sequence[Token], closeness: float) -> Place | None:
    """The window with every wanted word in order and the fewest others, if these are few and harmless."""
    if not wanted:
        return None
    longest = int(len(wanted) / closeness + 1e-9)
    best: tuple[int, int] | None = None
    for start, token in enumerate(text):
        if token.text != wanted[0].text:
            continue
        end, matched = start, 0
        while end < len(text) and matched < len(wanted) and end - start < longest:
            matched += text[end].text == wanted[matched].text
            end += 1
        if matched < len(wanted) or (best and end - start >= best[1] - best[0]):
            continue
        kept = [each.text for each in wanted if each.is_protected]
        if [each.text for each in text[start:end] if each.is_protected] == kept:
            best = start, end
    if best is None:
        return None
    return Place(text[best[0]].start, text[best[1] - 1].end, False, len(wanted) / (best[1] - best[0]))


def _sentence(source: Source, start: int, end: int) -> tuple[int, int]:
    """The bounds of the sentence, or the sentences, that `start` to `end` is in."""
    before = bisect_right(source.breaks, start, key=lambda each: each[1])
    after = bisect_left(source.breaks, end - 1, key=lambda each: each[0])
    left = source.breaks[before - 1][1] if before else 0
    return left, source.breaks[after][0] if after < len(source.breaks) else len(source.text)


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """The sentence does not end here: a shortened word has a stop, or a line is full before its sentence is."""
    sign = found.group()[0]
    if sign not in ".\n" or (sign == "\n" and "\n" in found.group()[1:]):
        return False
    before = text[max(0, found.start() - 40) : found.start()]
    if sign == "\n" and before.rstrip().endswith(","):
        return not _BULLET.match(text, found.end())
    last = _LAST_WORD.search(before)
    word = last[1].casefold().replace(".", "") if last else ""
    return word in (_SHORTENED if sign == "." else _UNFINISHED)


def _words(source: Source, start: int, end: int) -> int:
    return sum(token.kind in ("word", "number") for token in _between(source, start, end))


def _between(source: Source, start: int, end: int) -> Sequence[Token]:
    """The words from `start` to `end`."""
    first = bisect_left(source.content, start, key=lambda token: token.start)
    last = bisect_right(source.content, end, key=lambda token: token.end)
    return source.content[first:last]


def _around(source: Source, place: Place, left: int, right: int) -> Sequence[Token]:
    """What the sentence says before and behind the quotation, as far as it reaches."""
    before, after = _between(source, left, place.start), _between(source, place.end, right)
    return (*before[-_REACH:], *after[:_REACH])


def _above(source: Source, place: Place, left: int) -> Sequence[Token]:
    """What the line above the quotation's list says."""
    return _between(source, *_heading(source.text, left, place.start))[-_REACH:]


def _whose(source: Source, place: Place, left: int) -> bool:
    """A relative is named before the quotation or above it."""
    before = _between(source, left, place.start)[-_REACH:]
    return any(each.text in RELATIVES for each in (*_above(source, place, left), *before))


def _negation_left_out(source: Source, place: Place, left: int, right: int) -> bool:
    return any(
        is_negation(each.text)
        for each in (*_above(source, place, left), *_around(source, place, left, right))
    )


def _heading(text: str, left: int, start: int) -> tuple[int, int]:
    """The end of the line above a list ("Do not give:") that the sentence from `left` is in; nothing where
    there is none, or where the quotation begins with it. An empty line ends a list, but for one with bullets."""
    bullets = _BULLET.match(text, left) is not None
    end = left
    for _ in range(_LONGEST_LIST):
        begin = max(
            text.rfind("\n", max(0, end - _LONGEST_LINE), max(end - 1, 0)) + 1, end - _LONGEST_LINE, 0
        )
        line = text[begin:end]
        words, item = line.strip(), _BULLET.match(line.lstrip()) is not None
        above = bullets and words and not item and not line[0].isspace() and words[-1] not in ".;,!?"
        if words.endswith(":") or above:
            first = max((found.end() for found in _BREAK.finditer(line)), default=0) if "." in line else 0
            return (begin + first, end) if end <= start else (0, 0)
        if not words and not bullets:
            break
        if words and not item and len(words.split()) > _SHORT_LINE:
            break
        if not begin:
            break
        end = begin
    return 0, 0
