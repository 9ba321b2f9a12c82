"""The words by which a model leads to its answer, speaks of somebody else's, or takes one back."""

from __future__ import annotations

import re


def any_of(phrases: str) -> str:
    """A pattern for any of these phrases, one to a line or between bars, in whatever spacing."""
    listed = [phrase.strip() for phrase in re.split(r"[|\n]", phrases) if phrase.strip()]
    return "(?:" + "|".join(re.sub(r"\s+", r"\\s+", phrase) for phrase in listed) + ")"


_T = "['’]"
_ANSWER = any_of(
    """answer | choice | option | letter | response | selection | pick | solution | conclusion | decision | verdict
    antwort | lösung | respuesta | réponse | risposta | resposta | ответ | odpowiedź | antwoord"""
)
_TOPIC = any_of(
    "diagnosis | treatment | step | management | therapy | cause | mechanism | organism | test | drug | action"
)
# What a question may ask for: it leads to the answer only where the best, the next, the likeliest of it is named.
_ASKED_FOR = (
    r"(?:best|most\s+\w+|correct|next|right|likeliest|likely|appropriate|preferred|first)\s+(?:\w+\s+){0,3}?"
    + _TOPIC
)
_ASIAN = "(?:答案|正确答案|正解|答え|解答|回答|选择|選擇|选|選|정답|답|الإجابة|الجواب|उत्तर|תשובה)"
_IS = (
    r"(?:\s+"
    + any_of(
        """is | are | was | would be | should be | must be | will be | has to be | remains
        ist | lautet | est | es | è | é"""
    )
    + r"(?!\w)|\s*(?:是|为|為|は)|\s*(?:[:=]|→|->|=>|—|–|-(?=\s)))"
)
_FINAL = r"(?P<final>\bfinal\s+(?:answer|choice|diagnosis|decision|verdict))\b[^.:\n;]{0,40}?"
_CHOOSE = any_of(
    r"""choose | choosing | select | selected | selecting | pick | picked | picking | go with | go for | going with
    going for | opt for | opting for | answer | answered | chose | chosen | say | vote for | conclude
    believe | think it is"""
)
_WILL = rf"(?:{_T}(?:d|ll|m|ve)|\s+(?:would|will|must|should|am|have|shall))?"
_SO = any_of("so | therefore | thus | hence | consequently | accordingly | and so")
_IT_IS = any_of(f"it{_T}?s | it is | it must be | this is | must be")
_LEAVES = any_of(
    f"""it{_T}s | it is | it must be | it should be | that{_T}s | must be | that leaves | leaving | leaving only
    leaves only | leaves"""
)
_POINTS = any_of(
    r"""points? to | consistent with | corresponds? to | match | matches | supports? | suggests? | indicates?
    fits? |     leads? to | best described by"""
)
CUES = re.compile(
    rf"{_FINAL}(?:{_IS}|\s*\**\s*\n)|"
    rf"\b{_ANSWER}\b(?:\s*\([^)\n]*\))?[^.:;\n?]{{0,60}}?{_IS}|"
    rf"\b{_ASKED_FOR}\b[^.:;\n?]{{0,60}}?{_IS}|(?:^|\n)[#*\s]*diagnosis[*\s]*:|"
    rf"{_ASIAN}[^.:;\n?]{{0,10}}?(?:是|为|為|は|[:=]|)|"
    rf"(?:^|\n)[#*\s]*(?:the\s+)?(?:correct\s+)?{_ANSWER}[*#\s]*\n|(?:^|\n)[#*\s]*(?:ans|key|correct|assistant)\s*[.:]|"
    rf"(?:^|[.!?\n]\s*)answer(?=\s+[(\[]?\w[)\]]?\s*(?:[.,;:!\n]|$))|\b{_TOPIC}\s+(?:is|would\s+be)(?!\w)|"
    rf"\b(?:I|we){_WILL}\s+(?:therefore\s+|thus\s+|now\s+)?{_CHOOSE}(?!\w)|"
    rf"\b(?:let{_T}s|let\s+us)\s+(?:go\s+with|choose|pick|select|say)(?!\w)|"
    rf"(?:^|[.\n;,]\s*){_SO}\b[\s,:]*(?:I\s+(?:think|believe)\s+)?{_IT_IS}?|"
    rf"\b{_LEAVES}(?!\w)|\b{_POINTS}(?!\w)",
    re.IGNORECASE,
)
# Cues so common in prose that only a letter, and one that closes its clause, is an answer behind them.
LOOSE = re.compile(
    rf"^\W*(?:{_SO}|it|that|this|must|leav|let|I\b|we\b|answer$|{_TOPIC}\s+\w+(?:\s+be)?$|{_POINTS})",
    re.IGNORECASE,
)


_SURELY = (
    "(?:"
    + any_of(
        "clearly | indeed | therefore | thus | definitely | the only | most likely | the | probably "
        "| actually | also"
    )
    + r"\s+)*"
)
VERDICT = re.compile(
    r"\s*[)\].*_:,\-–—]*\s*(?:\([^)\n]{0,80}\)\s*)?"
    r"(?:is|was|would\s+be|must\s+be|seems|appears\s+to\s+be|remains|has\s+to\s+be|are|[:\-–—(→])\s*"
    rf"{_SURELY}(?:(?P<not>not|never|n{_T}t|hardly|less|un|in)\s*(?:the\s+)?)?(?P<what>"
    + any_of(
        r"""correct | right | true | best | answer | preferred
        wrong | false | incorrect | unlikely | inappropriate | ruled out | excluded | contraindicated"""
    )
    + r"|most\s+(?:likely|appropriate|accurate|probable|suitable|consistent|fitting))(?!\w)",
    re.IGNORECASE,
)
WRONG = re.compile(r"wrong|false|incorrect|unlikely|inappropriate|ruled|excluded|contra", re.IGNORECASE)

_OTHERS = any_of(
    """might | may | could | many | some | one | someone | students? | people | you | they
    clinicians? | colleagues?"""
)
_THINK = any_of("think | thought | assume | say | believe | argue | choose | pick | select | answer")
_SOURCE = any_of(
    "question | prompt | stem | user | patient | text | vignette | passage | note | example | key | textbook"
)
_SAYS = any_of(
    """offers? | says? | asks? | states? | lists? | gives? | claims? | reads? | presents? | suggests?
    contains? | provides?"""
)
# Whose answer is this? Somebody else's, a supposed one, one taken back, or the question's own words.
NOT_OWN = re.compile(
    rf"\bif\b(?!\s+(?:I|we)\s+(?:had|have)\s+to)|\b{_OTHERS}\s+(?:\w+\s+){{0,2}}?{_THINK}(?:s|ed)?\b|"
    rf"\b{_SOURCE}\b(?:\s+\w+){{0,3}}?\s+{_SAYS}\b|"
    r"\b(?:common|frequent|usual|typical)\s+(?:mistake|error|trap|wrong)\b|\bI\s+(?:first\s+|originally\s+)?(?:thought|assumed|considered)\b|"
    rf"(?:\bnot|n{_T}t)\s+(?:think|believe|sure|certain|convinced|clear|say|choose|pick|select|answer|be|go)\b|"
    + r"\b"
    + any_of(
        r"""whether | unless | at first | initial | initially | originally
        first thought | first impression | first instinct | first guess
        mistaken | tempting | why | for example | e\.g | suppose | format | misread | had been | had it been | were
        going to (?:say|answer|choose|pick)"""
    )
    + r"\b",
    re.IGNORECASE,
)
BACK = re.compile(
    r"\b"
    + any_of(
        rf"""wait | actually | correction | on second | on further | on closer | on re\w+ | reconsider\w*
        scratch that | I was wrong | I was mistaken | my mistake | my error | my apologies | instead | hold on
        let me re\w* | let me correct | let me fix | let me double | upon review | upon reflection | upon further
        revise | revised | revising | that{_T}s wrong | that is wrong | that was wrong | not right | is incorrect
        sorry | I meant | misspoke | updated? answer | corrected"""
    )
    + r"\b|\bno\s*[,.—–-]",
    re.IGNORECASE,
)
# What stands before a letter that is no choice there: hepatitis B, vitamin C; or that joins it to another.
JOINS_BEFORE = re.compile(
    r"\b"
    + any_of(
        """neither | nor | not | that | than | both | hepatitis | vitamin | type | group | grade | class | stage
        factor |         protein | influenza | category | phase | zone | lead | agar | cell | why | if"""
    )
    + r"\s+$|(?<!\w)[A-Za-z]\)?\s*[,/]\s*$|(?:\w|\))\s*(?:&|\bor\b|\band\b)\s*$",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b"
    + any_of(
        "was | were | had | earlier | previous | previously | prior | history | past | former | formerly"
    )
    + r"\b",
    re.IGNORECASE,
)
DENIES = re.compile(
    rf"n{_T}t\b|\b"
    + any_of(
        r"""not | never | neither | nor | avoid\w* | contraindicat\w* | unlike | less | rule[sd]? out | exclude\w*
        instead |         rather | wrong | incorrect | without | unlikely | if | whether | or | might | could
        although | however | but"""
    )
    + r"\b",
    re.IGNORECASE,
)
