"""Does a review that looks where it hurts still tell the truth, and what does it save? `python -m benchmarks
review` simulates reviews (`STUDIES` of each kind, 1000 unless that variable says otherwise) and writes the tables
of docs/reviewing-where-it-hurts.md.

Reviews of the same 2,000 answers: 300 ratings drawn by stated probabilities, the same ones with the probabilities
forgotten, and 300 at random. An interval holds the truth in 95 ± 2 % of reviews, and the first needs at least 30 %
fewer ratings than a random review for intervals of the same mean width (which go with 1/√n). A random review is
that of today, by the clinicians' labels alone; one that has the jury's help as a queue has is given beside it, and
what the best queue could save.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _real_judges
from benchmarks._best_queue import Limit, limits
from benchmarks._hidden_errors import SETTINGS, coverage
from benchmarks._reviews import STATISTICS, Floats, World, found, make_world, review, truths

# Not among the benchmarks that run where none is named.
ON_REQUEST = True
PAGE = Path(__file__).parents[1] / "docs" / "reviewing-where-it-hurts.md"
BEGIN, END = "<!-- simulation begins -->", "<!-- simulation ends -->"
STUDIES = int(os.environ.get("STUDIES", "1000"))
# Other seeds than those by which the intervals were chosen: whoever chooses again, takes fresh ones again.
FIRST_SEED = int(os.environ.get("REVIEW_SEED", "5000000"))
WORKERS = int(os.environ.get("REVIEW_WORKERS", "1"))
ANSWERS, RATINGS = 2000, 300
REVIEWS = ("queue", "queue, unweighted", "random")
LOWEST, HIGHEST, FEWER = 0.93, 0.97, 0.30
# Each aim, and its name where clinicians' labels alone count.
AIMS = {"kappa": "kappa, labels alone", "mean": "mean, labels alone", "severe errors": "severe errors"}
Table = Mapping[tuple[str, str], Mapping[str, float]]


@dataclass(frozen=True)
class Source:
    """Where answers come from: so many of them for a review, all of them for the truth, and whether 30 % is
    promised there."""

    answers: Callable[[int, int], World]
    everything: Callable[[], World]
    promised: bool = False


def _simulated(answers: int, seed: int, alike: bool) -> World:
    return make_world(answers // 2, 1000 + seed, alike=alike)


def _real(answers: int, seed: int, attribute: str) -> World:
    return _real_judges.some(answers // 10, seed, attribute)


DIFFER, ALIKE = "judges differ where they err", "judges err alike"
SOURCES = {
    DIFFER: Source(partial(_simulated, alike=False), partial(make_world, 1_000_000, 1, alike=False), True),
    ALIKE: Source(partial(_simulated, alike=True), partial(make_world, 1_000_000, 1, alike=True)),
} | {
    f"real answers, {each.lower()}": Source(
        partial(_real, attribute=each), partial(_real_judges.everything, each)
    )
    for each in _real_judges.ATTRIBUTES
}


@cache
def truths_of(title: str) -> Mapping[str, float]:
    return truths(SOURCES[title].everything())


def study(seed: int, title: str, answers: int = ANSWERS, ratings: int = RATINGS) -> Floats:
    """One review of each kind: value, low and high end by review and statistic."""
    world = SOURCES[title].answers(answers, seed)
    queue, random = (review(world, ratings, seed, random=each) for each in (False, True))
    made = (
        found(world, queue, seed),
        found(world, queue, seed, weighted=False),
        found(world, random, seed),
    )
    ends = [[(each[name].value, each[name].low, each[name].high) for name in STATISTICS] for each in made]
    return np.array(ends, dtype=np.float64)


def simulate(
    studies: int, title: str, *, workers: int = 1, first_seed: int = FIRST_SEED, **size: int
) -> Floats:
    """Studies by review by statistic by (value, low, high); NaN where there is none."""
    one: Callable[[int], Floats] = partial(study, title=title, **size)
    seeds = range(first_seed, first_seed + studies)
    if workers == 1:
        return np.stack([one(seed) for seed in seeds])
    with ProcessPoolExecutor(workers) as pool:
        return np.stack(list(pool.map(one, seeds, chunksize=10)))


def summary(made: Floats, truth: Mapping[str, float]) -> dict[tuple[str, str], dict[str, float]]:
    """By review and statistic: bias, coverage among reviews that give an interval, how many do, mean width."""
    table = {}
    for row, kind in enumerate(REVIEWS):
        for column, name in enumerate(STATISTICS):
            value, low, high = made[:, row, column].T
            known = ~np.isnan(low) & ~np.isnan(high)
            held = (low[known] <= truth[name]) & (high[known] >= truth[name])
            table[kind, name] = {
                "bias": float(np.nanmean(value) - truth[name]),
                "coverage": float(held.mean()),
                "given": float(known.mean()),
                "width": float((high - low)[known].mean()),
            }
    return table


def fewer(table: Table, name: str, against: str) -> float:
    """Which share of a random review's ratings the queue does without, intervals being equally wide."""
    return 1.0 - (table["queue", name]["width"] / table["random", against]["width"]) ** 2


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    print(f"{STUDIES} reviews of {ANSWERS} answers, {RATINGS} ratings each")
    told = [
        f"{STUDIES:,} reviews of {ANSWERS:,} answers, {RATINGS} ratings each. *At most*: what the best queue "
        "could save.\n",
        f"| {' | '.join(HEAD)} |",
        "|---" * len(HEAD) + "|",
    ]
    for title, source in SOURCES.items():
        if title.startswith("real") and not _real_judges.there():
            print(f"{title}: skipped, {_real_judges.DATA} is not there")
            continue
        table = summary(simulate(STUDIES, title, workers=WORKERS), truths_of(title))
        best = limits(source.everything(), RATINGS / ANSWERS)
        for name, alone in AIMS.items():
            yield from _claims(title, name, alone, table, best[name], source.promised)
        told += _rows(title, table, best)
    hidden = sorted(coverage(each, STUDIES, FIRST_SEED) for each in SETTINGS)
    yield _row("errors hide where reading is seldom: worst coverage", hidden[0], f"of {len(SETTINGS)} settings",
               f"median {np.median(hidden):.1%}", ">= 93 %", hidden[0] >= LOWEST)  # fmt: skip
    told += ["", _told_of_hidden(hidden)]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    page = f"{before}{BEGIN}\n\n" + "\n".join(told) + f"\n{END}{rest.partition(END)[2]}"
    PAGE.write_text(page, encoding="utf-8")


def _claims(
    title: str, name: str, alone: str, table: Table, best: Limit, promised: bool
) -> Iterator[dict[str, Any]]:
    own, plain = table["queue", name], table["queue, unweighted", alone]
    yield _row(f"{title}: {name}, coverage", own["coverage"], f"unweighted {plain['coverage']:.1%}",
               f"bias {plain['bias']:+.3f}", "95 ± 2 %", LOWEST <= own["coverage"] <= HIGHEST)  # fmt: skip
    saved, beside = fewer(table, name, alone), fewer(table, name, name)
    target, holds = (">= 30 %", saved >= FEWER) if promised else ("none", None)
    yield _row(f"{title}: {name}, fewer ratings than a random review", saved, f"with the jury's help {beside:.0%}",
               "", target, holds)  # fmt: skip
    yield _row(f"{title}: {name}, no queue can save more than", best.alone, f"with its help {best.beside_help:.0%}",
               f"for all aims {best.for_all:.0%}, all dangerous read {best.with_dangerous:.0%}", "none",
               None)  # fmt: skip


def _told_of_hidden(hidden: list[float]) -> str:
    below = sum(each < LOWEST for each in hidden)
    return (
        f"**Errors hide where reading is seldom.** In {len(hidden)} settings, {STUDIES:,} reviews each, the "
        f"interval of severe errors held the truth in {hidden[0]:.1%} of reviews in the worst and "
        f"{np.median(hidden):.1%} in the middle one; in {below} settings in less than {LOWEST:.0%}.\n"
    )


def _row(name: str, ours: float, peer: str, ratio: str, target: str, holds: bool | None) -> dict[str, Any]:
    return {
        "name": name,
        "ours": f"{ours:.1%}",
        "peer": peer,
        "ratio": ratio,
        "target": target,
        "holds": holds,
    }


HEAD = (
    "answers: of all answers", "truth", "queue: held (width)", "unweighted: held (bias)", "random: held (width)",
    "fewer ratings", "random, jury's help: held (width)", "fewer ratings", "at most (beside help)",
)  # fmt: skip


def _rows(title: str, table: Table, best: Mapping[str, Limit]) -> list[str]:
    truth = truths_of(title)
    lines = []
    for name, alone in AIMS.items():
        own, plain = table["queue", name], table["queue, unweighted", alone]
        random, helped, most = table["random", alone], table["random", name], best[name]
        cells = [f"{title}: {name}", f"{truth[name]:.3f}", f"{own['coverage']:.1%} ({own['width']:.3f})",
                 f"{plain['coverage']:.1%} ({plain['bias']:+.3f})",
                 f"{random['coverage']:.1%} ({random['width']:.3f})", f"**{fewer(table, name, alone):.0%}**",
                 f"{helped['coverage']:.1%} ({helped['width']:.3f})", f"{fewer(table, name, name):.0%}",
                 f"{most.alone:.0%} ({most.beside_help:.0%})"]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines
