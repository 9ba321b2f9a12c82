"""What trivial answers score, and on which items they are right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites._baselines._trivial import SAYS_NOTHING, trivial_answers
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._mark import Mark
from medjury.suites._marking import JURY, counts_of, mark_all, micro_f1


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


def without_items(loaded: Loaded, left_out: Collection[str], reason: str) -> Loaded:
    """What is left of a benchmark without these items, with their number under the reason."""
    gone = set(left_out)
    items: Sequence[Item] = tuple(item for item in loaded.items if item.id not in gone)
    count = len(loaded.items) - len(items)
    counts = {**loaded.left_out, **({reason: count} if count else {})}
    return Loaded(tuple(items), counts, loaded.problems, loaded.database)
