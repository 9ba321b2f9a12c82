"""What every part of a study file is: settings with a limit each, and none that is not known."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]*")


def _is_a_name(value: str) -> str:
    """It names folders and files too."""
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} is no name; write letters a to z, digits, blanks and . _ - alone, a letter or digit first"
        )
    return value


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_is_a_name)]


class Part(BaseModel):
    """A part of the file: what it does not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)
