"""Sets of codes (ICD-10): which an answer holds, and their F1 against the gold set.

The score of a set of items is the micro-average: counts are summed over items first (`micro_f1`). A mark therefore
keeps them in its note, as `tp=2 fp=1 fn=0`; `counts_of` reads them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark, Item, Mark
from medjury.suites._marking._answer_text import refuses
from medjury.suites._marking._reading import Reading, said

# A letter, a digit, a digit or A or B, and up to four more: the diagnoses. Seven signs: the procedures.
_DIAGNOSIS = re.compile(r"(?<![\w.])([A-Z]\d[\dAB])(?:\.?([\dA-Z]{1,4}))?(?!\w)(?!\.\d)", re.IGNORECASE)
_PROCEDURE = re.compile(r"(?<![\w.])(?=[A-Z\d]*\d)(?=[A-Z\d]*[A-Z])[0-9BCDFGHX][\dA-HJ-NP-Z]{6}(?![\w.]\w)")
_NOT_A_CODE = re.compile(
    r"\b(?:vitamin|vertebra\w*|level|disc|disk|nerve|root|rib|dermatome|complement|factor)s?\s*$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|exclud\w+|rul\w+\s+out|rather\s+than|instead\s+of|without|never)\s*:?\s*(?:the\s+)?(?:codes?\s+)?$",
    re.IGNORECASE,
)
_TO = re.compile(r"\s*(?:-|–|—|to|through)\s*", re.IGNORECASE)
_NONE = re.compile(
    r"\W*(?:none|no\s+(?:icd\S*\s+)?(?:billable\s+)?codes?(?:\s+(?:apply|applies|needed|found|assigned))?|n/?a|\[\s*\])\W*",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"\btp=(\d+) fp=(\d+) fn=(\d+)\b")
_MOST_IN_RANGE = 100


@dataclass(frozen=True, slots=True)
class CodeCounts:
    """Codes that are right, that should not be there, and that are missing."""

    true: int
    false: int
    missed: int

    @property
    def f1(self) -> float:
        """2 tp / (2 tp + fp + fn); 1 where nothing was to be coded and nothing was."""
        total = 2 * self.true + self.false + self.missed
        return 2 * self.true / total if total else 1.0


def code_f1(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """The F1 of one answer's codes, with its counts in the note."""
    gold = gold_codes(item)
    if not gold:
        return Mark(None, Reason.INPUT, note="the item has no gold codes")
    found = read_codes(answer, item)
    counts = code_counts(item, answer)
    note = f"tp={counts.true} fp={counts.false} fn={counts.missed}"
    if isinstance(found, Reading):
        return Mark(None, found.reason, note=f"{found.note}; {note}")
    return Mark(counts.f1, read=", ".join(sorted(found)), note=note)


def code_counts(item: Item, answer: str) -> CodeCounts:
    """The counts of one answer. One that holds no codes misses all of them."""
    gold, found = gold_codes(item), read_codes(answer, item)
    codes = frozenset() if isinstance(found, Reading) else found
    return CodeCounts(len(codes & gold), len(codes - gold), len(gold - codes))


def counts_of(mark: Mark) -> CodeCounts | None:
    """The counts that a mark of `code_f1` keeps, an answer without codes too; none for marks of other metrics."""
    found = _COUNTS.search(mark.note)
    return CodeCounts(*map(int, found.groups())) if found else None


def micro_f1(counts: Iterable[CodeCounts]) -> float:
    """F1 over items: counts are summed first, so that an item with many codes weighs more."""
    listed = list(counts)
    return CodeCounts(
        *(sum(getattr(each, name) for each in listed) for name in ("true", "false", "missed"))
    ).f1


def gold_codes(item: Item) -> frozenset[str]:
    """The item's codes, without dots and in capitals."""
    listed = item.facts.get("codes") or [code for text in item.gold for code in re.split(r"[,;|\s]+", text)]
    return frozenset(filter(None, (_plain(str(code)) for code in listed)))


def read_codes(answer: str, item: Item) -> frozenset[str] | Reading:
    """The codes of an answer, each once, ranges written out; a reading that says why where there are none."""
    text = said(answer, item.inputs.values())
    if isinstance(text, Reading):
        return text
    procedures = any(_PROCEDURE.fullmatch(code) for code in gold_codes(item))
    codes = _diagnoses(text) | (set(_PROCEDURE.findall(text)) if procedures else set())
    if codes or _NONE.fullmatch(text):
        return frozenset(codes)
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to code")
    return Reading(None, Reason.PARSE, "the answer holds no code")


def _diagnoses(text: str) -> set[str]:
    codes: set[str] = set()
    before: re.Match[str] | None = None
    for found in _DIAGNOSIS.finditer(text):
        lead = text[max(0, found.start() - 40) : found.start()]
        if not _is_code(found, lead):
            continue
        if before and _TO.fullmatch(text, before.end(), found.start()):
            codes |= _between(_plain(before.group()), _plain(found.group()))
        codes.add(_plain(found.group()))
        before = found
    return codes


def _is_code(found: re.Match[str], lead: str) -> bool:
    category, detail = found.groups()
    if _DENIED.search(lead):
        return False
    if detail or category.isupper():
        return not (detail is None and _NOT_A_CODE.search(lead)) and not (detail or "").isalpha()
    return not lead.rpartition("\n")[2].strip(
        " -*•,;"
    )  # small letters without detail: only at the head of a line


def _between(first: str, last: str) -> set[str]:
    """The codes of a range of one letter and one length; what is no such range names its two ends alone."""
    same = first[0] == last[0] and len(first) == len(last) and first[1:].isdigit() and last[1:].isdigit()
    if not same or not 0 < int(last[1:]) - int(first[1:]) <= _MOST_IN_RANGE:
        return set()
    width = len(first) - 1
    return {f"{first[0]}{number:0{width}d}" for number in range(int(first[1:]), int(last[1:]))}


def _plain(code: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", code.upper())
