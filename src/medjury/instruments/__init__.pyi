from ._answer import faults as faults, problems as problems, read_answer as read_answer, read_grade as read_grade
from ._derive import derive as derive
from ._derived_columns import derive_columns as derive_columns
from ._describe import describe_instrument as describe_instrument
from ._instrument import (
    Composite as Composite,
    Dimension as Dimension,
    Example as Example,
    Input as Input,
    Instrument as Instrument,
    Reversed as Reversed,
    SkipRule as SkipRule,
)
from ._load import (
    InstrumentError as InstrumentError,
    list_instruments as list_instruments,
    load_instrument as load_instrument,
)
from ._outcome import (
    TRANSIENT as TRANSIENT,
    NotApplicable as NotApplicable,
    Outcome as Outcome,
    Reason as Reason,
    Score as Score,
    Unscored as Unscored,
)
from ._reader import (
    LONGEST_REPLY as LONGEST_REPLY,
    REASONING as REASONING,
    VERDICT as VERDICT,
    AnswerError as AnswerError,
    Found as Found,
    Way as Way,
    extract_json as extract_json,
    has_unasked_text as has_unasked_text,
    needs_token as needs_token,
    read_reply as read_reply,
)
from ._schema import Explain as Explain, output_schema as output_schema
from ._skip import apply_skips as apply_skips
