"""The language of a case: what the case or its study states, else what a detector is sure of, else what its script
gives away. English words, lists and patterns know nothing of another language, so what rests on them asks here."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Protocol

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases._case import Case
from medjury.intake.cases._messages import ChatMessage

ENGLISH = "en"
NOT_LATIN = "und"  # ISO 639 for "not determined": its letters only say that it is not English
DETECT = "detect"
# Restricted to languages that clinics write: a wrong answer among 140 is likelier than among these.
_LANGUAGES = [
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu",
    "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "th", "tr",
    "uk", "ur", "vi", "zh",
]  # fmt: skip
_NAMES = {
    "eng": "en", "english": "en", "deu": "de", "ger": "de", "german": "de", "deutsch": "de", "spa": "es",
    "spanish": "es", "español": "es", "castellano": "es", "fra": "fr", "fre": "fr", "french": "fr",
    "français": "fr", "ita": "it", "italian": "it", "italiano": "it", "por": "pt", "portuguese": "pt",
    "português": "pt", "nld": "nl", "dut": "nl", "dutch": "nl", "nederlands": "nl", "zho": "zh", "chi": "zh",
    "chinese": "zh", "mandarin": "zh", "cantonese": "zh", "中文": "zh", "jpn": "ja", "japanese": "ja",
    "日本語": "ja", "kor": "ko", "korean": "ko", "tha": "th", "thai": "th",
    "ara": "ar", "arabic": "ar", "rus": "ru",
    "russian": "ru",
}  # fmt: skip
_NOT_STATED = frozenset(
    {"", "unknown", "not stated", "not known", "other", "none", "na", "n/a", "mixed", "?", "und"}
)
# Another language is likelier than not, and English is ruled out at 1 %. Of 297 turns of English consultations
# none is then taken for another language, and of 987 short German, Spanish and French sentences none for English.
_LIKELY, _RULED_OUT, _FEWEST_LETTERS = 0.5, 0.01, 12
_ENOUGH = 4000  # characters: more of a text say nothing new
_SEVERAL = re.compile(r"\s*(?:[/;,&+|]|\band\b|\bund\b)\s*")
_LETTER = re.compile(r"[^\W\d_]")
MISSING = (
    "detecting languages needs py3langid: pip install 'medjury[languages]'; or state the language, for the study "
    "(`language: de`) or in a column `language` of the cases"
)


class _Detector(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


def language_code(stated: str) -> str:
    """A stated language as its two letters where it is a common one; "" where nothing is stated by it, or several.

    >>> language_code("de-CH"), language_code("English"), language_code("unknown"), language_code("Twi")
    ('de', 'en', '', 'twi')
    >>> language_code("English and Spanish")
    ''
    """
    word = stated.strip().casefold()
    if word in _NOT_STATED:
        return ""
    found = [_first_code(each) for each in _SEVERAL.split(word)]
    known = {each for each in found if each in _LANGUAGES}
    return "" if len(known) > 1 else _first_code(word)


def _first_code(word: str) -> str:
    first = re.split(r"[-_ ,;(/]", word, maxsplit=1)[0]
    return _NAMES.get(first, first)


def can_detect() -> bool:
    return _detector() is not None


def language_of_text(*texts: str | None) -> str:
    """The language that the texts together are surely in, by its two letters; "" where nobody can be sure. Letters
    that are not Latin are no English, whether or not the detector is installed."""
    text = " ".join([each[:_ENOUGH] for each in islice(filter(None, texts), 8)])
    letters = _LETTER.findall(text)
    latin = sum(count for each, count in Counter(letters).items() if _is_latin(each))
    detector = _detector() if letters else None
    if 2 * latin < len(letters):
        ranked = detector.rank(text) if detector is not None else []
        return next((code for code, share in ranked[:1] if code != ENGLISH and share >= _LIKELY), NOT_LATIN)
    if detector is None or len(letters) < _FEWEST_LETTERS:
        return ""
    shares = dict(detector.rank("".join([each for each in text if not each.isalpha() or _is_latin(each)])))
    best = max(shares, key=shares.__getitem__)
    if shares[best] < _LIKELY or (best != ENGLISH and shares[ENGLISH] >= _RULED_OUT):
        return ""
    return best


def stated_language(case: Case) -> str:
    """The language that the case states, its own or its study's; "" where it states none."""
    stated = case.input("language")
    return language_code(stated) if isinstance(stated, str) else ""


@cache
def _is_latin(letter: str) -> bool:
    return "LATIN" in unicodedata.name(letter, "")


def language_of(case: Case) -> str:
    """The language of a case: what it states (`language`), else what its texts are surely in; "" where neither is
    known. A patient who speaks another language than the record belongs in a column of another name."""
    if code := stated_language(case):
        return code
    texts = {"reference": case.reference, "candidate": case.candidate, **case.texts}
    texts |= {name: _said(messages) for name, messages in case.messages.items()}
    return language_of_text(*texts.values(), *(note.text for note in islice(case.notes, 8)))


def _said(messages: Iterable[ChatMessage]) -> str:
    """What the two sides say to each other: the headings are ours, and tools speak English everywhere."""
    said, length = [], 0
    for each in messages:
        if each.kind in ("user", "assistant") and length < _ENOUGH:
            said.append(each.text)
            length += len(each.text)
    return "\n".join(said)


def with_language(case: Case, stated: str | None) -> Case:
    """The case with the language that its study states, or has `detect` look for, where the case states none."""
    if stated is None or stated_language(case):
        return case
    if stated == DETECT and not can_detect():
        raise MedjuryError(MISSING)
    found = language_of(case) if stated == DETECT else language_code(stated)
    return replace(case, metadata={**case.metadata, "language": found}) if found else case


def not_english(language: str) -> str:
    """Why a rule for English gives nothing for this language; "" where it may be applied."""
    if language in ("", ENGLISH):
        return ""
    return f"not known for this language ({shown_language(language)}): its rules are for English"


def shown_language(language: str) -> str:
    return "not Latin letters" if language == NOT_LATIN else language


def languages_of(stated: Iterable[str | None] | None, *texts: Iterable[str | None]) -> list[str]:
    """The language of each row of texts: what is stated of it, else what they are surely in."""
    rows = list(zip(*texts, strict=True))
    given = [None] * len(rows) if stated is None else list(stated)
    if len(given) != len(rows):
        raise MedjuryError(f"{len(given)} languages do not match {len(rows)} texts; give one for each")
    return [
        language_code(each or "") or language_of_text(*row) for each, row in zip(given, rows, strict=True)
    ]


@cache
def _detector() -> _Detector | None:
    """py3langid, where it is installed: as sure as lingua on the sentences named above, and 4 MB beside its 96."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        return None
    made = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    made.set_languages(_LANGUAGES)
    found: _Detector = made
    return found
