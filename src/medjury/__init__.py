"""Medjury: grade clinical AI output with juries of language models, and prove how far to trust them.

The names below are what a script needs; each is imported from its room when it is first used, so that
`import medjury` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.doors import on_demand
from medjury.version import __version__

with on_demand(__name__):
    if TYPE_CHECKING:
        from medjury.agreement import agreement
    else:
        # The room has the function's name and is called in its place: an imported room hides any function here.
        from medjury import agreement
    from medjury.audits import audit
    from medjury.calibration import calibrate
    from medjury.cases import Case, cases_from_frame, read_cases
    from medjury.instruments import load_instrument
    from medjury.judging import Judge, Jury, judge
    from medjury.models import make_model
    from medjury.ranking import rank
    from medjury.ratings import open_store, read_ratings, write_ratings
    from medjury.studies import arun_study, load_study, open_run, run_study
    from medjury.tables import RatingTable, rating_table
    from medjury.validation import validate

__all__ = [
    "Case",
    "Judge",
    "Jury",
    "RatingTable",
    "__version__",
    "agreement",
    "arun_study",
    "audit",
    "calibrate",
    "cases_from_frame",
    "judge",
    "load_instrument",
    "load_study",
    "make_model",
    "open_run",
    "open_store",
    "rank",
    "rating_table",
    "read_cases",
    "read_ratings",
    "run_study",
    "validate",
    "write_ratings",
]


def __dir__() -> list[str]:
    return sorted(__all__)
