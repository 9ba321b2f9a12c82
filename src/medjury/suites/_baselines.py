"""Trivial answers: what they score, where they are right, and whether a model is better than the best of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.statistics import (
    Estimate,
    Floats,
    Read,
    bootstrap,
    counted,
    paired_rate_difference,
    shown,
    undefined,
)
from medjury.suites._benchmark import Benchmark, Item, Loaded, Mark
from medjury.suites._marking._codes import counts_of, gold_codes, micro_f1
from medjury.suites._marking._metrics import JURY, mark_all
from medjury.suites._marking._sql import ABSTAINED

# Answers that need no model: nothing, the input itself, always the same, whatever is most often right.

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


# What trivial answers score, and on which items they are right.


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """One baseline: its mean score, with what could not be read counted as not right, and its mark of every item.
    Items that cannot be marked at all (their own gold answer is at fault) are not in `marks`."""

    name: str
    score: float
    marks: Mapping[str, Mark]
    says_nothing: bool

    @property
    def right(self) -> tuple[str, ...]:
        """The items on which it is wholly right."""
        return tuple(item for item, mark in self.marks.items() if mark.score == 1)


def baseline_scores(
    benchmark: Benchmark, loaded: Loaded, metric: str | None = None
) -> tuple[BaselineScore, ...]:
    """Every baseline with its score by the metric that ranks, or the one that is named; the best first. A jury's
    score cannot be had without judges: there the baselines are empty of marks, and none is returned."""
    metric = metric or next((each for each in benchmark.metrics if each != JURY), "")
    if not metric or not loaded.items:
        return ()
    answers = trivial_answers(benchmark, loaded.items)
    asked = [(name, item) for name in answers for item in loaded.items]
    said = [answers[name][item.id] for name, item in asked]
    marks = mark_all(benchmark, [item for _, item in asked], said, metric, database=loaded.database)
    by_name: dict[str, dict[str, Mark]] = {name: {} for name in answers}
    at_fault: set[str] = set()
    for (name, item), mark in zip(asked, marks, strict=True):
        by_name[name][item.id] = mark
        at_fault |= {item.id} if mark.reason is Reason.INPUT else set()
    found = []
    for name, all_marks in by_name.items():
        kept = {item: mark for item, mark in all_marks.items() if item not in at_fault}
        found.append(BaselineScore(name, mean_score(kept.values()), kept, name in SAYS_NOTHING))
    return tuple(sorted(found, key=lambda each: -each.score))


def mean_score(marks: Collection[Mark]) -> float:
    """The mean over items, what could not be read counted as 0; for code sets the micro-average of their counts."""
    counts = [counts_of(mark) for mark in marks]
    if counts and all(each is not None for each in counts):
        return micro_f1([each for each in counts if each is not None])
    return sum(mark.score or 0.0 for mark in marks) / len(marks) if marks else 0.0


def decided_without_reading(
    benchmark: Benchmark, loaded: Loaded, baselines: Collection[str] | None = None
) -> tuple[str, ...]:
    """The items on which a baseline is right that says nothing about the question, in their order; or on which one
    of the named `baselines` is."""
    found = baseline_scores(benchmark, loaded)
    known = {each.name for each in found}
    if baselines is not None and (unknown := set(baselines) - known):
        raise MedjuryError(f"there is no baseline {sorted(unknown)[0]!r}; known: {', '.join(sorted(known))}")
    wanted = [each for each in found if (each.says_nothing if baselines is None else each.name in baselines)]
    right = {item for each in wanted for item in each.right}
    return tuple(item.id for item in loaded.items if item.id in right)


Verdict = Literal["beats it", "does not beat it", "cannot be told"]


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """How much better a model is than the best baseline. The best is chosen by its score on the same items, which
    makes it look a little better than it is: the comparison is harder for the model, never easier."""

    baseline: str
    baseline_score: float
    difference: Estimate  # the model's score less the baseline's
    items: int

    @property
    def verdict(self) -> Verdict:
        return beats(self.difference)

    def text(self) -> str:
        """One sentence for the page."""
        return (
            f"{self.verdict}: the trivial answer {self.baseline!r} scores {shown(self.baseline_score)}, "
            f"difference {shown(self.difference)} on {self.items} items"
        )


def beats_baseline(
    marks: Mapping[str, Mark],
    baselines: Sequence[BaselineScore],
    items: Sequence[Item],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> AgainstBaseline | None:
    """A model's marks against the best baseline, on the items that both have; none where there is no baseline.

    What could not be read counts as not right on both sides. Patients are resampled whole where items have them,
    else items. Marks of 0 and 1 have an exact interval, others (F1, ROUGE) that of the bootstrap; code sets are
    compared by their micro-averaged F1.
    """
    if not baselines:
        return None
    best = max(baselines, key=lambda each: each.score)
    shared = [item for item in items if item.id in marks and item.id in best.marks]
    if not shared:
        return AgainstBaseline(best.name, best.score, undefined("no item has both marks", 0, "paired"), 0)
    clusters = [item.patient or item.id for item in shared]
    ours, theirs = (
        np.array([_scored(side[item.id]) for item in shared], dtype=np.float64)
        for side in (marks, best.marks)
    )
    difference = above_baseline(ours, theirs, clusters, confidence=confidence, resamples=resamples, seed=seed)
    return AgainstBaseline(best.name, best.score, difference, len(shared))


def above_baseline(
    ours: Floats,
    theirs: Floats,
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """How much higher the mean of our scores is than that of a trivial answer to the same items; each side has the
    columns score and weight. Scores of 0 and 1 have an exact interval, others that of the bootstrap."""
    both = np.hstack([ours, theirs])
    if right_or_wrong(both):
        return paired_rate_difference(theirs[:, 0], ours[:, 0], clusters, confidence=confidence)
    made = bootstrap(
        both, _difference, clusters=clusters, confidence=confidence, resamples=resamples, seed=seed
    )
    return made["difference"]


def right_or_wrong(rows: Floats) -> bool:
    """Whether the scores in the even columns are 0 or 1, and the weights beside them all 1."""
    return bool(np.isin(rows[:, ::2], (0.0, 1.0)).all() and (rows[:, 1::2] == 1.0).all())


def beats(difference: Estimate) -> Verdict:
    """Beaten where the whole interval lies above 0; not beaten where the difference itself does not."""
    if difference.value is None:
        return "cannot be told"
    if difference.value <= 0:
        return "does not beat it"
    return "beats it" if difference.low is not None and difference.low > 0 else "cannot be told"


def _scored(mark: Mark) -> tuple[float, float]:
    """Score and weight. A micro-averaged F1 is the mean of the items' F1, each weighing as many codes as it is
    about; where an item is about none, and none is said, nothing is wrong, which weighs nothing."""
    counts = counts_of(mark)
    weight = 1.0 if counts is None else float(2 * counts.true + counts.false + counts.missed)
    return mark.score or 0.0, weight


def _difference(rows: Floats) -> Read:
    return lambda drawn: {"difference": _mean(rows[:, :2], drawn) - _mean(rows[:, 2:], drawn)}


def _mean(rows: Floats, drawn: Floats) -> Floats:
    total = drawn @ rows[:, 1]
    return np.where(total > 0, drawn @ (rows[:, 0] * rows[:, 1]) / np.where(total > 0, total, 1.0), 1.0)


# Gold answers that cannot be reached from the input: what leaving them out does to scores and ranks.
#
# Which they are a judge says, with the instrument `answerable`: 1 or 0 for an item, nothing where it could not say.


@dataclass(frozen=True, slots=True)
class CandidateEffect:
    """One candidate's mean score and rank over all items, and over those that can be answered."""

    candidate: str
    score: float
    score_in_reach: float
    score_out_of_reach: float | None  # on the items that cannot be answered
    rank: int
    rank_in_reach: int


@dataclass(frozen=True, slots=True)
class UnanswerableEffect:
    """What changes without the items whose gold answer a judge finds out of reach."""

    candidates: tuple[CandidateEffect, ...]
    items: int
    left_out: int
    not_judged: int  # kept: nobody said that they cannot be answered

    @property
    def moved(self) -> tuple[str, ...]:
        """The candidates whose rank changes."""
        return tuple(each.candidate for each in self.candidates if each.rank != each.rank_in_reach)

    def text(self) -> str:
        """One sentence for the page."""
        of_all = f"{self.left_out} of {counted(self.items, 'item')}"
        said = f"{of_all} cannot be answered from their input according to the judge"
        judged = f" ({self.not_judged} not judged)" if self.not_judged else ""
        ranks = f"the ranks of {', '.join(self.moved)} change" if self.moved else "no rank changes"
        return f"{said}{judged}; without them {ranks}"


def effect_of_unanswerable(
    scores: Mapping[str, Mapping[str, float]],
    answerable: Mapping[str, float | None],
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> UnanswerableEffect:
    """Scores are candidate -> item -> score from 0 to 1, `weights` those of a micro average. Only items that every
    candidate has are compared; equal means share the better rank."""
    if not scores:
        raise MedjuryError("no candidate has scores to compare")
    shared = set.intersection(*(set(each) for each in scores.values()))
    gone = {item for item in shared if answerable.get(item) == 0}
    kept = shared - gone
    if not kept:
        raise MedjuryError("no item is left that every candidate has and that can be answered")
    weighing = weights or {}
    means = {name: _mean_of(each, shared, weighing.get(name)) for name, each in scores.items()}
    kept_means = {name: _mean_of(each, kept, weighing.get(name)) for name, each in scores.items()}
    candidates = tuple(
        CandidateEffect(
            name,
            means[name],
            kept_means[name],
            _mean_of(scores[name], gone, weighing.get(name)) if gone else None,
            _rank(means, name),
            _rank(kept_means, name),
        )
        for name in sorted(scores, key=lambda each: (-means[each], each))
    )
    unknown = sum(answerable.get(item) is None for item in shared)
    return UnanswerableEffect(candidates, len(shared), len(gone), unknown)


def _mean_of(scores: Mapping[str, float], items: set[str], weights: Mapping[str, float] | None) -> float:
    own = {item: 1.0 if weights is None else weights[item] for item in sorted(items)}
    return sum(scores[item] * weight for item, weight in own.items()) / sum(own.values())


def _rank(means: Mapping[str, float], name: str) -> int:
    return 1 + sum(value > means[name] + 1e-12 for value in means.values())
