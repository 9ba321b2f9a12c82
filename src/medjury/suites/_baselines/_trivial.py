"""Answers that need no model: nothing, the input itself, always the same, whatever is most often right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._marking import ABSTAINED, gold_codes

EMPTY, COPY, MAJORITY = "empty", "copy of the input", "majority"
NO_CODES = "no codes"
# Queries that find nothing, as right ones do on a database that holds nothing.
QUERIES = {
    "query that returns nothing": "SELECT NULL WHERE 0",
    "SELECT NULL": "SELECT NULL",
    "SELECT 0": "SELECT 0",
}
# What says nothing about the question. An item on which one of these is right cannot tell right from wrong; one on
# which "always A" is right can, for it is right there by luck that the other items even out.
SAYS_NOTHING = frozenset({EMPTY, COPY, NO_CODES, *QUERIES})


def trivial_answers(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, dict[str, str]]:
    """Every baseline by its name, with its answer to every item."""
    constant = _constant(benchmark, items)
    answers = {name: {item.id: answer for item in items} for name, answer in constant.items()}
    copied = {item.id: "\n\n".join(item.inputs.values()) for item in items}
    return {EMPTY: {item.id: "" for item in items}, COPY: copied, **answers}


def _constant(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, str]:
    """The baselines that give one answer to every item, by the metric that ranks."""
    metric = benchmark.metrics[0] if benchmark.metrics else ""
    labels = [str(each) for each in benchmark.options.get("labels", ())]
    if metric == "sql_execution":
        return {**QUERIES, "always null": ABSTAINED}
    if metric == "code_f1":
        return {NO_CODES: "none", **_frequent_codes(items)}
    if metric == "yes_no_maybe":
        return {**_always(["yes", "no", "maybe"]), **_majority(items)}
    if metric in ("error_flag", "error_sentence"):
        return {"always CORRECT": "CORRECT", **_frequent_sentence(items)}
    if metric == "exact_match":
        keys = list(dict.fromkeys(key for item in items for key in item.choices)) or labels
        return {**_always(keys), **_majority(items)}
    if metric == "medcalc":
        return {**_always(["0"]), **_majority(items)}
    return {}


def _always(answers: Sequence[str]) -> dict[str, str]:
    return {f"always {each}": each for each in answers}


def _majority(items: Sequence[Item]) -> dict[str, str]:
    """The gold answer that is right most often; of several the first in the alphabet."""
    counts = Counter(item.gold[0] for item in items if item.gold)
    return {MAJORITY: min(counts, key=lambda each: (-counts[each], each))} if counts else {}


def _frequent_sentence(items: Sequence[Item]) -> dict[str, str]:
    """That there is an error, in the sentence in which it lies most often."""
    places: Mapping[int, int] = Counter(
        int(item.facts["error_sentence"]) for item in items if item.facts.get("error")
    )
    if not places:
        return {}
    number = min(places, key=lambda each: (-places[each], each))
    return {f"always sentence {number}": f"{number} This sentence is wrong."}


def _frequent_codes(items: Sequence[Item]) -> dict[str, str]:
    """The most frequent codes, as many as an item has in the mean; and the one set that occurs most often."""
    sets = [gold_codes(item) for item in items]
    filled = [codes for codes in sets if codes]
    if not filled:
        return {}
    single = Counter(code for codes in filled for code in codes)
    many = max(1, round(sum(map(len, filled)) / len(filled)))
    frequent = sorted(single, key=lambda code: (-single[code], code))[:many]
    whole = Counter(tuple(sorted(codes)) for codes in filled)
    common = min(whole, key=lambda codes: (-whole[codes], codes))
    return {"most frequent codes": ", ".join(frequent), MAJORITY: ", ".join(common)}
