"""The report: one self-contained HTML page about a run, readable without network and without script."""

from medjury.report._page import write_page

__all__ = ["write_page"]
