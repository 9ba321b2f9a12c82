"""Cases: what is judged. Readers turn files into `Case` objects one at a time and report every bad row."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.cases._case import Case, MetadataValue, Note, Origin
    from medjury.cases._dates import Period, moment_of, period_of
    from medjury.cases._labs import Lab, Labs, labs_of
    from medjury.cases._marks import content_marks
    from medjury.cases._read import CaseReader, CaseSource, GivenCases, case_from_row, read_cases, read_rows
    from medjury.cases._readers.eval_log import EvalLog, EvalLogError, as_log, is_log, read_eval_log
    from medjury.cases._readers.frame import cases_from_frame
    from medjury.cases._readers.json import Parsed, parse_json
    from medjury.cases._readers.workbook import WorkbookError, open_workbook
    from medjury.cases._redaction.preview import redaction_counts, redaction_preview
    from medjury.cases._redaction.redact import NO_PROMISE, RedactedCases, Redaction, Redactor, Replacement
    from medjury.cases._redaction.settings import added_settings, make_redactor, redact_part
    from medjury.cases._report import SHOWN_PROBLEMS, BadRow, CaseError, list_problems
    from medjury.cases._row import EMPTY, RawRow
    from medjury.cases._tally import CaseSummary, LeftOut
    from medjury.cases._text import clean_text
    from medjury.cases._write import case_to_row, write_cases

__all__ = [
    "EMPTY",
    "NO_PROMISE",
    "SHOWN_PROBLEMS",
    "BadRow",
    "Case",
    "CaseError",
    "CaseReader",
    "CaseSource",
    "CaseSummary",
    "EvalLog",
    "EvalLogError",
    "GivenCases",
    "Lab",
    "Labs",
    "LeftOut",
    "MetadataValue",
    "Note",
    "Origin",
    "Parsed",
    "Period",
    "RawRow",
    "RedactedCases",
    "Redaction",
    "Redactor",
    "Replacement",
    "WorkbookError",
    "added_settings",
    "as_log",
    "case_from_row",
    "case_to_row",
    "cases_from_frame",
    "clean_text",
    "content_marks",
    "is_log",
    "labs_of",
    "list_problems",
    "make_redactor",
    "moment_of",
    "open_workbook",
    "parse_json",
    "period_of",
    "read_cases",
    "read_eval_log",
    "read_rows",
    "redact_part",
    "redaction_counts",
    "redaction_preview",
    "write_cases",
]
