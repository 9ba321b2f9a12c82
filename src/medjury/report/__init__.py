"""The report: one self-contained HTML page about a run that says first whether its jury may be trusted."""

from medjury.report._comparison_page import write_comparison
from medjury.report._page import write_page
from medjury.report._pdf import write_pdf

__all__ = ["write_comparison", "write_page", "write_pdf"]
