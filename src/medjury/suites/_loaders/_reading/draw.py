"""Which of a benchmark's items are asked: those of its split, and of these at most as many as it says."""

from __future__ import annotations

import hashlib

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded


def draw_items(benchmark: Benchmark, loaded: Loaded, *, most: int | None = None) -> tuple[Item, ...]:
    """The items to ask, in the source's order. `most` takes the place of the benchmark's own limit. Whether an item
    is drawn depends on its id and the seed alone, so that a draw of 100 is part of a draw of 200."""
    split = benchmark.sampling.get("split")
    known = {item.facts.get("split") for item in loaded.items}
    items = (
        [item for item in loaded.items if item.facts.get("split") == split]
        if split in known
        else loaded.items
    )
    limit = most if most is not None else benchmark.sampling.get("most")
    if limit is None or len(items) <= limit:
        return tuple(items)
    seed = benchmark.sampling.get("seed", 0)
    order = sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{item.id}".encode()).digest())
    drawn = {item.id for item in order[:limit]}
    return tuple(item for item in items if item.id in drawn)
