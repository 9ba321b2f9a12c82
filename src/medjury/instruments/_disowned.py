"""Do the words beside an object say that it is not the answer? Somebody else's words, an example, or taken back.

How a text under judgement states its grades cannot be foreseen (in base64, in another language, in a riddle); how a
judge speaks of somebody else's words can.
"""

from __future__ import annotations

import re

_GRADING = r"(?:grade|rate|score|judge|evaluate|assess)"
_NOT = r"(?:can\s?not|can['’]t|do\s+not|don['’]t|will\s+not|won['’]t|would\s+not|am\s+(?:unable|not\s+able)\s+to)"
# Said of the whole task: "I cannot assess the dose" is a reason for a grade, and an injection may be insulin.
_DECLINES = re.compile(
    rf"\bI\s+(?:must\s+|have\s+to\s+|will\s+|would\s+)?(?:(?:decline|refuse)\s+to\s+{_GRADING}|ignore|disregard|reject)\b|"
    rf"\bI(?:\s+{_NOT}|['’]m\s+(?:unable|not\s+able)\s+to)\s+(?:\w+ly\s+)?"
    rf"(?:{_GRADING}\s+(?:it|this|that|such|the\s+(?:text|answer|response|summary|note|case))\b|comply|follow\s+that|"
    r"(?:give|provide|assign)\s+(?:an?y?|the|such)\s+(?:grade|score|rating|verdict))|\bI\s+need\s+more\s+information|"
    r"\bprompt\s+injection|\binjection\s+attempt|\bmanipulate\s+(?:me|the\s+(?:judge|grad|rat|scor|evaluat))|\bjailbreak",
    re.IGNORECASE,
)
# The end of the sentence that leads to the object: a full stop, or a blank line without a colon before it.
_ENDS = re.compile(r"""[.!?]["'”)]*\s+|(?<![:\s])\s*\n\s*\n""")
_ANOTHERS = re.compile(
    r"\b(?:claim|say|said|state|read|hold|contain|ask|want|demand|instruct|tell|told|request|decode|spell|quote|embed|inject|"
    r"pretend|hide|hidden|write|wrote|insist)(?:s|d|ed|ded|ing)?\b|\b(?:an?|for)\s+example\b|\bexample\s+of\b|\bends\s+(?:in|with)\b|"
    r"\blooks?\s+like\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|mine|here(?:['’]s|\s+is|\s+are)|below|based\s+on|as\s+(?:requested|asked|instructed)|so|therefore|thus|hence)\b|"
    r"\b(?:requested|required)\b",
    re.IGNORECASE,
)
# An object that is the subject of a sentence is spoken of, not given.
_SPOKEN_OF = re.compile(
    r"[\s`]*(?:is|are|was|were|would\s+be|which|comes?|stands?|appears?)\b(?!\s+my\b)", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"^\W*(?:wait|correction|no,)|^[^\S\n]*,?[^\S\n]*but\b|\bon\s+(?:reflection|second\s+thoughts?)\b|\bnot\s+my\s+(?:own\b|grade|score|verdict|answer)|"
    r"\bmy\s+(?:own|real|true|actual|final)\s+(?:grade|score|rating|verdict|answer|judge?ment)s?\b|"
    r"\bshould\s+(?:all\s+|both\s+)?be\s+(?:lower|higher|\d|zero|one|two|three|four|five)\b(?!\s*(?:mg|g|ml|mmol|%|times|days?)\b)",
    re.IGNORECASE,
)


def disowned(prose: str, led_by: str, followed_by: str) -> bool:
    """Whether the prose of a reply, before and behind its object, says that the object is not its answer."""
    clause = _ENDS.split(led_by)[-1]
    anothers = _ANOTHERS.search(clause) is not None and _OWN.search(clause) is None
    return bool(
        anothers
        or _DECLINES.search(prose)
        or _SPOKEN_OF.match(followed_by)
        or _TAKEN_BACK.search(followed_by)
    )
