"""The library: every benchmark is one YAML file, with three made-up rows in the form of its source."""

from medjury.suites._library._prompt import inputs_of, prompt_of
from medjury.suites._library._read import list_benchmarks, load_benchmark, sample_file

__all__ = ["inputs_of", "list_benchmarks", "load_benchmark", "prompt_of", "sample_file"]
