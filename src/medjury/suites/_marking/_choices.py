"""The choices of an item, and which of them some words name as they begin: by letter, by text, or several."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_MOST_FILLERS = 12
_FILLER = re.compile(
    r"(?:[\s:=*_`#>~→⇒\"'“”‘’«»„\-–—,]+|(?:clearly|definitely|certainly|most\s+likely|likely|probably|therefore|thus|simply|indeed|"
    r"indeed|that|it\s+is|it['’]s|is|be|still|also|actually|again|obviously|option|choice|letter|answer|number|alternative|item|"
    r"opción|option|réponse|respuesta|antwort|вариант|选项|選項|the|la|el|le|die|der|best|correct|right)(?![\w]))",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:definitely\s+|certainly\s+|clearly\s+)?(?:not|never|neither|n['’]t|none|no\s+longer|unlikely|anything\s+but|"
    r"other\s+than|incorrect|wrong|nicht|pas|не|不是)(?![\w])",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\bbut\s+(?:rather\s+)?(?:it\s+is\s+|it['’]s\s+|is\s+)?|\b(?:rather|instead)\b[\s,:]*|"
    r"[,;.—–-]\s*(?:it\s+is|it['’]s|the\s+answer\s+is)\s+",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"[\s)\].*_]*(?:[(\[]?\s*(?:,\s*(?:and|or)|,|/|\||&|\+|and/or|and|or|or\s+else|as\s+well\s+as|y|o|und|oder|et|ou|и|или|和|或|、|vs\.?|versus|to|through|-|–)\s*)"
    r"(?:(?:possibly|maybe|perhaps|also|even|both|either|potentially|option|choice)\s+)*",
    re.IGNORECASE,
)
# Words after a letter that begin a clause about it, so that "A because" is the letter and "A combination" is not.
_CLAUSE = (
    r"because|since|as|which|for|due|given|based|and|or|not|but|is|are|was|if|when|with|over|rather|instead|would|will|should|"
    r"here|in|on|per|by|from|so|therefore|it|this|that|the|best|seems|appears|fits|matches|i|y|o|porque|weil|car|because"
)
_SPEAKS = re.compile(
    r"[)\].*_\s]*(?:is|are|was|were|would|can|cannot|can['’]t|could|does|do|has|have|may|might|will|should|fails?|isn['’]t|aren['’]t|"
    r"seems?|appears?|looks?|doesn['’]t|won['’]t|describes?|refers?|suggests?|causes?|occurs?|presents?)(?![\w])",
    re.IGNORECASE,
)
# Letters of other scripts that look like Latin ones and can mean no other place in their own order.
# Texts of choices that are also words of any sentence.
WHOLE_ANSWERS = frozenset({"yes", "no", "true", "false", "maybe"})
_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ALIKE = {"А": "A", "а": "A", "С": "C", "с": "C", "Α": "A", "α": "A", "Β": "B", "β": "B", "Ε": "E", "ε": "E"}


def folded(text: str) -> str:
    """A text for comparison: one spelling, lower case, words and numbers alone."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"[^\w%+<>=./'-]+|(?<!\d)[./]|[./](?!\d)|(?<!\w)['_-]+|['_-]+(?!\w)", " ", text)
    return re.sub(r"^(?:an?|the)\s+(?=\S)", "", " ".join(text.split()))


@dataclass(frozen=True, slots=True)
class Named:
    """The choices that some words name, and the words behind them. Several mean that the words do not decide."""

    keys: tuple[str, ...]
    rest: str = ""
    unknown: str = ""  # a letter that is no choice


@dataclass(frozen=True)
class Choices:
    """Letters with their texts; or labels, which are not `lettered`: their text alone names them."""

    texts: Mapping[str, str]
    lettered: bool = True

    @cached_property
    def folded(self) -> dict[str, str]:
        return {key: folded(text) for key, text in self.texts.items()}

    @cached_property
    def _longest_first(self) -> list[tuple[str, re.Pattern[str]]]:
        texts = sorted(
            ((text, key) for key, text in self.folded.items() if text), key=lambda each: -len(each[0])
        )
        return [(key, _spelled(text)) for text, key in texts]

    def key_of(self, text: str) -> str | None:
        """The choice with this text; none where two have it."""
        keys = [key for key, each in self.folded.items() if each and each == folded(text)]
        return keys[0] if len(keys) == 1 else None

    def meant_by(self, words: str) -> Named:
        """What words name that are nothing but an answer: a text, a letter, or what they begin with."""
        keys = [key for key, each in self.folded.items() if each and each == folded(words)]
        if not keys:
            return self.named_by(words)
        letter = self.letter_at(words)
        return Named(tuple(dict.fromkeys((*letter.keys, *keys)) if not folded(letter.rest) else keys))

    def letter_at(self, words: str) -> Named:
        """The letter with which the words begin, where it is a letter and no article or first word."""
        if not self.lettered:
            return Named(())
        found = re.match(
            r"[(\[{<]*\s*(?:\d{1,2}(?!\w)|[A-Za-z](?![A-Za-z0-9_'’])|[^\W\d_a-zA-Z](?![\w'’]))", words
        )
        if found is None:
            return Named(())
        raw = re.sub(r"[(\[{<\s]", "", found.group())
        enclosed = found.group()[0] in "([{<"
        rest = words[found.end() :]
        if raw.isascii() and rest[:1].isalpha() and not _ASIAN.match(rest):
            return Named(())
        letter = _ALIKE.get(raw, raw).upper()
        stands = enclosed or re.match(r"\s*(?:[).\]}>:;,!?\n|/&+=→*_\"'“”’。、–—-]|$)", rest) is not None
        stands = stands or _ASIAN.match(rest) is not None
        if not stands:
            clause = re.match(rf"\s+(?:{_CLAUSE})(?!\w)", rest) is not None
            label = raw.isupper() and raw not in "AI" and (self.starts_with(letter, rest) or clause)
            stands = (
                label
                or (raw in "AI" and (clause or self.starts_with(letter, rest)))
                or (raw.isdigit() and (clause or self.starts_with(letter, rest)))
            )
            if not stands and raw.isupper() and letter in self.texts and re.match(r"\s+[A-Z(]", rest):
                stands = raw not in "AI"
            if not stands:
                return Named(())
        if raw.islower() and not enclosed and re.match(r"\.\w\.?", rest):
            return Named(())  # i.e., e.g.
        if not enclosed and self._abbreviates(letter, rest):
            return Named(())  # E. coli
        if letter in self.texts:
            return Named((letter,), rest)
        if raw.isdigit() or not raw.isascii() or (raw.islower() and not enclosed):
            return Named(())
        return Named((), rest, unknown=letter)

    def _abbreviates(self, letter: str, rest: str) -> bool:
        """Whether a letter with a full stop shortens a name: a small word follows that is not its text."""
        words = re.match(r"\.[ ]?(?=[a-z]{3,})(.*)", rest, re.DOTALL)
        clause = words and re.match(rf"(?:{_CLAUSE})(?!\w)", words[1])
        return words is not None and not clause and not self.starts_with(letter, words[1])

    def starts_with(self, key: str, words: str) -> bool:
        """Whether the words begin with the text of this choice."""
        text = self.folded.get(key, "")
        return bool(text) and _spelled(text).match(words.lstrip()) is not None

    def text_at(self, words: str) -> Named:
        """The choice with whose text the words begin; of two the longer."""
        for key, pattern in self._longest_first:
            if (found := pattern.match(words)) and not self._goes_on(key, words[found.end() :]):
                same = [other for other, text in self.folded.items() if text == self.folded[key]]
                return Named(tuple(same), words[found.end() :])
        return Named(())

    def _goes_on(self, key: str, rest: str) -> bool:
        """Whether a yes or a no is only the first word of a sentence: "no evidence", "no longer"."""
        if self.folded[key] not in WHOLE_ANSWERS:
            return False
        return re.match(rf"\s+(?!(?:{_CLAUSE}|to|was|were)(?!\w))[a-z]", rest, re.IGNORECASE) is not None

    def named_by(self, words: str) -> Named:
        """What the words name as they begin, behind filling words and a negation, with all that is joined."""
        words = self.filled(words)
        if _NEGATED.match(words) and not self.text_at(words).keys:
            turns = _BUT.search(words)
            return self.named_by(words[turns.end() :]) if turns else Named(())
        first = self.one(words)
        if not first.keys and not first.unknown:
            return first
        keys, rest = list(first.keys), first.rest
        while joined := _JOINED.match(rest):
            again = self.one(rest[joined.end() :].lstrip("(["))
            if not again.keys or _SPEAKS.match(again.rest):
                break
            keys += [key for key in again.keys if key not in keys]
            rest = again.rest
        return Named(tuple(keys), rest, first.unknown)

    def filled(self, words: str) -> str:
        """The words without what only leads to the answer, unless a choice begins with just that."""
        words = words.lstrip()
        for _ in range(_MOST_FILLERS):
            found = _FILLER.match(words)
            if found is None or self.text_at(words).keys:
                break
            words = words[found.end() :]
        return words

    def one(self, words: str) -> Named:
        """The one choice with which the words begin; both where its letter and its text are of two."""
        by_text, by_letter = self.text_at(words), self.letter_at(words)
        if by_text.keys and by_letter.keys:
            whole = len(by_text.rest) < len(by_letter.rest) - 1
            keys = by_text.keys if whole else tuple(dict.fromkeys(by_letter.keys + by_text.keys))
            return Named(keys, by_text.rest)
        if by_letter.keys:
            return self._with_text(by_letter)
        return by_text if by_text.keys else by_letter

    def _with_text(self, letter: Named) -> Named:
        """A letter with the text behind it: its own is passed over, that of another choice contradicts it."""
        words = re.sub(r"^[)\].:,;}>*_\s\"'“”\-–—(]+", "", letter.rest)
        text = self.text_at(words)
        if letter.keys[0] in text.keys:
            return Named(letter.keys, text.rest)
        gap = letter.rest[: len(letter.rest) - len(words)]
        ends = re.match(r"[)\]*_\s\"'”]*(?:[.,;!(\n]|$)", text.rest)
        if text.keys and ends and not re.search(r"[,;\n]", gap):
            return Named((*letter.keys, *text.keys), text.rest)
        return letter


def _spelled(text: str) -> re.Pattern[str]:
    """A pattern for a folded text in whatever spacing, case and punctuation it is written."""
    words = (re.escape(word).replace("'", "['’]") for word in text.split())
    between = r"[\s.,;:()\[\]/\"'“”’*_&-]"
    spaced = f"{between}+".join(words)
    spaced = re.sub(rf"(?<=\d){re.escape(between)}\+(?=[^\W\d])", lambda _: f"{between}*", spaced)  # 15mg
    return re.compile(rf"(?:an?\s+|the\s+)?{spaced}(?!\w)", re.IGNORECASE)
