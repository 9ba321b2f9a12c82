"""Fields of YAML files that people write: text, text that is not empty, and names; each fault says its fix."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, StringConstraints


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


Optional = Annotated[str, BeforeValidator(_text), StringConstraints(strip_whitespace=True)]
Text = Annotated[Optional, AfterValidator(_filled)]
Name = Annotated[Optional, AfterValidator(_name)]
