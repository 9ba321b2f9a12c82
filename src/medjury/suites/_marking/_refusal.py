"""Did a model decline to answer? Of a closed question this is asked only where no answer was read. An open one is
declined where the answer is short, begins by declining and says nothing else: who declines one thing of a clinical
question and answers the rest has answered."""

from __future__ import annotations

import re

_NOT = (
    r"(?:can\s?not|can['’]?t|could\s?n['’]?t|am\s+(?:unable|not\s+able)\s+to|['’]?m\s+(?:unable|not\s+able)\s+to|"
    r"will\s+not|won['’]?t|do\s+not|don['’]?t|must\s+decline\s+to|decline\s+to|refuse\s+to|prefer\s+not\s+to)"
)
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
_I_WILL_NOT = (
    r"(?:can\s?not|can['’]?t|could\s?n['’]?t|am\s+(?:unable|not\s+able)\s+to|['’]?m\s+(?:unable|not\s+able)\s+to|"
    r"will\s+not|won['’]?t|must\s+decline\s+to|decline\s+to|refuse\s+to|prefer\s+not\s+to)"
)
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
