"""Medjury: grade clinical AI output with juries of language models, and prove how far to trust them.

The names below are what a script needs; each is imported from its room when it is first used, so that
`import medjury` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from medjury.version import __version__

_ROOMS = {
    "Case": "cases",
    "Judge": "judging",
    "Jury": "judging",
    "RatingTable": "tables",
    "agreement": "agreement",
    "arun_study": "studies",
    "audit": "audits",
    "calibrate": "calibration",
    "cases_from_frame": "cases",
    "judge": "judging",
    "load_instrument": "instruments",
    "load_study": "studies",
    "make_model": "models",
    "open_run": "studies",
    "open_store": "ratings",
    "rank": "ranking",
    "rating_table": "tables",
    "read_cases": "cases",
    "read_ratings": "ratings",
    "run_study": "studies",
    "validate": "validation",
    "write_ratings": "ratings",
}

__all__ = ["__version__", *sorted(_ROOMS)]

if TYPE_CHECKING:
    from medjury.agreement import agreement as agreement
    from medjury.audits import audit as audit
    from medjury.calibration import calibrate as calibrate
    from medjury.cases import Case as Case
    from medjury.cases import cases_from_frame as cases_from_frame
    from medjury.cases import read_cases as read_cases
    from medjury.instruments import load_instrument as load_instrument
    from medjury.judging import Judge as Judge
    from medjury.judging import Jury as Jury
    from medjury.judging import judge as judge
    from medjury.models import make_model as make_model
    from medjury.ranking import rank as rank
    from medjury.ratings import open_store as open_store
    from medjury.ratings import read_ratings as read_ratings
    from medjury.ratings import write_ratings as write_ratings
    from medjury.studies import arun_study as arun_study
    from medjury.studies import load_study as load_study
    from medjury.studies import open_run as open_run
    from medjury.studies import run_study as run_study
    from medjury.tables import RatingTable as RatingTable
    from medjury.tables import rating_table as rating_table
    from medjury.validation import validate as validate


def __getattr__(name: str) -> Any:
    if name == "agreement":
        # The room has the function's name and is called in its place: an imported room hides any function here.
        return importlib.import_module("medjury.agreement")
    if name in _ROOMS:
        return getattr(importlib.import_module(f"medjury.{_ROOMS[name]}"), name)
    raise AttributeError(f"module 'medjury' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
