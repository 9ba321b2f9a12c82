"""Words of clinical text with their places, and which of them no quotation may change or leave out.

Two texts are compared word by word, never sign by sign: "5 mg" is no part of "15 mg" or of "2.5 mg".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["word", "number", "sign", "mark"]

# Signs that differ between keyboards and not in meaning; each becomes one sign, so that places are kept.
_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u2002\u2003", " "),
        "\u00b5": "\u03bc",
        "≦": "≤",
        "≧": "≥",
        "⩽": "≤",
        "⩾": "≥",
        "＜": "<",
        "＞": ">",
        "％": "%",
    }
)
# Signs that are not seen: soft hyphens and joiners, as texts from PDF files have them inside words.
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_NOTHING = dict.fromkeys(map(ord, _UNSEEN))
_TOKEN = re.compile(
    rf"""
      (?P<number> (?<![\w.])\.\d+ | \d+(?:[.,]\d+)* )
    | (?P<brief>  \b(?i:[wrc]/o|d/c)\b )                            # without, rule out, complains of, discontinue
    | (?P<one>    [\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f] )       # scripts without spaces
    | (?P<word>   [^\W\d_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f][\u0300-\u036f{_UNSEEN}]*
                  (?:'?[^\W\d_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f][\u0300-\u036f{_UNSEEN}]*)* )
    | (?P<sign>   \([-+]\) | (?<!\w)[-+](?i:ve)\b | (?<![\w)\]])-(?=\.?\d) | [<>≤≥=±+%/°^~×≈≠↑↓→←∅⌀?] )
    | (?P<mark>   [^\s{_UNSEEN}] )
    """,
    re.VERBOSE,
)

NEGATIONS = frozenset(
    """no not never none nor neither without cannot nothing nobody nowhere non nil neg negative absent
    absence lack lacks lacking denies denied deny denying unlikely exclude excludes excluded excluding
    except avoid avoids avoided avoiding stop stops stopped stopping discontinue discontinued
    discontinuing withhold withheld hold held holding cease ceased contraindicated omit omits omitted
    omitting suspend suspended pause paused withdraw withdrawn ruled dont doesnt didnt cant wont isnt
    arent wasnt werent shouldnt wouldnt couldnt hasnt havent hadnt refuse refuses refused decline declines
    declined against rather instead w/o r/o d/c (-) -ve ø 不 无 無 没 沒 未 非 否 nicht kein keine keinen keiner
    ohne nie pas ne sans jamais aucun aucune non ni niet geen zonder sin nunca ninguna ninguno""".split()  # noqa: SIM905 - a list of words reads best as words
)
_SIDES = frozenset(
    """left right bilateral both unilateral upper lower proximal distal anterior posterior medial lateral
    superior inferior ventral dorsal bilaterally lt rt os ou links rechts gauche droite droit izquierdo
    izquierda derecho derecha""".split()  # noqa: SIM905
)
# What a number counts: cut off, it leaves a number that may be anything.
UNITS = frozenset(
    """mg mcg μg ug g kg ng pg ml μl l dl cl iu unit units mmol μmol nmol pmol meq meqs mosm mm cm m mmhg kpa
    mol bpm microgram micrograms milligram milligrams nanogram nanograms gram grams kilogram kilograms
    millilitre millilitres milliliter milliliters litre litres liter liters hour hours h hr hrs minute
    minutes min second seconds day days week weeks wk wks month months year years tablet tablets tab tabs
    capsule capsules puff puffs drop drops spray sprays ampoule ampoules sachet sachets patch patches""".split()  # noqa: SIM905
)
_AMOUNTS = UNITS | frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
    million dozen half halve halved quarter third once twice thrice single double doubled triple daily
    weekly monthly yearly hourly nightly fortnightly alternate bid tid qid qd qds tds bd od om nocte mane
    prn stat per every i ii iii iv v vi vii viii ix oral orally po im sc subcutaneous subcutaneously
    intravenous intravenously intramuscular intrathecal topical rectal inhaled sublingual""".split()  # noqa: SIM905
)
# Words that turn the meaning: direction, certainty, condition, time, whose it is.
_TURNS = frozenset(
    """increase increases increased decrease decreases decreased raise raised reduce reduced start starts
    started begin continue continued resume before after above below over under more less most least high
    low higher lower positive possible possibly probable probably suspected suspect suspicious likely may
    might could would should must if unless until only when while history wife husband partner was were
    been had will plan planned planning consider considered allergic allergy allergies intolerant
    intolerance resolved failed fails fail missed unable rarely seldom hardly except worsening improving
    improved increasing decreasing reducing normal abnormal elevated acute chronic mild moderate severe
    stable unstable previous previously prior former formerly past risk rule ruled out question
    questionable instead versus vs or but than increase to from better worse""".split()  # noqa: SIM905
)
# What it depends on: advice without its condition is other advice.
CONDITIONS = frozenset({"if", "unless"})
# Whose it is, where it is not the patient's.
RELATIVES = frozenset(
    """family mother mother's father father's sister sister's brother brother's son daughter maternal
    paternal parent parents grandmother grandfather grandparents aunt uncle cousin sibling siblings""".split()  # noqa: SIM905
)
PROTECTED = NEGATIONS | _SIDES | _AMOUNTS | _TURNS | RELATIVES
# Words that a quotation may drop or add without saying anything else.
SLIGHT = frozenset({"a", "an", "the", "that"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, sign or punctuation mark in its comparable form, and where it is."""

    text: str
    kind: Kind
    start: int
    end: int

    @property
    def is_protected(self) -> bool:
        return (
            self.kind in ("number", "sign")
            or self.text in PROTECTED
            or is_negation(self.text)
            or any(sign.isnumeric() for sign in self.text)  # ½, Ⅳ, 10⁹
        )


def tokens(text: str) -> list[Token]:
    """Every word, number, sign and mark of a text, in order; case and typography are set aside.

    >>> [token.text for token in tokens("Start 2.5mg – don’t exceed 5 mg")]
    ['start', '2.5', 'mg', '-', "don't", 'exceed', '5', 'mg']
    """
    found = []
    for match in _TOKEN.finditer(text.translate(_SAME)):
        group = str(match.lastgroup)
        kind: Kind = "word" if group in ("one", "brief") else group  # type: ignore[assignment]
        found.append(Token(_plain(match.group()), kind, match.start(), match.end()))
    return found


def is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def content(found: Sequence[Token]) -> list[Token]:
    """The tokens that say something: punctuation and slight words are left out."""
    return [token for token in found if token.kind != "mark" and token.text not in SLIGHT]


@lru_cache(maxsize=65_536)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold().translate(_NOTHING))
