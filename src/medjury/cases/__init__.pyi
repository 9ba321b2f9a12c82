from ._case import Case as Case, MetadataValue as MetadataValue, Note as Note, Origin as Origin
from ._dates import Period as Period, moment_of as moment_of, period_of as period_of
from ._labs import Lab as Lab, Labs as Labs, labs_of as labs_of
from ._marks import content_marks as content_marks
from ._read import (
    CaseReader as CaseReader,
    CaseSource as CaseSource,
    GivenCases as GivenCases,
    case_from_row as case_from_row,
    read_cases as read_cases,
    read_rows as read_rows,
)
from ._readers.eval_log import (
    EvalLog as EvalLog,
    EvalLogError as EvalLogError,
    as_log as as_log,
    is_log as is_log,
    read_eval_log as read_eval_log,
)
from ._readers.frame import cases_from_frame as cases_from_frame
from ._readers.json import Parsed as Parsed, parse_json as parse_json
from ._readers.workbook import WorkbookError as WorkbookError, open_workbook as open_workbook
from ._redaction.preview import redaction_counts as redaction_counts, redaction_preview as redaction_preview
from ._redaction.redact import (
    NO_PROMISE as NO_PROMISE,
    RedactedCases as RedactedCases,
    Redaction as Redaction,
    Redactor as Redactor,
    Replacement as Replacement,
)
from ._redaction.settings import (
    added_settings as added_settings,
    make_redactor as make_redactor,
    redact_part as redact_part,
)
from ._report import (
    SHOWN_PROBLEMS as SHOWN_PROBLEMS,
    BadRow as BadRow,
    CaseError as CaseError,
    list_problems as list_problems,
)
from ._row import EMPTY as EMPTY, RawRow as RawRow
from ._tally import CaseSummary as CaseSummary, LeftOut as LeftOut
from ._text import clean_text as clean_text
from ._write import case_to_row as case_to_row, write_cases as write_cases
