"""Real judges on public data: a source is one YAML file in `library/`, its verdicts are those of `validate`."""

from medjury.suites._judges._entries import Entry, judge_sources, read_entry
from medjury.suites._judges._files import fetch_sources
from medjury.suites._judges._page import judges_json, judges_text, write_judges
from medjury.suites._judges._results import JudgeRow, JudgesTable, SourceResult, judges_table

__all__ = [
    "Entry",
    "JudgeRow",
    "JudgesTable",
    "SourceResult",
    "fetch_sources",
    "judge_sources",
    "judges_json",
    "judges_table",
    "judges_text",
    "read_entry",
    "write_judges",
]
