from ._answer import faults as faults
from ._answer import problems as problems
from ._answer import read_answer as read_answer
from ._answer import read_grade as read_grade
from ._derive import derive as derive
from ._derived_columns import derive_columns as derive_columns
from ._describe import describe_instrument as describe_instrument
from ._instrument import (
    Composite as Composite,
)
from ._instrument import (
    Dimension as Dimension,
)
from ._instrument import (
    Example as Example,
)
from ._instrument import (
    Input as Input,
)
from ._instrument import (
    Instrument as Instrument,
)
from ._instrument import (
    Reversed as Reversed,
)
from ._instrument import (
    SkipRule as SkipRule,
)
from ._load import (
    InstrumentError as InstrumentError,
)
from ._load import (
    list_instruments as list_instruments,
)
from ._load import (
    load_instrument as load_instrument,
)
from ._outcome import (
    TRANSIENT as TRANSIENT,
)
from ._outcome import (
    NotApplicable as NotApplicable,
)
from ._outcome import (
    Outcome as Outcome,
)
from ._outcome import (
    Reason as Reason,
)
from ._outcome import (
    Score as Score,
)
from ._outcome import (
    Unscored as Unscored,
)
from ._reader import (
    LONGEST_REPLY as LONGEST_REPLY,
)
from ._reader import (
    REASONING as REASONING,
)
from ._reader import (
    VERDICT as VERDICT,
)
from ._reader import (
    AnswerError as AnswerError,
)
from ._reader import (
    Found as Found,
)
from ._reader import (
    Way as Way,
)
from ._reader import (
    extract_json as extract_json,
)
from ._reader import (
    has_unasked_text as has_unasked_text,
)
from ._reader import (
    needs_token as needs_token,
)
from ._reader import (
    read_reply as read_reply,
)
from ._schema import Explain as Explain
from ._schema import output_schema as output_schema
from ._skip import apply_skips as apply_skips
