"""Yes, no or maybe: the word with which an answer begins or ends, or which it says its answer is."""

from __future__ import annotations

import re

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._exact_match import NO_GOLD, marked
from medjury.suites._marking._given import given_forms
from medjury.suites._marking._reading import Reading, said
from medjury.suites._marking._refusal import refuses

_WORDS = {
    "yes": "yes", "yeah": "yes", "yep": "yes", "true": "yes", "correct": "yes", "affirmative": "yes", "sí": "yes",
    "oui": "yes", "ja": "yes", "да": "yes", "是": "yes", "はい": "yes", "no": "no", "nope": "no", "false": "no",
    "negative": "no", "non": "no", "nein": "no", "нет": "no", "否": "no", "不是": "no", "いいえ": "no",
    "maybe": "maybe", "perhaps": "maybe", "possibly": "maybe", "uncertain": "maybe",
    "unclear": "maybe", "inconclusive": "maybe",
}  # fmt: skip
_ONE = "yes|no|maybe"
_STRIPPED = " \t*_`#>.!,;:\"'“”()[]{}-–—"
_BEGINS = re.compile(
    rf"[\W_]*(?P<word>{_ONE})(?=[\W_]*$|\s*[,.;:!\n)\]*_\-–—]|\s+(?:because|since|as|the|this|it)\b)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?P<final>final\s+)?(?:answer|conclusion|decision|verdict|label|response)\b[^.\n?]{0,60}?(?:\bis|\bwould\s+be|\bmust\s+be|:|=|→)"
    r"[\s*_`\"'“(:]*(?:likely\s+|probably\s+|therefore\s+|clearly\s+|a\s+|definitely\s+)*"
    rf"(?P<word>{_ONE})(?=[\W_]*$|[\s*_`\"'”)]*[,.;:!\n\-–—]|[*_`\"'”)]|\s+(?:because|since|as)\b)",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(rf"\b(?:{_ONE})\b\W*(?:\bor\b|\band\b|/|,)\W*\b(?:{_ONE})\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|whether|why|might|may|could|not|n['’]t)\b[^.\n]{0,60}$", re.IGNORECASE)


def yes_no_maybe(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer is the gold word."""
    if not item.gold:
        return NO_GOLD
    reading = read_yes_no(answer, item)
    return marked(
        reading, reading.value in {_WORDS.get(each.casefold(), each.casefold()) for each in item.gold}
    )


def read_yes_no(answer: str, item: Item) -> Reading:
    """`yes`, `no` or `maybe`, or why none of them can be read. Several that differ are never guessed from."""
    text = said(answer, item.inputs.values())
    if isinstance(text, Reading):
        return text
    forms = {_WORDS.get(each.value.strip(_STRIPPED).casefold(), "") for each in given_forms(text)}
    if forms:
        return _one(forms)
    if whole := _WORDS.get(text.strip(_STRIPPED).casefold()):
        return Reading(whole)
    stated = [
        each
        for each in _STATED.finditer(text)
        if not _SUPPOSED.search(text, max(0, each.start() - 80), each.start("word"))
    ]
    if final := [each for each in stated if each.group("final")]:
        return _one({each.group("word").casefold() for each in final})
    found = {each.group("word").casefold() for each in stated}
    lines = [line for line in text.split("\n") if line.strip()]
    words = re.split(r"[.?!:]\s+", lines[-1].strip(_STRIPPED))[-1] if lines else ""
    last = _WORDS.get(words.strip(_STRIPPED).casefold())
    found |= {last} if last else set()
    if (begins := _BEGINS.match(text)) and not _ALTERNATIVE.match(text, begins.start("word")):
        found.add(begins.group("word").casefold())
    if found:
        return _one(found)
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to answer")
    return Reading(None, Reason.PARSE, "the answer says neither yes nor no nor maybe")


def _one(found: set[str]) -> Reading:
    if len(found) > 1:
        return Reading(None, Reason.PARSE, f"the answer says {' and '.join(sorted(filter(None, found)))}")
    value = next(iter(found))
    if not value:
        return Reading(None, Reason.OUT_OF_RANGE, "the final answer is neither yes nor no nor maybe")
    return Reading(value)
