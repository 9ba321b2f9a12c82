"""Suites: benchmarks as data, their items from the source's own files, their marks, and honest leaderboards."""

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._leaderboard import (
    Board,
    Results,
    board_json,
    board_of,
    standings_csv,
    write_leaderboard,
)
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
from medjury.suites._loaders import (
    DataCheck,
    FetchError,
    check_data,
    draw_items,
    fetch_files,
    fetch_plan,
    load_items,
)
from medjury.suites._mark import Mark
from medjury.suites._running import (
    Suite,
    SuitePlan,
    SuiteRun,
    load_suite,
    make_suite,
    plan_suite,
    read_results,
    run_suite,
)
from medjury.suites._taxonomy import Coverage, Taxonomy, coverage, read_taxonomy

__all__ = [
    "Benchmark",
    "Board",
    "Coverage",
    "DataCheck",
    "FetchError",
    "Guess",
    "Item",
    "Loaded",
    "Mark",
    "Results",
    "Suite",
    "SuitePlan",
    "SuiteRun",
    "Taxonomy",
    "board_json",
    "board_of",
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
    "load_suite",
    "make_suite",
    "new_benchmark",
    "plan_suite",
    "prompt_of",
    "read_results",
    "read_taxonomy",
    "run_suite",
    "sample_file",
    "standings_csv",
    "write_leaderboard",
]
