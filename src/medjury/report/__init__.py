"""The report: one self-contained HTML page about a run that says first whether its jury may be trusted."""

from medjury.report._checks import Check
from medjury.report._open import compare_runs, gate_of, write_comparison
from medjury.report._page import write_page
from medjury.report._pdf import write_pdf
from medjury.report._rules import GateRules, ReportSettings

__all__ = [
    "Check",
    "GateRules",
    "ReportSettings",
    "compare_runs",
    "gate_of",
    "write_comparison",
    "write_page",
    "write_pdf",
]
