"""Marking: what an answer to an item says, and whether that is right. What cannot be read is never guessed."""

from medjury.suites._marking._codes import CodeCounts, code_counts, counts_of, micro_f1
from medjury.suites._marking._metrics import METRICS, mark
from medjury.suites._marking._sandbox import QueryResult, run_queries

__all__ = [
    "METRICS",
    "CodeCounts",
    "QueryResult",
    "code_counts",
    "counts_of",
    "mark",
    "micro_f1",
    "run_queries",
]
