"""Which choice does an answer mean? One, or why it cannot be told: an ambiguous answer is never guessed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from medjury.instruments import Reason
from medjury.suites._marking._answer_text import (
    UnfinishedError,
    given_forms,
    plain_text,
    refuses,
    without_question,
    without_thought,
)
from medjury.suites._marking._choices import WHOLE_ANSWERS, Choices, Named, folded
from medjury.suites._marking._phrases import (
    BACK,
    CUES,
    DENIES,
    JOINS_BEFORE,
    LOOSE,
    NOT_OWN,
    PAST,
    VERDICT,
    WRONG,
)

# Lines that are the answer: a letter alone, a letter with its text, a text alone, a choice with a tick.

_BULLET = re.compile(r"^[\s>#*_`~•·|\-–—+=]+(?=\S)")
_CLOSING = re.compile(r"[\s*_`~.!|\"'”)\]]+$")
_TICK = re.compile(
    r"[✓✔✅☑🟢👍]|\[x\]|\((?:the\s+)?(?:correct|right|answer)(?:\s+answer)?\)|(?:←|<-|<=)\s*(?:\w+\s+)?(?:correct|answer)|[-–—:]\s*(?:correct|right|true)\s*[.!]?$|"
    r"^\W*\w[).:]\s*(?:correct|right|true|yes)\W*$",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"[\s,(]*(?:rather\s+than|instead\s+of|(?:and\s+|but\s+)?not|over|as\s+opposed\s+to)(?!\w)(?:\s+\S+){1,5}$",
    re.IGNORECASE,
)
_LABELS = re.compile(r"(?<!\w)[A-Z](?:[):](?=\s|\d)|\.\s+(?=[A-Z0-9]))")
_CROSS = re.compile(r"[✗✘❌☒🔴]|\b(?:incorrect|wrong|false|not\s+(?:correct|right))\b", re.IGNORECASE)


class Line(NamedTuple):
    """A line that names a choice: where, which, and whether it holds no more than that choice."""

    start: int
    end: int
    named: Named
    whole: bool
    bare: bool  # a letter without any text
    ticked: bool


def lone_lines(text: str, choices: Choices) -> list[Line]:
    """The lines that stand for an answer. Those that restate the choices one after the other do not."""
    lines = _lines(text, choices)
    if ticked := [line for line in lines if line.ticked]:
        return ticked
    listed = _listing(lines, choices)
    return [line for line in lines if line not in listed]


def listed_spans(text: str, choices: Choices) -> list[tuple[int, int]]:
    """Where the lines lie that restate the choices one after the other."""
    return [(line.start, line.end) for line in _listing(_lines(text, choices), choices)]


def _lines(text: str, choices: Choices) -> list[Line]:
    found: list[Line] = []
    at = 0
    for raw in text.split("\n"):
        start, at = at, at + len(raw) + 1
        ticked = _TICK.search(raw) is not None and _CROSS.search(raw) is None
        words = re.sub(r"[✓✔✅☑🟢👍✗✘❌☒🔴]|\[[xX ]\](?!\])", " ", raw)
        words = _CLOSING.sub("", _BULLET.sub("", words.strip())).strip()
        if not words or len(words) > 600:
            continue
        line = _one(words, choices)
        if line is not None:
            found.append(Line(start, start + len(raw), *line, ticked))
    return found


def _one(words: str, choices: Choices) -> tuple[Named, bool, bool] | None:
    words = re.sub(r"^A\s*:\s*(?=[(\[]?[A-Z][)\]]?$)", "", words)  # Q: … A: C
    named = choices.meant_by(words)
    if not named.keys and not named.unknown:
        return None
    rest = folded(named.rest)
    if not rest or _REJECTS.match(named.rest):
        letters = re.fullmatch(
            r"[\W_]*(?:(?:option|choice|answer|letter)\s+)?[\W_]*\w[\W_]*", words, re.IGNORECASE
        )
        return named, True, letters is not None
    labelled = re.match(r"[(\[]?[^\W\d_][)\].:]", words) is not None and len(named.keys) == 1
    labelled = labelled and not _LABELS.search(named.rest)
    return (named, False, False) if labelled else None


def _listing(lines: list[Line], choices: Choices) -> list[Line]:
    """The runs of lines with text whose letters follow one another: the options as the question had them."""
    order = {key: place for place, key in enumerate(choices.texts)}
    runs: list[list[Line]] = []
    for line in lines:
        if line.bare or len(line.named.keys) != 1:
            continue
        key = line.named.keys[0]
        if runs and order[key] > order[runs[-1][-1].named.keys[0]]:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [line for run in runs if len(run) > 1 for line in run]


# Where an answer says what its answer is: statements, in their order, with how final each claims to be.

_OPTION = re.compile(r"\b(?:option|choice|answer)\s+$", re.IGNORECASE)
_NEAR = 400  # characters of a sentence that are looked at on either side
_SENTENCE = re.compile(
    r"(?:(?<!^[A-Za-z])(?<!\n[A-Za-z])(?<![(\[][A-Za-z])[.!?]+[\"'”)*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*•#]|\(?[A-Za-z0-9]{1,2}[).:]\s)))"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """The choices that a statement names, where it begins and ends, and whether it calls itself final."""

    start: int
    end: int
    named: Named
    final: bool = False


def statements(text: str, choices: Choices) -> list[Statement]:
    """Every statement of an answer that is the writer's own."""
    found = sorted([*_cued(text, choices), *_verdicts(text, choices)], key=lambda each: each.start)
    return [each for each in found if each.named.keys or each.named.unknown]


def taken_back(text: str, earlier: Statement, later: Statement) -> bool:
    """Whether the words between two statements say that the earlier no longer holds."""
    return BACK.search(text, earlier.end, later.end) is not None


def _cued(text: str, choices: Choices) -> Iterator[Statement]:
    listed = listed_spans(text, choices)
    for cue in CUES.finditer(text):
        if not _own(text, cue.start(), cue.end()):
            continue
        tail = text[cue.end() : cue.end() + _NEAR]
        named = choices.named_by(tail)
        end = cue.end() + len(tail) - len(named.rest)
        if LOOSE.match(cue.group()) and not _closes(choices, named, tail):
            continue
        if any(start > cue.start() and start < end <= stop for start, stop in listed):
            continue  # "each option:" and the options below it
        said = VERDICT.match(named.rest)
        if said and (said.group("not") or WRONG.match(said.group("what"))):
            continue  # "Answer: (A) is wrong"
        yield Statement(cue.start(), end, named, bool(cue.group("final")))


def _closes(choices: Choices, named: Named, tail: str) -> bool:
    """Whether a letter ends its clause, as it does where it is the answer and not a word in a sentence."""
    words = choices.filled(tail)
    letter = choices.letter_at(words)
    if not (letter.keys or letter.unknown):
        return False
    return (
        len(named.keys) > 1
        or re.match(
            r"[)\]}>*_\"'”]*\s*(?:$|[.,;:!\n(–—-]|(?:because|since|as|which|for|due|given|rather|instead|over|not)\b)|[)\]}>*_]",
            letter.rest,
        )
        is not None
    )


def _verdicts(text: str, choices: Choices) -> Iterator[Statement]:
    """ "C is correct", "option B: the right answer": a choice of which is said that it is right."""
    for place in re.finditer(r"(?<![\w'’])(?=[\w(\[])", text):
        here = text[place.start() : place.start() + 300]
        if _OPTION.search(text, max(0, place.start() - 12), place.start()):
            here = here[:1].upper() + here[1:]
        named = choices.one(here)
        if len(named.keys) != 1:
            continue
        said = VERDICT.match(named.rest)
        if said is None or said.group("not") or WRONG.match(said.group("what")):
            continue
        if JOINS_BEFORE.search(text[max(0, place.start() - 40) : place.start()]) or not _own(
            text, place.start(), place.start() + 1, verdict=True
        ):
            continue
        yield Statement(place.start(), place.start() + len(here) - len(named.rest) + said.end(), named)


@lru_cache(maxsize=8)
def _sentence_ends(text: str) -> tuple[int, ...]:
    return tuple(each.end() for each in _SENTENCE.finditer(text))


def _own(text: str, start: int, end: int, *, verdict: bool = False) -> bool:
    """Whether the sentence before a statement leaves it the writer's own and unquoted."""
    ends = _sentence_ends(text)
    before, after = bisect_right(ends, start), bisect_left(ends, end)
    begins = max(ends[before - 1] if before else 0, start - _NEAR)
    lead = text[begins : start if verdict else end]
    closing = (
        text[end : min(ends[after] if after < len(ends) else len(text), end + _NEAR)]
        .rstrip()
        .rstrip("\"'”*_)")
    )
    asks = (
        closing.endswith("?")
        and "?" not in lead
        and len(closing.split()) < 12
        and not re.search(r"[A-Z]\?$", closing)
    )
    quoted = (lead.count('"') % 2 == 1 and lead.count('"') > 0) or lead.count("“") > lead.count("”")
    starts_so = re.match(
        r"\W*(?:is|are|was|could|would|should|does|can)\b", lead, re.IGNORECASE
    ) and closing.endswith("?")
    clause = re.split(r";|\bbut\b|\bhowever\b", lead, flags=re.IGNORECASE)[-1]
    supposed = re.search(r"\b(?:if(?!\s+(?:I|we)\s+(?:had|have)\s+to)|whether|unless)\b", lead, re.IGNORECASE)
    return not (NOT_OWN.search(clause) or supposed or quoted or (asks and not verdict) or starts_so)


_BOLD = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_SHORT = 40  # words of an answer in which a choice that is named in passing is the answer
_LONG_ENOUGH = 3  # characters of a choice that prose does not hold by chance


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: a value, or none and why."""

    value: str | None
    reason: Reason | None = None
    note: str = ""


def said(answer: str, shown: Iterable[str] = ()) -> str | Reading:
    """The answer proper, or the reading of one that holds none."""
    if not answer.strip():
        return Reading(None, Reason.EMPTY, "the answer is empty")
    try:
        text = without_question(without_thought(plain_text(answer)), shown)
    except UnfinishedError:
        return Reading(None, Reason.PARSE, "the reasoning never ended, so there is no answer after it")
    if not text:
        return Reading(None, Reason.EMPTY, "nothing is left beside the reasoning or the repeated question")
    return text


def read_choice(answer: str, choices: Choices, shown: Iterable[str] = ()) -> Reading:
    """The key of the one choice that the answer means."""
    text = said(answer, shown)
    if isinstance(text, Reading):
        return text
    formal = [
        Statement(each.start, each.end, _whole(each.value, choices), True)
        for each in given_forms(text)
        if each.value
    ]
    prose = _masked(text, formal)
    stated = statements(prose, choices)
    final = sorted([*formal, *(each for each in stated if each.final)], key=lambda each: each.start)
    if final:
        later = [each for each in stated if not each.final and each.start > final[-1].end]
        return _agreed(text, [*final, *later])
    found = [
        *stated,
        *_from_beginning(prose, choices),
        *_from_lines(prose, choices),
        *_from_bold(prose, choices),
    ]
    if found:
        return _agreed(text, sorted(found, key=lambda each: (each.start, each.end)))
    return _in_passing(prose, choices)


def _whole(value: str, choices: Choices) -> Named:
    """What a form made for the answer holds; whatever else it may be, it was meant as the answer."""
    named = choices.meant_by(value)
    return named if named.keys or named.unknown else Named((), unknown=value[:60])


def _masked(text: str, formal: Iterable[Statement]) -> str:
    """The text with what was read as a form blanked out, at the same length; LaTeX and fences too."""
    for each in formal:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    text = re.sub(
        r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}",
        lambda found: found.group(1).center(len(found.group())),
        text,
    )
    return re.sub(r"[`$]|\\[()\[\]]", lambda found: " " * len(found.group()), text)


def _from_lines(text: str, choices: Choices) -> list[Statement]:
    """The first and the last line, where one of them is the answer and nothing else, and every line with a tick."""
    lines = lone_lines(text, choices)
    filled = [place for place, raw in _starts(text) if raw.strip()]
    ends = {filled[0], filled[-1]} if filled else set()
    bare = len({line.named.keys for line in lines if line.whole}) > 1
    return [
        Statement(line.start, line.end, line.named)
        for line in lines
        if line.ticked
        or (line.whole and (line.start in ends or bare or len(lines) == 1))
        or (len(lines) == 1 and line.start in ends)
    ]


def _starts(text: str) -> Iterable[tuple[int, str]]:
    at = 0
    for raw in text.split("\n"):
        yield at, raw
        at += len(raw) + 1


def _from_beginning(text: str, choices: Choices) -> list[Statement]:
    """ "C, because …", "No, …": what an answer begins with, where it closes its clause."""
    if re.match(r"not\b", text, re.IGNORECASE) and not choices.text_at(text).keys:
        turned = choices.named_by(text)  # "Not A but C, …"
        return [Statement(0, len(text) - len(turned.rest), turned)] if turned.keys else []
    letter = choices.letter_at(text)
    named = letter if letter.keys else choices.text_at(text)
    short = letter.keys or any(choices.folded[key] in WHOLE_ANSWERS for key in named.keys)
    closes = re.match(
        r"[)\]*_]*(?:\s*[,;!]|\s*\?(?!.*\b[A-Z]\?)|\s+(?:because|since|as|due\s+to)\b)", named.rest
    )
    if not (named.keys and short and closes):
        return []
    all_named = choices.named_by(text)
    return [Statement(0, len(text) - len(named.rest), all_named if all_named.keys else named)]


def _from_bold(text: str, choices: Choices) -> list[Statement]:
    """A choice in bold letters, where one alone is."""
    found = []
    for each in _BOLD.finditer(text):
        named = choices.named_by(each.group(2))
        if named.keys and not folded(named.rest) and not DENIES.search(_sentence_before(text, each.start())):
            found.append(Statement(each.start(), each.end(), named))
    return found if len({each.named.keys for each in found}) == 1 else []


def _sentence_before(text: str, place: int) -> str:
    return re.split(r"[.!?\n]\s|\bbut\b", text[max(0, place - 400) : place])[-1]


def _agreed(text: str, found: list[Statement]) -> Reading:
    """The choice of the last statement, if no other stands against it that was not taken back."""
    last = found[-1]
    for earlier in found[:-1]:
        if set(earlier.named.keys) != set(last.named.keys) and not taken_back(text, earlier, last):
            if earlier.named.keys and set(last.named.keys) < set(earlier.named.keys):
                continue  # "B or C … it is C": what was open is decided
            names = sorted({*earlier.named.keys, *last.named.keys})
            return Reading(None, Reason.PARSE, f"the answer says {' and '.join(names)}; one was asked for")
    if len(last.named.keys) > 1:
        return Reading(
            None, Reason.PARSE, f"the answer names {' and '.join(last.named.keys)}; one was asked for"
        )
    if not last.named.keys:
        return Reading(None, Reason.OUT_OF_RANGE, f"{last.named.unknown!r} is none of the choices")
    return Reading(last.named.keys[0])


def _in_passing(text: str, choices: Choices) -> Reading:
    """The one choice whose text a short answer names and does not deny."""
    if re.search(r"\bnone\s+of\s+(?:the\s+)?(?:above|these|options|choices)", text, re.IGNORECASE):
        return Reading(None, Reason.OUT_OF_RANGE, "the answer says that none of the choices is right")
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to choose")
    named: list[str] = []
    at = 0 if min(map(len, choices.folded.values()), default=0) >= _LONG_ENOUGH else len(text)
    while at < len(text):
        place = re.compile(r"(?<!\w)(?=\w)").search(text, at)
        if place is None:
            break
        found = choices.text_at(text[place.start() :])
        named += [key for key in found.keys if key not in named]
        at = len(text) - len(found.rest) if found.keys else place.start() + 1
    if (
        len(named) == 1
        and len(text.split()) <= _SHORT
        and not (DENIES.search(text) or PAST.search(text))
        and '"' not in text
    ):
        return Reading(named[0])
    if named:
        return Reading(
            None, Reason.PARSE, "the answer speaks of choices and says of none that it is the answer"
        )
    return Reading(None, Reason.PARSE, "no choice was found in the answer")
