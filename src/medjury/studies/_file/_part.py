"""What every part of a study file is: settings with a limit each, and none that is not known."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]


class Part(BaseModel):
    """A part of the file: what it does not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)
