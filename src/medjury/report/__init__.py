"""The report: one self-contained HTML page about a run that says first whether its jury may be trusted."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.report._comparison_page import write_comparison
    from medjury.report._document import document
    from medjury.report._figure import Figure
    from medjury.report._html import Html, bullets, element, joined, paragraph, sentence, table_html
    from medjury.report._page import write_page
    from medjury.report._pdf import write_pdf

__all__ = [
    "Figure",
    "Html",
    "bullets",
    "document",
    "element",
    "joined",
    "paragraph",
    "sentence",
    "table_html",
    "write_comparison",
    "write_page",
    "write_pdf",
]
