"""Suites: benchmarks as data, their items from the source's own files, their marks, and honest leaderboards."""

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._library import (
    Guess,
    guess_columns,
    inputs_of,
    library,
    list_benchmarks,
    listed,
    listing_text,
    load_benchmark,
    new_benchmark,
    prompt_of,
    sample_file,
)
from medjury.suites._loaders import FetchError, check_data, draw_items, fetch_files, fetch_plan, load_items
from medjury.suites._mark import Mark
from medjury.suites._taxonomy import Coverage, Taxonomy, coverage, read_taxonomy

__all__ = [
    "Benchmark",
    "Coverage",
    "FetchError",
    "Guess",
    "Item",
    "Loaded",
    "Mark",
    "Taxonomy",
    "check_data",
    "coverage",
    "draw_items",
    "fetch_files",
    "fetch_plan",
    "guess_columns",
    "inputs_of",
    "library",
    "list_benchmarks",
    "listed",
    "listing_text",
    "load_benchmark",
    "load_items",
    "new_benchmark",
    "prompt_of",
    "read_taxonomy",
    "sample_file",
]
