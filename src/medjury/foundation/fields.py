"""Parts and fields of YAML files that people write: text, text that is not empty, and names; each fault says its
fix."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Part(BaseModel):
    """A part of such a file: what it does not know is an error, not ignored. Its reader is built with the first one
    that is read: there are dozens of kinds of parts, and a command reads a few of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be text; put it in quotes")
    return value


def _filled(value: str) -> str:
    if not value:
        raise ValueError("is empty; write it")
    return value


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", value):
        raise ValueError("must be lower-case letters, digits and _, beginning with a letter")
    return value


def _name_of_files(value: str) -> str:
    """It names folders and files too."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._ -]*", value):
        raise ValueError(
            f"{value!r} is not a name; write only letters a to z, digits, spaces and . _ -, a letter or digit first"
        )
    return value


Optional = Annotated[str, BeforeValidator(_text), StringConstraints(strip_whitespace=True)]
Text = Annotated[Optional, AfterValidator(_filled)]
Name = Annotated[Optional, AfterValidator(_name)]
FileName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_name_of_files)]
