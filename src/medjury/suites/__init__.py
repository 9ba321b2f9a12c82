"""Suites: benchmarks as data, their items from the source's own files, their marks, and honest leaderboards."""

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._mark import Mark

__all__ = ["Benchmark", "Item", "Loaded", "Mark"]
