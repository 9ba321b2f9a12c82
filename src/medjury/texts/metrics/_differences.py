"""Critical differences: which clinically loaded things changed between what was said and what was recognised.

Two readings are compared by what they hold, not by their wording: a concept that is nowhere in the hypothesis is
lost, one that is nowhere in the reference is added, one that is in both may have been affirmed here and denied
there. What was lost with no list to name it counts as content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from medjury.texts.metrics._counts import count, links
from medjury.texts.metrics._lexical import chrf
from medjury.texts.metrics._lexicons import Lexicons, lexicons
from medjury.texts.metrics._reading import (
    UNKNOWN,
    Concept,
    Question,
    Reading,
    origins_of,
    read,
    read_question,
)

# What a clinician acts on; the other categories (how bad, how often, when) qualify it.
LOADED = frozenset(
    {
        "drug",
        "symptom",
        "condition",
        "anatomy",
        "laterality",
        "dose",
        "number",
        "family",
        "history",
        "exposure",
    }
)
# What a patient has or has not: here "no" in front turns the meaning round.
DENIABLE = frozenset({"drug", "symptom", "condition", "anatomy", "family", "exposure", "history"})
# Named in answer to a question about the record, these are taken seriously all the same.
HEALTH = frozenset({"drug", "symptom", "condition"})
FEATURES = (
    "loaded_lost", "loaded_added", "echo_lost", "qualifier_changed", "content_changed", "polarity_reversed",
    "negation_changed", "answer_lost", "acknowledgement_lost", "everything_lost", "share_lost",
)  # fmt: skip
# More of the same does not make it worse.
CEILING = 3.0
# In very long turns words are not looked for inside other words, nor for others that are nearly the same.
LONGEST_JOINED, MOST_NEAR = 2000, 10_000

Span = tuple[int, int]


class Difference(NamedTuple):
    """One thing that changed.

    `kind` is lost, added, affirmed (it was denied), denied (it was affirmed), negation, answer or
    acknowledgement; `said` and `heard` are spans of canonical words in the two readings, -1 where there is
    none; `denied_from` is the place of the negation over it in its own reading.
    """

    kind: str
    category: str
    said: Span
    heard: Span
    denied: bool
    denied_from: int
    loaded: bool


class Comparison(NamedTuple):
    """What changed, and the same as numbers for the model, in the order of FEATURES."""

    differences: list[Difference]
    features: list[float]


NOWHERE = (-1, -1)
NOTHING = Comparison([], [0.0] * len(FEATURES))


def compare(said: Reading, heard: Reading, question: Question) -> Comparison:
    """Compare two readings of one turn, in the light of what it answers."""
    if said.words == heard.words or (question.administrative and not _about_health(said, heard)):
        return NOTHING
    found: list[Difference] = []
    loaded_lost = loaded_added = echo_lost = qualifier_changed = reversed_polarity = 0
    said_set, heard_set = set(said.words), set(heard.words)
    both_no = said.answer == "no" == heard.answer
    lost_weight = 0.0
    whole_weight = float(len(said.content) + bool(said.answer))
    for phrase, concept in said.concepts.items():
        loaded = _loaded(concept)
        whole_weight += 1 + loaded
        other = heard.concepts.get(phrase)
        if other is not None:
            if concept.category in DENIABLE:
                if concept.denied and other.affirmed:
                    reversed_polarity += 1
                    found.append(_difference("affirmed", concept, other))
                elif concept.affirmed and other.denied:
                    reversed_polarity += 1
                    found.append(_difference("denied", concept, other))
            continue
        if heard_set.issuperset(phrase) or _variant(phrase, heard_set):
            continue
        found.append(_difference("lost", concept, None))
        if both_no and question.words.issuperset(phrase):
            echo_lost += 1
            lost_weight += 0.5
        elif loaded:
            loaded_lost += 1
            lost_weight += 2
        else:
            qualifier_changed += 1
            lost_weight += 1
    for phrase, concept in heard.concepts.items():
        if phrase in said.concepts or said_set.issuperset(phrase) or _variant(phrase, said_set):
            continue
        loaded = _loaded(concept)
        found.append(_difference("added", None, concept))
        loaded_added += loaded
        qualifier_changed += not loaded
    lost = _unmatched(said.content, heard_set, heard.surface)
    added = _unmatched(heard.content, said_set, said.surface)
    if lost and added and len(lost) * len(added) <= MOST_NEAR:
        lost = [word for word in lost if not any(_near(word, other) for other in added)]
    lost_weight += len(lost)
    found += [_content("lost", said.content[word]) for word in lost]
    found += [_content("added", heard.content[word]) for word in added]
    negation_changed = said.denials != heard.denials and bool(heard.words) and not both_no
    if negation_changed and not reversed_polarity:
        found.append(Difference("negation", "", NOWHERE, NOWHERE, said.denials > heard.denials, -1, True))
    if (
        said.answer
        and heard.answer
        and said.answer != heard.answer
        and not (said.courtesy and heard.courtesy)
    ):
        reversed_polarity += 1
        found.append(Difference("answer", "", NOWHERE, NOWHERE, False, -1, True))
    answer_lost = acknowledgement_lost = everything_lost = False
    if not heard.words:
        everything_lost = not said.courtesy
        answer_lost = said.answer == "no" or (
            bool(said.answer) and question.clinical and not question.closing
        )
        acknowledgement_lost = not answer_lost and said.courtesy and bool(said.answer)
    elif said.answer and not heard.answer and not said.courtesy and question.clinical:
        answer_lost = True
    if answer_lost or acknowledgement_lost:
        kind = "answer" if answer_lost else "acknowledgement"
        found.append(Difference(kind, "", NOWHERE, NOWHERE, False, -1, answer_lost))
    share = min(1.0, (lost_weight + answer_lost) / whole_weight) if whole_weight else 0.0
    numbers = (
        loaded_lost, loaded_added, echo_lost, qualifier_changed, max(len(lost), len(added)), reversed_polarity,
        negation_changed, answer_lost, acknowledgement_lost, everything_lost,
    )  # fmt: skip
    return Comparison(found, [min(float(number), CEILING) for number in numbers] + [share])


def _about_health(*readings: Reading) -> bool:
    """Whether a drug, symptom or condition is named, whatever was asked."""
    return any(concept.category in HEALTH for reading in readings for concept in reading.concepts.values())


def _loaded(concept: Concept) -> bool:
    return concept.category in LOADED or (concept.category == "time" and len(concept.words) > 1)


def _difference(kind: str, said: Concept | None, heard: Concept | None) -> Difference:
    concept = said or heard
    assert concept is not None
    return Difference(
        kind,
        concept.category,
        (said.start, said.stop) if said else NOWHERE,
        (heard.start, heard.stop) if heard else NOWHERE,
        concept.denied,
        concept.negation if concept.denied else -1,
        _loaded(concept),
    )


def _content(kind: str, place: int) -> Difference:
    said, heard = ((place, place + 1), NOWHERE) if kind == "lost" else (NOWHERE, (place, place + 1))
    return Difference(kind, "content", said, heard, False, -1, False)


def _variant(phrase: tuple[str, ...], words: set[str]) -> bool:
    """Whether another form of a single word is there that its stem does not show ("diagnoses", "diagnosis")."""
    if len(phrase) > 1 or len(phrase[0]) < 5:
        return False
    word = phrase[0]
    return any(
        len(other) > 4
        and abs(len(other) - len(word)) <= 2
        and (other.startswith(word) or word.startswith(other))
        for other in words
    )


def _unmatched(content: dict[str, int], words: set[str], surface: list[str]) -> list[str]:
    """Content words that the other side does not have, not even written together or apart."""
    missing = [word for word in content if word not in words]
    if not missing or len(surface) > LONGEST_JOINED:
        return missing
    joined = "".join(surface)
    return [word for word in missing if len(word) < 4 or word not in joined]


def _near(word: str, other: str) -> bool:
    """Whether two words differ in at most a third of their letters: a name spelled otherwise."""
    n, m = len(word), len(other)
    allowed = max(n, m) // 3
    if abs(n - m) > min(allowed, 2):
        return False
    return Levenshtein.distance(word, other) <= allowed


# A difference in words: "'not throat' became 'not so': denial of a part of the body lost".


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
# Of a very long turn only so many differences are worded.
MOST_WORDED = 200
# Of a long stretch only the beginning and the end are quoted.
MOST_QUOTED = 12
# A negation this near to what it denies is quoted with it.
QUOTED_WITH = 3


def located(
    said: Reading, heard: Reading, differences: Sequence[Difference], lists: Lexicons
) -> list[Difference]:
    """The same differences by the words as spoken: what was there (`said`) and what is in its place (`heard`)."""
    if not differences:
        return []
    said_from, heard_from = origins_of(said, lists), origins_of(heard, lists)
    matched = links(said.words, heard.words)
    before, after = _neighbours(matched, len(heard.words))
    changes = []
    for each in differences:
        (start, stop), place, denied = each.said, each.heard, each.denied
        if each.kind == "lost":
            denied = denied and each.category in DENIABLE
            if denied and start - each.denied_from <= QUOTED_WITH:
                start = each.denied_from
            first = matched[start] if matched[start] >= 0 else before[start]
            place = first, max(first, after[stop])
        changes.append(
            each._replace(
                said=_spoken(said_from, start, stop), heard=_spoken(heard_from, *place), denied=denied
            )
        )
    return changes


def reasons_for(changes: Sequence[Difference], one: Reading, other: Reading) -> tuple[str, ...]:
    """One sentence for each change, the gravest first."""
    if not changes:
        return ()
    said, heard = one.surface, other.surface
    if len(changes) > 1:
        changes = sorted(changes, key=_gravity)
    reasons: dict[str, None] = {} if heard else {"nothing was recognised": None}
    covered: set[int] = set()
    for each in changes[:MOST_WORDED]:
        kind = each.kind
        if kind == "lost":
            first, last = each.heard
            changed = any(
                new.kind == "added" and new.category == each.category and first <= new.heard[0] < last
                for new in changes[:MOST_WORDED]
            )
            became = f"became '{_quoted(heard, each.heard)}'" if last > first else "was not recognised"
            what = LABELS[each.category]
            what = _denial(what) if each.denied else what
            covered.update(range(first, last))
            reason = f"'{_quoted(said, each.said)}' {became}: {what} {'changed' if changed else 'lost'}"
        elif kind == "added":
            if covered.issuperset(range(*each.heard)):
                continue
            reason = f"'{_quoted(heard, each.heard)}' was added: {LABELS[each.category]} that was not said"
        elif kind == "affirmed":
            words, what = _quoted(said, each.said), LABELS[each.category]
            reason = f"'{words}' was denied and now reads as affirmed: {_denial(what)} lost"
        elif kind == "denied":
            words, what = _quoted(said, each.said), LABELS[each.category]
            reason = f"'{words}' was affirmed and now reads as denied: {what} reversed"
        elif kind == "negation":
            reason = "a negation was lost" if each.denied else "a negation was added"
        elif kind == "answer":
            change = f"became '{other.answer}'" if other.answer else "was lost"
            reason = f"the answer '{one.answer}' {change}"
        else:
            reason = "an acknowledgement was lost"
        reasons[reason] = None
    kept = tuple(reasons)
    more = len(kept) - MOST_REASONS + max(0, len(changes) - MOST_WORDED)
    return kept if more <= 0 else (*kept[:MOST_REASONS], f"and {more} more")


def _denial(what: str) -> str:
    return f"denial of {'an' if what[0] in 'aeiou' else 'a'} {what}"


def _gravity(change: Difference) -> tuple[bool, bool]:
    return not change.loaded, change.category == "content"


def _quoted(words: list[str], span: Span) -> str:
    start, stop = span
    if stop - start <= MOST_QUOTED:
        return " ".join(words[start:stop])
    return " ".join([*words[start : start + MOST_QUOTED // 2], "…", *words[stop - MOST_QUOTED // 2 : stop]])


def _spoken(origins: list[int], start: int, stop: int) -> Span:
    """The span of spoken words behind canonical words `start` to `stop`."""
    return (origins[start], origins[stop - 1] + 1) if stop > start else NOWHERE


def _neighbours(links: Sequence[int], length: int) -> tuple[list[int], list[int]]:
    """For every place of the reference: the hypothesis word after the nearest match to its left, and the nearest
    match from it to the right."""
    before, after = [0], [length]
    for link in links:
        before.append(link + 1 if link >= 0 else before[-1])
    for link in reversed(links):
        after.append(link if link >= 0 else after[-1])
    return before, after[::-1]


Floats = NDArray[np.float64]


def compare_pairs(
    said: Sequence[str], heard: Sequence[str], asked: Sequence[str | None]
) -> tuple[Floats, list[tuple[str, ...]]]:
    """Compare every pair, in the light of what it answers: the features of the model, FEATURES and the share of
    characters lost (1 − chrF) where anything changed; and the changes in words."""
    lists = lexicons()
    features: list[list[float]] = []
    reasons: list[tuple[str, ...]] = []
    letters: list[tuple[str, str]] = []
    changed: list[bool] = []
    for first, second, question in zip(said, heard, asked, strict=True):
        one, other = read(first, lists), read(second, lists)
        found = compare(one, other, read_question(question, lists) if question else UNKNOWN)
        changes = located(one, other, found.differences, lists)
        features.append(found.features)
        reasons.append(reasons_for(changes, one, other))
        changed.append(bool(changes))
        letters.append(("".join(one.words), "".join(other.words)) if changes else ("", ""))
    counts = count([one for one, _ in letters], [other for _, other in letters], ["chrf"])
    lost = np.where(changed, 1.0 - chrf(0)(counts), 0.0)
    return np.column_stack([np.array(features).reshape(-1, len(FEATURES)), lost]), reasons
