"""Does a text hold an error, and where? An answer is `CORRECT`, or a sentence's number and its correction."""

from __future__ import annotations

import json
import re

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark, Item, Mark
from medjury.suites._marking._answer_text import refuses
from medjury.suites._marking._exact_match import marked
from medjury.suites._marking._reading import Reading, said

_RIGHT = re.compile(
    r"(?<!in)(?<!not )\bcorrect\b(?!\s*(?:ed|ion|sentence|the|answer|drug|dose|diagnosis|treatment|version|:\s*\S)"
    r")|"
    r"\b(?:no|without(?:\s+any)?)\s+(?:\w+\s+){0,2}?errors?\b|"
    r"\berror[-\s]?free\b|\bnothing\s+is\s+wrong\b|\bnot\s+(?:contain|have|hold|find)\s+(?:any|an)\s+(?:\w+\s+)?errors?\b|\bcontains?\s+no\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\bincorrect\b|\bnot\s+correct\b|\berroneous\b|\b(?:contains?|has|holds?|is|there['’]?s|there\s+is)\s+(?:an|one|1|a)\s+(?:\w+\s+)?error\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"[\W_]*(?:the\s+(?:text|note|answer)\s+is\s+|answer\s*:\s*)?[\W_]*correct[\W_]*", re.IGNORECASE
)
_OFFICIAL = re.compile(r"\s*[\w-]*[a-z][\w-]*\s+(?P<flag>[01])\s+(?P<number>-?\d+)(?!\S)", re.IGNORECASE)
_HEAD = re.compile(
    r"(?:-\s+)?[^\w-]*(?:(?:the\s+)?(?:correct\s+)?answer(?:\s+is)?\s*:?\s*)?(?:(?:error\s+in\s+)?sentence\s*(?:id|number|no\.?|#)?\s*[:=]?\s*)?[^\w-]*"
    r"(?P<number>-?\d{1,3})(?![\d%/]|\.\d|-\w)(?!\s*(?:mg|ml|mm|g|kg|years?|days?|weeks?|hours?|months?)\b)",
    re.IGNORECASE,
)
_LINE = re.compile(r"^\s*(\d{1,3})[.:)]?\s+[A-Z]", re.MULTILINE)
_NAMED = re.compile(
    r"\bsentences?\s*(?:id|ids|number|no\.?|#)?\s*[:=(\[#]?\s*(?:is\s+)?(?P<numbers>\d{1,3}(?:\s*(?:,|and|or|&)\s*\d{1,3})*)",
    re.IGNORECASE,
)


RIGHT, SOMEWHERE = "CORRECT", "error"
_SENTENCE = "sentence "


def _found(error: bool, sentence: int | None = None) -> Reading:
    """Whether the answer sees an error, and the number of its sentence where it names one."""
    return Reading(RIGHT if not error else SOMEWHERE if sentence is None else f"{_SENTENCE}{sentence}")


def error_flag(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer sees an error just where there is one."""
    return _mark(item, answer, sentence=False)


def error_sentence(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer names the wrong sentence, or says rightly that there is none."""
    return _mark(item, answer, sentence=True)


def _mark(item: Item, answer: str, *, sentence: bool) -> Mark:
    if "error" not in item.facts:
        return Mark(None, Reason.INPUT, note="the item does not say whether its text holds an error")
    found = read_finding(answer, item)
    right = (found.value != RIGHT) == bool(item.facts["error"])
    if sentence and found.value == SOMEWHERE:
        return Mark(
            None, Reason.MISSING, read=SOMEWHERE, note="the answer does not say which sentence is wrong"
        )
    if sentence and found.value != RIGHT:
        right = right and found.value == f"{_SENTENCE}{item.facts.get('error_sentence')}"
    return marked(found, right)


def read_finding(answer: str, item: Item) -> Reading:
    """What the answer finds (`CORRECT`, `error`, or `sentence` and its number), or why it cannot be told."""
    text = said(answer, item.inputs.values())
    if isinstance(text, Reading):
        return text
    found = _from_object(text) or _from_official(text) or _from_words(text, item)
    named, known = found.value or "", item.facts.get("sentences")
    numbers = None if known is None else {f"{_SENTENCE}{int(each)}" for each in known}
    if numbers is not None and named.startswith(_SENTENCE) and named not in numbers:
        return Reading(None, Reason.OUT_OF_RANGE, f"the text has no {named}")
    return found


def _from_object(text: str) -> Reading | None:
    found = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        value = json.loads(found.group()) if found else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    fields = {re.sub(r"[^a-z]", "", str(name).lower()): each for name, each in value.items()}
    flag = next((fields[name] for name in ("errorflag", "error", "haserror", "flag") if name in fields), None)
    number = next(
        (
            fields[name]
            for name in ("errorsentenceid", "sentenceid", "errorsentence", "sentence")
            if name in fields
        ),
        None,
    )
    try:
        sentence = None if number is None else int(number)
    except (TypeError, ValueError):
        sentence = None
    if flag is None and sentence is None:
        return None
    error = (
        (sentence or 0) >= 0
        if flag is None
        else str(flag).strip().lower() in ("1", "true", "yes", "incorrect")
    )
    return _found(error, sentence if error and sentence is not None and sentence >= 0 else None)


def _from_official(text: str) -> Reading | None:
    """The line that the task's authors ask for: the text's id, the flag, the sentence or -1, the correction."""
    found = _OFFICIAL.match(text)
    if found is None:
        return None
    error, number = found.group("flag") == "1", int(found.group("number"))
    return _found(error, number if error and number >= 0 else None)


def _from_words(text: str, item: Item) -> Reading:
    if _ALONE.fullmatch(text):
        return _found(False)
    head = _HEAD.match(text)
    numbers = {int(head.group("number"))} if head else set()
    if len(rewritten := _LINE.findall(text)) > 1:  # the whole text, numbered as it was given
        numbers |= {int(each) for each in rewritten}
    if not numbers:
        numbers = {
            int(each)
            for found in _NAMED.finditer(text)
            for each in re.findall(r"\d+", found.group("numbers"))
        }
    numbers = numbers or _quoted_sentence(text, item)
    if numbers == {-1}:
        return _found(False)
    right = _RIGHT.search(text.split("\n")[0]) is not None and not _WRONG.search(text)
    if right and (not numbers or head is None):
        if numbers and re.search(r"\berror|wrong|incorrect", _RIGHT.sub("", text), re.IGNORECASE):
            return Reading(None, Reason.PARSE, "the answer calls the text correct and a sentence wrong")
        return _found(False)
    if len(numbers) > 1:
        return Reading(None, Reason.PARSE, "the answer names several sentences; one was asked for")
    if numbers:
        return _found(True, numbers.pop())
    if _WRONG.search(text):
        return _found(True)
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to judge the text")
    return Reading(None, Reason.PARSE, "the answer neither says CORRECT nor names a sentence")


def _quoted_sentence(text: str, item: Item) -> set[int]:
    """The one sentence of the text that the answer repeats word for word."""
    words = " ".join(text.split()).casefold()
    known = item.facts.get("sentences") or {}
    return {
        int(number)
        for number, each in known.items()
        if len(each) > 20 and " ".join(each.split()).casefold() in words
    }
