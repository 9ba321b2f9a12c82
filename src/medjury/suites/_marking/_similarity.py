"""How near an answer's words are to the gold answer: ROUGE-L, BERTScore and sentence embeddings.

They stand beside a jury's score and say nothing of whether an answer is right. Texts are compared in small letters,
words alone; where an item has several gold answers the nearest counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._exact_match import NO_GOLD
from medjury.suites._marking._reading import Reading, said
from medjury.texts.metrics import score

SIMILARITIES = {"rouge_l": "rouge_l", "bertscore": "bert_score", "embedding": "sbert"}


def similarities(
    benchmark: Benchmark, items: Sequence[Item], answers: Sequence[str], metric: str
) -> list[Mark]:
    """The similarity of each answer to its item's gold answer. A model of words is loaded once for all of them;
    without the extra that it needs the error says what to install.

    `options: {models: {bertscore: FOLDER}}` of a benchmark names another model than the usual one.
    """
    name = SIMILARITIES[metric]
    given = {SIMILARITIES.get(key, key): model for key, model in benchmark.options.get("models", {}).items()}
    marks: list[Mark | None] = [_unread(item, answer) for item, answer in zip(items, answers, strict=True)]
    pairs = [(place, gold) for place, mark in enumerate(marks) if mark is None for gold in items[place].gold]
    if not pairs:
        return [mark or NO_GOLD for mark in marks]
    found = score(
        [_words(gold) for _, gold in pairs],
        [_words(str(said(answers[place]))) for place, _ in pairs],
        [name],
        models={name: given[name]} if name in given else None,
    )
    best: dict[int, float] = {}
    for (place, _), value in zip(pairs, found.column(name), strict=True):
        if value is not None:
            best[place] = max(best.get(place, 0.0), min(1.0, max(0.0, value)))
    return [mark or _mark(best.get(place)) for place, mark in enumerate(marks)]


def _mark(value: float | None) -> Mark:
    return Mark(None, Reason.INPUT, note="the gold answer has no words") if value is None else Mark(value)


def _unread(item: Item, answer: str) -> Mark | None:
    if not item.gold:
        return NO_GOLD
    text = said(answer)
    return Mark(None, text.reason, note=text.note) if isinstance(text, Reading) else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
