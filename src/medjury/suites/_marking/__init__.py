"""Marking: what an answer to an item says, and whether that is right. What cannot be read is never guessed."""

from medjury.suites._marking._answer_text import declines
from medjury.suites._marking._codes import CodeCounts, code_counts, counts_of, gold_codes, micro_f1
from medjury.suites._marking._helm import HELM, HELM_RULES, helm_marks
from medjury.suites._marking._metrics import JURY, METRICS, mark, mark_all
from medjury.suites._marking._sql import ABSTAINED, QueryResult, run_queries

__all__ = [
    "ABSTAINED",
    "HELM",
    "HELM_RULES",
    "JURY",
    "METRICS",
    "CodeCounts",
    "QueryResult",
    "code_counts",
    "counts_of",
    "declines",
    "gold_codes",
    "helm_marks",
    "mark",
    "mark_all",
    "micro_f1",
    "run_queries",
]
