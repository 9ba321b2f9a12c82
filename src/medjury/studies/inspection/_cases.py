"""Which column of a table is which field of a case: the answer that is judged, its reference, notes, texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from medjury.intake import in_cell, is_blank, shown_of
from medjury.intake.cases import look_like_messages
from medjury.studies.inspection._column_names import item_column, words_of

if TYPE_CHECKING:
    from medjury.studies.inspection._seen import Seen

_TEXT = 25  # characters: a longer cell, on average, is a text
_NAMES = {
    "candidate": re.compile(
        r"(?:candidate|output|answer|response|prediction|completion|draft|hypothesis|reply|generation)s?(?: text)?|"
        r"(?:ai|llm|model|system|generated|machine|bot|chatbot|assistant|predicted|gpt|candidate)[ \w]* "
        r"(?:summary|answer|response|output|text|note|draft|reply|letter|report|completion)|"
        r"(?:generated|predicted) \w+|(?:ai|llm|model) ?(?:summary|answer|response|output)|summary"
    ),
    "reference": re.compile(
        r"(?:reference|gold|golden|gold standard|ground truth|expected|ideal|target|truth)(?: \w+)?|"
        r"(?:human|clinician|physician|doctor|correct|expert|reference) (?:summary|answer|response|note|text)"
    ),
    "notes": re.compile(
        r"(?:source |clinical |input |medical |progress |discharge )?(?:notes?|document|record|chart|transcript|"
        r"dialogue|conversation|source|note text|source text|encounter note)"
    ),
}
_FACTS = re.compile(r"specialty|speciality|age|sex|gender|site|department|language|setting|difficulty")


def case_proposal(seen: Seen, *, is_rated: bool) -> dict[str, Any]:
    """A mapping of cases: what has no text that could be judged lacks `candidate`. Beside grades a column called
    `answer` or `summary` may be one of them, so that its cells must be texts."""
    columns = {
        name or f"Unnamed: {at}": [
            text for row in seen.rows if not isinstance(row[at], dict | list) and (text := shown_of(row[at]))
        ]
        for at, name in enumerate(seen.header)
        if name or at == 0
    }
    texts = {
        name
        for name, cells in columns.items()
        if cells
        and sum(map(len, cells)) > _TEXT * len(cells)
        and 2 * sum(" " in cell for cell in cells) > len(cells)
    }
    found: dict[str, Any] = {}
    talks = [name for name in seen.header if name and _are_messages(seen.cells(name))]
    if talks:
        found["messages"] = talks[0]
        columns = {name: cells for name, cells in columns.items() if name not in talks}
        texts -= set(talks)
    if (
        item := item_column({name: cells for name, cells in columns.items() if name not in texts})
    ) is not None:
        found["id"] = item
    free = [name for name in columns if name != item]
    for field, pattern in _NAMES.items():
        fits = [
            name
            for name in free
            if pattern.fullmatch(words_of(name)) and (_holds_words(columns[name]) or not is_rated)
        ]
        exact = [name for name in fits if name.casefold() == field]
        named = (exact or fits)[:1] if field != "notes" else fits
        if named:
            found[field] = named[0] if len(named) == 1 else named
            free = [name for name in free if name not in named]
    for field in ("system", "vendor", "patient"):
        if (
            name := next((name for name in free if words_of(name) in (field, f"{field} id")), None)
        ) is not None:
            found[field] = name
            free.remove(name)
    if more := [name for name in free if name in texts]:
        found["texts"] = {words_of(name).replace(" ", "_") or name: name for name in more}
    if facts := [name for name in free if _FACTS.fullmatch(words_of(name))]:
        found["metadata"] = {words_of(name).replace(" ", "_"): name for name in facts}
    return found


def _are_messages(cells: list[Any]) -> bool:
    """True for a column of conversations: a list of messages in every cell that is filled, or its JSON."""
    filled = [in_cell(cell) if isinstance(cell, str) else cell for cell in cells if not is_blank(cell)]
    return bool(filled) and all(map(look_like_messages, filled))


def _holds_words(cells: list[str]) -> bool:
    """True for texts, however short: not for numbers, and not for a word or two that come again and again."""
    words = [cell for cell in cells if " " in cell or len(cell) > 12]
    return 2 * len(words) > len(cells) and (len(set(cells)) > 7 or 2 * len(set(cells)) > len(cells))
