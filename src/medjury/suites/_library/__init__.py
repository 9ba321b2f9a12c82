"""The library: every benchmark is one YAML file, with three made-up rows in the form of its source."""

from medjury.suites._library._read import list_benchmarks, load_benchmark, sample_file
from medjury.suites._prompt import inputs_of, prompt_of

__all__ = ["inputs_of", "list_benchmarks", "load_benchmark", "prompt_of", "sample_file"]
