"""The mapping: which column of somebody's file is what. One language for cases, clinicians' and judges' tables,
given in place or in a YAML file of its own; what a case has and what a rating has is added where each is made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, field_validator

from medjury.foundation.documents import Document, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part, Text
from medjury.foundation.nested import steps_of
from medjury.intake._files.reading import FileError
from medjury.intake._files.text import is_encoding

Given = Mapping[str, Any] | str | os.PathLike[str]  # in place, or the file that holds it
Model = TypeVar("Model", bound="FilePart")


class FilePart(Part):
    """What every mapping may state: how the file is to be read."""

    sheet: Text | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    header_rows: int = Field(default=1, ge=1, le=5)
    skip_rows: int = Field(default=0, ge=0, le=1000)
    rows: str | None = None

    def form(self) -> dict[str, Any]:
        """These settings for a `Reading`."""
        return {name: getattr(self, name) for name in FilePart.model_fields}

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, encoding: str | None) -> str | None:
        if encoding is not None and not is_encoding(encoding):
            raise ValueError(f"there is no encoding {encoding!r}; try utf-8 or cp1252")
        return encoding

    @field_validator("rows")
    @classmethod
    def _can_be_followed(cls, rows: str | None) -> str | None:
        try:
            steps_of(rows or "")
        except MedjuryError as error:
            raise ValueError(str(error)) from None
        return rows


def read_mapping(given: Given, model: type[Model]) -> tuple[Model, str]:
    """The mapping, checked, and what it is called in messages: its file, or "mapping"."""
    try:
        if not isinstance(given, Mapping):
            return validate(read_document(Path(given)), model), str(given)
        return validate(Document("mapping", dict(given), {}), model), "mapping"
    except MedjuryError as error:
        raise FileError(str(error).replace("mapping, line 1: ", "mapping: ")) from None


def mapping_in(folder: Path, stated: str | Mapping[str, Any] | None) -> Mapping[str, Any] | Path | None:
    """A mapping as a study file states it: in place, or the name of a file beside the study's."""
    return folder / stated if isinstance(stated, str) else stated
