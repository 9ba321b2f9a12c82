"""Critical differences: which clinically loaded things changed between what was said and what was recognised.

Two readings are compared by what they hold, not by their wording: a concept that is nowhere in the hypothesis is
lost, one that is nowhere in the reference is added, one that is in both may have been affirmed here and denied
there. What was lost with no list to name it counts as content.
"""

from __future__ import annotations

from typing import NamedTuple

from medjury.texts.metrics._differences.reading import Concept, Question, Reading

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
    "loaded_lost",
    "loaded_added",
    "echo_lost",
    "qualifier_changed",
    "content_changed",
    "polarity_reversed",
    "negation_changed",
    "answer_lost",
    "acknowledgement_lost",
    "everything_lost",
    "share_lost",
)
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
    row = list(range(m + 1))
    for i, letter in enumerate(word, start=1):
        corner, row[0] = row[0], i
        for j, against in enumerate(other, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (letter != against))
    return row[m] <= allowed
