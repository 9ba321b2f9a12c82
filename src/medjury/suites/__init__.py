"""Suites: benchmarks as data, their items from the source's own files, their marks, and honest leaderboards."""

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._library import inputs_of, list_benchmarks, load_benchmark, prompt_of, sample_file
from medjury.suites._loaders import check_data, draw_items, load_items
from medjury.suites._mark import Mark
from medjury.suites._taxonomy import Coverage, Taxonomy, coverage, read_taxonomy

__all__ = [
    "Benchmark",
    "Coverage",
    "Item",
    "Loaded",
    "Mark",
    "Taxonomy",
    "check_data",
    "coverage",
    "draw_items",
    "inputs_of",
    "list_benchmarks",
    "load_benchmark",
    "load_items",
    "prompt_of",
    "read_taxonomy",
    "sample_file",
]
