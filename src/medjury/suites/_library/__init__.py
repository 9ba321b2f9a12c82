"""The library: every benchmark is one YAML file, with three made-up rows in the form of its source."""

from medjury.suites._library._listing import library, listed, listing_text
from medjury.suites._library._new import Guess, guess_columns, new_benchmark
from medjury.suites._library._read import list_benchmarks, load_benchmark, sample_file
from medjury.suites._prompt import inputs_of, prompt_of

__all__ = [
    "Guess",
    "guess_columns",
    "inputs_of",
    "library",
    "list_benchmarks",
    "listed",
    "listing_text",
    "load_benchmark",
    "new_benchmark",
    "prompt_of",
    "sample_file",
]
