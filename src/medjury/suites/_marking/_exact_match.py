"""Exact match: the choice that an answer means, or its text where there are no choices, against the gold answer."""

from __future__ import annotations

import re

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark, Item, Mark
from medjury.suites._marking._answer_text import given_forms, refuses
from medjury.suites._marking._choices import Choices, folded
from medjury.suites._marking._reading import Reading, read_choice, said

NO_GOLD = Mark(None, Reason.INPUT, note="the item has no gold answer")
_STATED = re.compile(
    r"\b(?:final\s+answer|answer|result|diagnosis)\b[^.:\n]{0,40}?(?:\bis\b|:|=)\s*(?P<said>[^\n]+)",
    re.IGNORECASE,
)


def exact_match(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer is a gold one. Choices are the item's, or the `labels` among the benchmark's options."""
    if not item.gold:
        return NO_GOLD
    labels = benchmark.options.get("labels", ())
    if item.choices:
        return _choice_mark(item, answer, Choices(item.choices))
    if labels:
        return _choice_mark(item, answer, Choices({str(each): str(each) for each in labels}, lettered=False))
    return _text_mark(item, answer)


def marked(reading: Reading, right: bool) -> Mark:
    """The mark of a reading: with a score where something was read."""
    if reading.value is None:
        return Mark(None, reading.reason, note=reading.note)
    return Mark(float(right), read=reading.value, note=reading.note)


def _choice_mark(item: Item, answer: str, choices: Choices) -> Mark:
    gold = {key for each in item.gold if (key := each if each in choices.texts else choices.key_of(each))}
    if not gold:
        return Mark(None, Reason.INPUT, note="the gold answer is none of the item's choices")
    reading = read_choice(answer, choices, item.inputs.values())
    if reading.value is None and (named := _by_shared_text(answer, choices)) and named <= gold:
        return Mark(1.0, read=" and ".join(sorted(named)))
    return marked(reading, reading.value in gold)


def _by_shared_text(answer: str, choices: Choices) -> set[str]:
    """The choices whose very text the whole answer is: several, where an item offers one text under two letters."""
    words = folded(answer.strip(" .*_`\"'“”"))
    return {key for key, text in choices.texts.items() if words and folded(text) == words}


def _text_mark(item: Item, answer: str) -> Mark:
    reading = read_text(answer, item)
    return marked(reading, folded(reading.value or "") in {folded(each) for each in item.gold})


def read_text(answer: str, item: Item) -> Reading:
    """The words that are the answer where there are no choices: those handed over or stated, else all of them."""
    text = said(answer, item.inputs.values())
    if isinstance(text, Reading):
        return text
    if refuses(text) and not any(folded(each) == folded(text) for each in item.gold):
        return Reading(None, Reason.REFUSAL, "the model declined to answer")
    forms = {folded(each.value): each.value for each in given_forms(text)}
    if len(forms) > 1:
        return Reading(None, Reason.PARSE, "the answer holds several final answers that differ")
    if forms:
        return Reading(next(iter(forms.values())))
    stated = [each.group("said") for each in _STATED.finditer(text)]
    return Reading((stated[-1] if stated else text).strip(" *_`\"'“”"))
