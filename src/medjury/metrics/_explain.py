"""A difference in words: "'not throat' became 'not so': denial of a part of the body lost"."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.metrics._differences import DENIABLE, Difference
from medjury.metrics._lexicons import Lexicons
from medjury.metrics._reading import Reading, origins_of

LABELS = {
    "drug": "drug",
    "symptom": "symptom",
    "condition": "condition",
    "anatomy": "part of the body",
    "laterality": "side or place",
    "dose": "dose or quantity",
    "number": "number",
    "time": "time or duration",
    "frequency": "frequency",
    "unit": "unit",
    "family": "family history",
    "history": "history (habit, test or treatment)",
    "exposure": "exposure",
    "qualifier": "description",
    "content": "content",
}
# A turn that was lost altogether is not listed word by word.
MOST_REASONS = 6
# A negation this near to what it denies is quoted with it.
QUOTED_WITH = 3


def explain(
    said: Reading, heard: Reading, differences: Sequence[Difference], links: Sequence[int], lists: Lexicons
) -> tuple[str, ...]:
    """One sentence for each difference, the gravest first. `links` tells which word became which."""
    if not differences:
        return ()
    said_from, heard_from = origins_of(said, lists), origins_of(heard, lists)

    def quote(reading: Reading, origins: list[int], start: int, stop: int) -> str:
        return " ".join(reading.surface[origins[start] : origins[stop - 1] + 1]) if stop > start else ""

    reasons: list[str] = []
    told: set[int] = set()
    if not heard.words:
        reasons.append("nothing was recognised")
    for each in sorted(differences, key=lambda one: (not one.loaded, one.category == "content")):
        if each.kind == "lost":
            start, stop = each.said
            denied = each.denied and each.category in DENIABLE
            if denied and start - each.denied_from <= QUOTED_WITH:
                start = each.denied_from
            first, last = _place(links, start, stop, len(heard.words))
            said_words = quote(said, said_from, start, stop)
            heard_words = quote(heard, heard_from, first, last)
            what = LABELS[each.category]
            what = f"denial of a {what}" if denied else what
            changed = any(
                other.kind == "added" and other.category == each.category and first <= other.heard[0] < last
                for other in differences
            )
            told.update(range(first, last))
            became = f"became '{heard_words}'" if heard_words else "was not recognised"
            reasons.append(f"'{said_words}' {became}: {what} {'changed' if changed else 'lost'}")
        elif each.kind == "added":
            if not told.issuperset(range(*each.heard)):
                what = LABELS[each.category]
                reasons.append(
                    f"'{quote(heard, heard_from, *each.heard)}' was added: {what} that was not said"
                )
        elif each.kind in ("affirmed", "denied"):
            what, words = LABELS[each.category], quote(said, said_from, *each.said)
            if each.kind == "affirmed":
                reasons.append(f"'{words}' was denied and now reads as affirmed: denial of a {what} lost")
            else:
                reasons.append(f"'{words}' was affirmed and now reads as denied: {what} reversed")
        elif each.kind == "negation":
            reasons.append("a negation was lost" if each.denied else "a negation was added")
        elif each.kind == "answer":
            change = f"became '{heard.answer}'" if heard.answer else "was lost"
            reasons.append(f"the answer '{said.answer}' {change}")
        else:
            reasons.append("an acknowledgement was lost")
    kept = list(dict.fromkeys(reasons))
    if len(kept) > MOST_REASONS:
        kept = [*kept[:MOST_REASONS], f"and {len(kept) - MOST_REASONS} more"]
    return tuple(kept)


def _place(links: Sequence[int], start: int, stop: int, length: int) -> tuple[int, int]:
    """Which words of the hypothesis stand where words `start` to `stop` of the reference were."""
    first, last = 0, length
    if start < len(links) and links[start] >= 0:
        first = links[start]
    else:
        for place in range(start - 1, -1, -1):
            if links[place] >= 0:
                first = links[place] + 1
                break
    for place in range(stop, len(links)):
        if links[place] >= 0:
            last = links[place]
            break
    return first, max(first, last)
