"""What every part of a study file is: settings with a limit each, and none that is not known."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from medjury.fields import FileName

Name = FileName


class Part(BaseModel):
    """A part of the file: what it does not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)
