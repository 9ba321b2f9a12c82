from ._case import Case as Case
from ._case import MetadataValue as MetadataValue
from ._case import Note as Note
from ._case import Origin as Origin
from ._dates import Period as Period
from ._dates import moment_of as moment_of
from ._dates import period_of as period_of
from ._labs import Lab as Lab
from ._labs import Labs as Labs
from ._labs import labs_of as labs_of
from ._marks import content_marks as content_marks
from ._read import (
    CaseReader as CaseReader,
)
from ._read import (
    CaseSource as CaseSource,
)
from ._read import (
    GivenCases as GivenCases,
)
from ._read import (
    case_from_row as case_from_row,
)
from ._read import (
    read_cases as read_cases,
)
from ._read import (
    read_rows as read_rows,
)
from ._readers.eval_log import (
    EvalLog as EvalLog,
)
from ._readers.eval_log import (
    EvalLogError as EvalLogError,
)
from ._readers.eval_log import (
    as_log as as_log,
)
from ._readers.eval_log import (
    is_log as is_log,
)
from ._readers.eval_log import (
    read_eval_log as read_eval_log,
)
from ._readers.frame import cases_from_frame as cases_from_frame
from ._readers.json import Parsed as Parsed
from ._readers.json import parse_json as parse_json
from ._readers.xlsx import WorkbookError as WorkbookError
from ._readers.xlsx import open_workbook as open_workbook
from ._redaction.preview import redaction_counts as redaction_counts
from ._redaction.preview import redaction_preview as redaction_preview
from ._redaction.redact import (
    NO_PROMISE as NO_PROMISE,
)
from ._redaction.redact import (
    RedactedCases as RedactedCases,
)
from ._redaction.redact import (
    Redaction as Redaction,
)
from ._redaction.redact import (
    Redactor as Redactor,
)
from ._redaction.redact import (
    Replacement as Replacement,
)
from ._redaction.settings import (
    added_settings as added_settings,
)
from ._redaction.settings import (
    make_redactor as make_redactor,
)
from ._redaction.settings import (
    redact_part as redact_part,
)
from ._report import (
    SHOWN_PROBLEMS as SHOWN_PROBLEMS,
)
from ._report import (
    BadRow as BadRow,
)
from ._report import (
    CaseError as CaseError,
)
from ._report import (
    list_problems as list_problems,
)
from ._row import EMPTY as EMPTY
from ._row import RawRow as RawRow
from ._tally import CaseSummary as CaseSummary
from ._tally import LeftOut as LeftOut
from ._text import clean_text as clean_text
from ._write import case_to_row as case_to_row
from ._write import write_cases as write_cases
