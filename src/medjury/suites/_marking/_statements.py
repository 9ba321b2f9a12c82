"""Where an answer says what its answer is: statements, in their order, with how final each claims to be."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from medjury.suites._marking._choices import Choices, Named

_WORD = (
    r"(?:answer|choice|option|diagnosis|treatment|response|selection|pick|solution|conclusion|decision|verdict|"
    r"antwort|lösung|respuesta|réponse|risposta|resposta|ответ|odpowiedź|antwoord)"
)
_ASIAN = r"(?:答案|正确答案|正解|答え|解答|回答|정답|답|الإجابة|الجواب|उत्तर|תשובה)"
_IS = r"(?:\s+(?:is|are|was|would\s+be|should\s+be|must\s+be|will\s+be|has\s+to\s+be|remains|ist|est|es|è|é)(?!\w)|\s*(?:是|为|為|は)|\s*(?:[:=]|→|->|=>|—|–|-(?=\s)))"
_CUES = re.compile(
    rf"(?P<final>\bfinal\s+(?:answer|choice|diagnosis|decision|verdict))\b[^.:\n;]{{0,40}}?(?:{_IS}|\s*\**\s*\n)|"
    rf"\b{_WORD}\b(?:\s*\([^)\n]*\))?[^.:;\n?]{{0,60}}?{_IS}|{_ASIAN}[^.:;\n?]{{0,10}}?(?:是|为|為|は|[:=]|)|"
    rf"(?:^|\n)[#*\s]*(?:the\s+)?(?:correct\s+)?{_WORD}[*#\s]*\n|"
    r"(?:^|\n)[#*\s]*ans\s*[.:]|"
    r"\b(?:I|we|you)(?:['’](?:d|ll|m|ve)|\s+(?:would|will|must|should|am|have|shall))?\s+(?:therefore\s+|thus\s+|now\s+)?"
    r"(?:choos(?:e|ing)|select(?:ed|ing)?|pick(?:ed|ing)?|go(?:ing)?\s+(?:with|for)|opt(?:ing)?\s+for|answer(?:ed)?|chosen?|say|vote\s+for|conclude|believe)(?!\w)|"
    r"\b(?:let['’]s|let\s+us)\s+(?:go\s+with|choose|pick|select|say)(?!\w)|"
    r"(?:^|[.\n;,]\s*)(?:so|therefore|thus|hence|consequently|accordingly|and\s+so)\b[\s,:]*"
    r"(?:I\s+(?:think|believe)\s+)?(?:it['’]?s|it\s+is|it\s+must\s+be|this\s+is|must\s+be)?|"
    r"\b(?:it['’]s|it\s+is|it\s+must\s+be|it\s+should\s+be|that['’]s|must\s+be|that\s+leaves|leaving|leaves\s+(?:us\s+with\s+)?(?:only\s+)?)(?!\w)|"
    r"\b(?:points?\s+to|consistent\s+with|corresponds?\s+to|match(?:es)?|supports?|suggests?|indicates?|fits?|leads?\s+to|best\s+described\s+by)(?!\w)",
    re.IGNORECASE,
)
# Cues so common in prose that only a letter, and one that closes its clause, is an answer behind them.
_LOOSE = re.compile(
    r"^\W*(?:so|therefore|thus|hence|consequently|accordingly|and\s+so|it|that|this|must|leav|let|I\b|we\b|you\b|point|consist|"
    r"correspond|match|support|suggest|indicat|fit|lead|best)",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"(?P<is>\s*[)\].*_:,\-–—]*\s*(?:\([^)\n]{0,80}\)\s*)?(?:is|was|would\s+be|must\s+be|seems|appears\s+to\s+be|remains|has\s+to\s+be|are|[:\-–—(])\s*(?:clearly\s+|indeed\s+|therefore\s+|thus\s+|definitely\s+|the\s+only\s+|most\s+likely\s+|the\s+|probably\s+|actually\s+|also\s+)*)"
    r"(?:(?P<not>not|never|n['’]t|hardly|less|un|in)\s*(?:the\s+)?)?"
    r"(?P<what>correct|right|true|best|answer|most\s+(?:likely|appropriate|accurate|probable|suitable|consistent|fitting)|preferred|wrong|false|incorrect|unlikely|inappropriate|ruled\s+out|excluded|contraindicated)(?!\w)",
    re.IGNORECASE,
)
_WRONG = re.compile(r"wrong|false|incorrect|unlikely|inappropriate|ruled|excluded|contra", re.IGNORECASE)
# Whose answer is this? Somebody else's, a supposed one, one taken back, or the question's own words.
_NOT_OWN = re.compile(
    r"\bif\b(?!\s+(?:I|we)\s+(?:had|have)\s+to)|\bwhether\b|\bunless\b|\b(?:might|may|could|many|some|one|someone|students?|people|you|they|clinicians?|colleagues?)\s+(?:\w+\s+){0,2}?(?:think|thought|assume|say|believe|argue|choose|pick|select|answer)(?:s|ed)?\b|"
    r"\bat\s+first\b|\binitial(?:ly)?\b|\bfirst\s+(?:thought|impression|instinct|guess)\b|\bI\s+(?:first\s+|originally\s+)?(?:thought|assumed|considered)\b|\boriginally\b|"
    r"\b(?:common|frequent|usual|typical)\s+(?:mistake|error|trap|wrong)\b|\bmistaken|\btempting\b|\b(?:question|prompt|stem|user|patient|text|vignette|passage|note|example|key|textbook)\b(?:\s+\w+){0,3}?\s+(?:offers?|says?|asks?|states?|lists?|gives?|claims?|reads?|presents?|suggests?|contains?|provides?)\b|"
    r"\bwhy\b|\bfor\s+example\b|\be\.g\.|\bsuppose\b|\bformat\b|\bnot\s+(?:think|believe|sure|certain|convinced|clear|say|choose|pick|select|answer)\b|\bn['’]t\s+(?:think|believe|say|choose|pick|select|sure|be|go)\b|\bmisread\b|\bhad\s+(?:it\s+)?been\b|\bwere\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\bwait\b|\bactually\b|\bcorrection\b|\bon\s+(?:second|further|closer|reflection|re)|\breconsider|\bscratch\s+that|\bI\s+was\s+(?:wrong|mistaken)|"
    r"\bmy\s+(?:mistake|error|apologies)|\binstead\b|\bno\s*[,.—–-]|\bhold\s+on\b|\blet\s+me\s+(?:re|correct|fix|double)|\bupon\s+(?:review|reflection|further)|"
    r"\brevis(?:e|ed|ing)\b|\bthat(?:['’]s|\s+is|\s+was)\s+(?:wrong|not\s+right|incorrect)|\bsorry\b|\bi\s+meant\b|\bmisspoke\b|\bupdated?\s+answer|\bcorrected\b",
    re.IGNORECASE,
)
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
    return _BACK.search(text, earlier.end, later.end) is not None


def _cued(text: str, choices: Choices) -> Iterator[Statement]:
    for cue in _CUES.finditer(text):
        if not _own(text, cue.start(), cue.end()):
            continue
        tail = text[cue.end() : cue.end() + 400]
        if re.match(r"\s*(?:n['’]t|not)\b", tail) is None and re.search(
            r"n['’]t$|\bnot$", cue.group(), re.IGNORECASE
        ):
            tail = "not " + tail
        named = choices.named_by(tail)
        if _LOOSE.match(cue.group()) and not _closes(choices, named, tail):
            continue
        yield Statement(cue.start(), cue.end() + len(tail) - len(named.rest), named, bool(cue.group("final")))


def _closes(choices: Choices, named: Named, tail: str) -> bool:
    """Whether a letter ends its clause, as it does where it is the answer and not a word in a sentence."""
    words = choices._filled(tail)
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
        named = choices._one(here)
        if len(named.keys) != 1:
            continue
        said = _VERDICT.match(named.rest)
        if said is None or said.group("not") or _WRONG.match(said.group("what")):
            continue
        if _JOINS_BEFORE.search(text[max(0, place.start() - 40) : place.start()]) or not _own(
            text, place.start(), place.start() + 1, verdict=True
        ):
            continue
        yield Statement(place.start(), place.start() + len(here) - len(named.rest) + said.end(), named)


_JOINS_BEFORE = re.compile(
    r"\b(?:neither|nor|not|that|than|both|hepatitis|vitamin|type|group|grade|class|stage|grado|factor|protein|influenza|category|phase|zone|lead|agar|cell|why|if)\s+$"
    r"|(?:\w|\))\s*(?:,|/|&|\bor\b|\band\b)\s*$",
    re.IGNORECASE,
)


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
    return not (_NOT_OWN.search(lead) or quoted or (asks and not verdict) or starts_so)
