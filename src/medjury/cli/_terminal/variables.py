"""Variables of the environment that say how results are shown. None of them changes a number."""

from __future__ import annotations

import os

from medjury.foundation.errors import MedjuryError

# Variable -> the option whose default it is, in every command that has it.
VARIABLES = {"MEDJURY_QUIET": "quiet", "MEDJURY_WIDE": "wide"}
_YES, _NO = ("1", "yes", "true", "on"), ("", "0", "no", "false", "off")


def stated(variable: str) -> bool:
    said = os.environ.get(variable, "").strip().lower()
    if said not in (*_YES, *_NO):
        raise MedjuryError(f"the environment variable {variable} is {said!r}; set it to 1 or 0, or unset it")
    return said in _YES
