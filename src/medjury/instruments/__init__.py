"""Instruments: what is graded, on which scale, in which words; and how an answer is read against it."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.instruments._answer import faults, problems, read_answer, read_grade
    from medjury.instruments._derive import derive
    from medjury.instruments._derived_columns import derive_columns
    from medjury.instruments._describe import describe_instrument
    from medjury.instruments._instrument import (
        Composite,
        Dimension,
        Example,
        Input,
        Instrument,
        Reversed,
        SkipRule,
    )
    from medjury.instruments._load import InstrumentError, list_instruments, load_instrument
    from medjury.instruments._outcome import TRANSIENT, NotApplicable, Outcome, Reason, Score, Unscored
    from medjury.instruments._reader import (
        LONGEST_REPLY,
        REASONING,
        VERDICT,
        AnswerError,
        Found,
        Way,
        extract_json,
        has_unasked_text,
        needs_token,
        read_reply,
    )
    from medjury.instruments._schema import Explain, output_schema
    from medjury.instruments._skip import apply_skips

__all__ = [
    "LONGEST_REPLY",
    "REASONING",
    "TRANSIENT",
    "VERDICT",
    "AnswerError",
    "Composite",
    "Dimension",
    "Example",
    "Explain",
    "Found",
    "Input",
    "Instrument",
    "InstrumentError",
    "NotApplicable",
    "Outcome",
    "Reason",
    "Reversed",
    "Score",
    "SkipRule",
    "Unscored",
    "Way",
    "apply_skips",
    "derive",
    "derive_columns",
    "describe_instrument",
    "extract_json",
    "faults",
    "has_unasked_text",
    "list_instruments",
    "load_instrument",
    "needs_token",
    "output_schema",
    "problems",
    "read_answer",
    "read_grade",
    "read_reply",
]
