"""Did a model decline to answer? Asked only where no answer was read."""

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


def refuses(text: str) -> bool:
    """Whether the text says that there will be no answer, or that its writer does not know one."""
    return _REFUSES.search(text) is not None
