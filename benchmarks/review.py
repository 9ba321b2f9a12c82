"""Does a review that looks where it hurts still tell the truth, and what does it save? `python -m benchmarks
review` simulates reviews (`STUDIES` of each kind, 1000 unless that variable says otherwise) and writes the tables
of docs/reviewing-where-it-hurts.md.

Three reviews of the same 2,000 answers: 300 ratings drawn by stated probabilities, the same ones with the
probabilities forgotten, and 300 at random. An interval holds the truth in 95 ± 2 % of reviews, and the first needs
at least 30 % fewer ratings than a random review for intervals of the same mean width (which go with 1/√n).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._reviews import STATISTICS, Floats, found, make_world, review, truths

# Not among the benchmarks that run where none is named.
ON_REQUEST = True
PAGE = Path(__file__).parents[1] / "docs" / "reviewing-where-it-hurts.md"
BEGIN, END = "<!-- simulation begins -->", "<!-- simulation ends -->"
STUDIES = int(os.environ.get("STUDIES", "1000"))
# Other seeds than those by which the intervals were chosen: whoever chooses again, takes fresh ones again.
FIRST_SEED = int(os.environ.get("REVIEW_SEED", "3000000"))
WORKERS = int(os.environ.get("REVIEW_WORKERS", "1"))
CASES, RATINGS = 1000, 300
REVIEWS = ("queue", "queue, unweighted", "random")
WORLDS = {"judges differ where they err": False, "judges err alike": True}
LOWEST, HIGHEST, FEWER = 0.93, 0.97, 0.30
# Of a review at random the mean has two forms; a queue is held against that which needs no jury, as a review is
# today.
AGAINST = {"mean": "mean, labels alone"}


def study(seed: int, alike: bool = False, cases: int = CASES, ratings: int = RATINGS) -> Floats:
    """One review of each kind: value, low and high end by review and statistic."""
    world = make_world(cases, 1000 + seed, alike=alike)
    queue, random = (review(world, ratings, seed, random=each) for each in (False, True))
    made = (
        found(world, queue, seed),
        found(world, queue, seed, weighted=False),
        found(world, random, seed),
    )
    ends = [[(each[name].value, each[name].low, each[name].high) for name in STATISTICS] for each in made]
    return np.array(ends, dtype=np.float64)


def simulate(
    studies: int, *, alike: bool, workers: int = 1, first_seed: int = FIRST_SEED, **size: int
) -> Floats:
    """Studies by review by statistic by (value, low, high); NaN where there is none."""
    one: Callable[[int], Floats] = partial(study, alike=alike, **size)
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


def needed(table: Mapping[tuple[str, str], Mapping[str, float]], name: str, against: str) -> float:
    """Ratings of the queue for one of a random review, intervals being equally wide."""
    return (table["queue", name]["width"] / table["random", against]["width"]) ** 2


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    print(f"{STUDIES} reviews of {CASES * 2} answers, {RATINGS} ratings each")
    tables = {}
    for title, alike in WORLDS.items():
        truth = truths(alike)
        tables[title] = table = summary(simulate(STUDIES, alike=alike, workers=WORKERS), truth)
        for name in STATISTICS:
            own, plain = table["queue", name], table["queue, unweighted", name]
            held = LOWEST <= own["coverage"] <= HIGHEST
            yield _row(f"{title}: {name}, coverage", own["coverage"], f"unweighted {plain['coverage']:.1%}",
                       f"bias {plain['bias']:+.3f}", "95 ± 2 %", held)  # fmt: skip
            fewer = 1.0 - needed(table, name, AGAINST.get(name, name))
            promised = not alike and name != "mean, labels alone"
            target, holds = (">= 30 %", fewer >= FEWER) if promised else ("none", None)
            yield _row(f"{title}: {name}, fewer ratings", fewer, "than at random", "", target, holds)
    PAGE.write_text(_with_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")


def _row(name: str, ours: float, peer: str, ratio: str, target: str, holds: bool | None) -> dict[str, Any]:
    return {
        "name": name,
        "ours": f"{ours:.1%}",
        "peer": peer,
        "ratio": ratio,
        "target": target,
        "holds": holds,
    }


def _with_tables(page: str, tables: Mapping[str, Mapping[tuple[str, str], Mapping[str, float]]]) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [f"{STUDIES:,} reviews of {CASES * 2:,} answers, {RATINGS} ratings each.\n"]
    for title, table in tables.items():
        lines = [
            f"**{title[0].upper()}{title[1:]}**\n",
            "| of all answers | truth | queue: coverage | mean width | bias if unweighted | coverage if unweighted "
            "| random: coverage | mean width | fewer ratings |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        truth = truths(WORLDS[title])
        for name in STATISTICS:
            own, plain, random = (table[kind, name] for kind in REVIEWS)
            fewer = 1.0 - needed(table, name, name)
            cells = [
                name,
                f"{truth[name]:.3f}",
                f"{own['coverage']:.1%}",
                f"{own['width']:.3f}",
                f"{plain['bias']:+.3f}",
                f"{plain['coverage']:.1%}",
                f"{random['coverage']:.1%}",
                f"{random['width']:.3f}",
                f"{fewer:.0%}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
        alone = 1.0 - needed(table, "mean", "mean, labels alone")
        lines.append(f"\nThe mean with the jury, beside random labels alone: {alone:.0%} fewer.\n")
        parts.append("\n".join(lines))
    return f"{before}{BEGIN}\n\n" + "\n".join(parts) + f"\n{END}{after}"
