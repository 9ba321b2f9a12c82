"""What a model wrote: without thoughts and repeated questions, in the forms made for an answer, or declining."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# Letters in a box or a disc, which are letters to the eye alone.
_BOXED_LETTERS = {start + step: chr(65 + step) for start in (0x1F130, 0x1F150, 0x1F170) for step in range(26)}
_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad|reflection"
_THOUGHT = re.compile(rf"<\s*({_TAGS})\s*>.*?<\s*/\s*\1\s*>", re.IGNORECASE | re.DOTALL)
_OPENS = re.compile(rf"<\s*(?:{_TAGS})\s*>", re.IGNORECASE)
_CLOSES = re.compile(rf"<\s*/\s*(?:{_TAGS})\s*>", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|message\|>)?", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]")
_NEXT_QUESTION = re.compile(
    r"\n[#*\s]*(?:(?:next|new)\s+question|question|human|user|instruction|problem)\s*\d*\s*\**\s*:",
    re.IGNORECASE,
)
_LONG_ENOUGH = 25  # characters of an input that cannot be met by chance


class UnfinishedError(ValueError):
    """The reasoning began and never ended, so that there is no answer after it."""


def plain_text(text: str) -> str:
    """One spelling of every character: full-width, circled and mathematical letters are letters."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.translate(_BOXED_LETTERS)))


def without_thought(text: str) -> str:
    """The text after the reasoning that models put into tags or channels of its own."""
    if _CHANNEL.search(text):
        parts = _FINAL_CHANNEL.split(text)
        if len(parts) == 1:
            raise UnfinishedError
        text = parts[-1]
    text = _THOUGHT.sub("\n", text)
    if closing := list(_CLOSES.finditer(text)):  # where the prompt itself opened the tag
        text = text[closing[-1].end() :]
    if opening := _OPENS.search(text):
        if not text[: opening.start()].strip():
            raise UnfinishedError
        text = text[: opening.start()]
    return _SPECIAL.sub(" ", text).strip()


def without_question(text: str, shown: Iterable[str]) -> str:
    """The text without the inputs it repeats word for word, and without a question that it makes up at its end."""
    for given in sorted((plain_text(each).strip() for each in shown), key=len, reverse=True):
        if len(given) >= _LONG_ENOUGH:
            text = re.sub(r"\s+".join(re.escape(word) for word in given.split()), "\n", text)
    invented = _NEXT_QUESTION.search(text)
    if invented and text[: invented.start()].strip():
        text = text[: invented.start()]
    return text.strip()


# The forms in which a model hands over its answer: a JSON field, a box, an answer tag, double brackets.


_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_STYLE = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathsf|rm|bf)\s*\{([^{}]*)\}")
_TAG = re.compile(
    r"<\s*(final_answer|final|answer|choice|solution)\s*>(.*?)<\s*/\s*\1\s*>", re.IGNORECASE | re.DOTALL
)
_BRACKETS = re.compile(r"\[\[\s*([^\[\]]{1,80}?)\s*\]\]")
_MOST_OBJECTS = 300  # braces at which an object is looked for
_KEYS = (
    "finalanswer", "answer", "correctanswer", "answerchoice", "correctoption", "choice", "option", "selectedoption",
    "selectedanswer", "selected", "letter", "result", "label", "prediction", "response", "decision", "final",
)  # fmt: skip


class Given(NamedTuple):
    """What was handed over and where, so that words behind it can be held against it."""

    start: int
    end: int
    value: str


def given_forms(text: str) -> tuple[Given, ...]:
    """Every answer that the text hands over in a form made for it, in their order."""
    found = [*_objects(text), *_boxes(text)]
    found += [Given(each.start(), each.end(), each.group(2).strip()) for each in _TAG.finditer(text)]
    found += [Given(each.start(), each.end(), each.group(1)) for each in _BRACKETS.finditer(text)]
    return tuple(sorted(found))


def _objects(text: str) -> Iterator[Given]:
    decoder, at, left = json.JSONDecoder(), 0, _MOST_OBJECTS
    while left and (start := text.find("{", at)) >= 0:
        left -= 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _loose_object(text, start)
        answer = _answer_of(value)
        if answer is not None:
            yield Given(start, end, answer)
        at = end


def _loose_object(text: str, start: int) -> tuple[object, int]:
    """An object without inner ones in single quotes, as Python prints it; none otherwise."""
    found = re.compile(r"\{[^{}]{1,4000}\}").match(text, start)
    try:
        return (ast.literal_eval(found.group()), found.end()) if found else (None, start + 1)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None, start + 1


def _answer_of(value: object) -> str | None:
    """The field that holds the answer, by the first of the usual names that is there."""
    if not isinstance(value, dict):
        return None
    fields = {re.sub(r"[^a-z]", "", str(name).lower()): each for name, each in value.items()}
    for name in _KEYS:
        if name in fields:
            return _as_text(fields[name])
    return None


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return _answer_of(value) or ""
    if isinstance(value, list):
        return " and ".join(_as_text(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).strip()


def _boxes(text: str) -> Iterator[Given]:
    for opening in _BOX.finditer(text):
        depth, at = 1, opening.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if not depth:
            inner = text[opening.end() : at - 1]
            while _STYLE.search(inner):
                inner = _STYLE.sub(r"\1", inner)
            yield Given(opening.start(), at, inner.strip())


# Did a model decline to answer? Of a closed question this is asked only where no answer was read. An open one is
# declined where the answer is short, begins by declining and says nothing else: who declines one thing of a
# clinical question and answers the rest has answered.


_I_WILL_NOT = (
    r"(?:can\s?not|can['’]?t|could\s?n['’]?t|am\s+(?:unable|not\s+able)\s+to|['’]?m\s+(?:unable|not\s+able)\s+to|"
    r"will\s+not|won['’]?t|must\s+decline\s+to|decline\s+to|refuse\s+to|prefer\s+not\s+to)"
)
_NOT = rf"(?:{_I_WILL_NOT}|do\s+not|don['’]?t)"
_ANSWERING = (
    r"(?:answer|help|assist|provide|give|offer|diagnose|advise|comply|respond|choose|select|pick|say|tell|determine|"
    r"know|make|recommend|calculate|generate|write|fulfil|do\s+that|have\s+(?:enough|sufficient|access))"
)
_REFUSES = re.compile(
    rf"\bI\s*{_NOT}\s+(?:\w+ly\s+)?{_ANSWERING}\b|\bunable\s+to\s+(?:\w+ly\s+)?{_ANSWERING}\b|"
    rf"\bit\s+is\s+not\s+possible\s+to\s+{_ANSWERING}\b|\b(?:not|in)sufficient\s+information\b|"
    r"\bnot\s+enough\s+(?:information|context|data)\b|\bcannot\s+be\s+(?:determined|answered|calculated)\b|"
    r"\b(?:I['’]?m|I\s+am)\s+sorry\b|\bas\s+an?\s+(?:AI|language\s+model)\b|\b(?:consult|see|talk\s+to)\s+(?:a|your|an)\s+"
    r"(?:doctor|physician|clinician|health|medical|qualified)|\bno\s+(?:answer|idea)\b|\bnot\s+sure\b|"
    r"\bno\s+puedo\b|\bno\s+lo\s+s[eé]\b|\bje\s+ne\s+(?:peux|sais)\s+pas\b|\bich\s+(?:kann|weiß|darf)\b[^.]*\bnicht\b|无法|不能回答|抱歉|"
    r"не\s+могу|не\s+знаю|申し訳|できません|لا\s+أستطيع|لا\s+يمكنني",
    re.IGNORECASE,
)


_MOST_WORDS = 60  # of a refusal: longer ones say something that a jury can grade
# What was asked for. A clinician too says "I will not give antibiotics": giving and writing must be of an answer.
_OF_AN_ANSWER = (
    r"(?:\w+\s+){0,3}(?:advice|answers?|diagnos[ie]s|responses?|information|notes?|summary|letters?|opinions?|help|assistance|"
    r"recommendations?|guidance|content|instructions?)\b"
)
_THE_TASK = (
    r"(?:answer\b|help\b|assist\b|comply\b|respond\b|do\s+that\b|diagnose\s+(?:patients|people|you|medical|conditions)\b|"
    rf"(?:provide|give|offer|generate|write)\s+(?:{_OF_AN_ANSWER}|(?:you\s+)?(?:that|this|it)\W*$))"
)
_DECLINES = re.compile(
    rf"\bI\s*{_I_WILL_NOT}\s+(?:\w+ly\s+)?{_THE_TASK}|\bI\s+(?:do\s+not|don['’]?t)\s+know\W*$|"
    rf"\bas\s+an?\s+(?:AI|language\s+model)\b.*\bI\s*{_I_WILL_NOT}\b|"
    r"\bno\s+puedo\s+(?:ayudar|responder|contestar|dar)\b|\bje\s+ne\s+(?:peux|sais)\s+pas\s+(?:répondre|aider|vous)\b|"
    r"\bich\s+(?:kann|darf)\b[^.]*\bnicht\s+(?:beantworten|helfen|geben|schreiben)\b|无法(?:回答|提供|帮助)|不能回答|"
    r"не\s+могу\s+(?:ответить|помочь)|お答えできません|お手伝いできません|لا\s+(?:أستطيع|يمكنني)\s+(?:الإجابة|المساعدة)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")
# What stands beside a refusal and answers nothing.
_COURTESY = re.compile(
    r"(?:feel\s+free|let\s+me|thank|sorry|I['’]?m\s+sorry|I\s+am\s+sorry|unfortunately|I\s+hope|(?:please|if\s+you[^,]*,|"
    r"you\s+(?:should|may|can|could))\s+(?:please\s+)?(?:consult|see|contact|ask|talk|speak|seek|reach|share|"
    r"rephrase|try\s+again|let|feel|provide\s+(?:me|more|your|further|the\s+(?:conversation|note|text|question))))\b",
    re.IGNORECASE,
)
# What follows a refusal in its own sentence and is an answer, or may be.
_GOES_ON = re.compile(
    r"\b(?:but|however|so|though|although|instead|yet|still|therefore)\b|[;–—]|\d", re.IGNORECASE
)


def declines(text: str) -> bool:
    """Whether an open answer is a refusal and nothing else."""
    plain = re.sub(r"[*_#>`]+", "", text).strip()
    if not plain or len(plain.split()) > _MOST_WORDS:
        return False
    sentences = _SENTENCE.split(plain)
    if len(sentences) > 1 and _COURTESY.match(sentences[0]) and len(sentences[0].split()) <= 3:
        del sentences[0]  # "I'm sorry."
    first, *rest = sentences
    found = _DECLINES.search(first)
    if found is None or ":" in first or _GOES_ON.search(first, found.end()):
        return False
    return all(_says_nothing(each) for each in rest)


def _says_nothing(sentence: str) -> bool:
    found = _COURTESY.match(sentence) or _DECLINES.search(sentence)
    return found is not None and not _GOES_ON.search(sentence, found.end())


def refuses(text: str) -> bool:
    """Whether the text says that there will be no answer, or that its writer does not know one."""
    return _REFUSES.search(text) is not None
