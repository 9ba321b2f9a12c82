"""What a mapping may state of cases: checked with all its mistakes at once."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from medjury.foundation.fields import Part, Text
from medjury.intake._mapping import FilePart, Given, read_mapping
from medjury.intake.cases._images import IMAGES
from medjury.intake.cases._mapping import SIMPLE, ColumnMapping
from medjury.intake.cases._messages import CONVERSATION


def _column_names(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("must map names to columns, like {question: q}")
    return value


def _notes(value: Any) -> Any:
    """One column, or several of which each is a note."""
    names = value if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(each, str) and each.strip() for each in names):
        raise ValueError("must be the name of a column, or a list of columns that are one note each")
    return tuple(names) if isinstance(value, list | tuple) else value


def _is_single(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValueError("must be a single value, like {system: scribe-a}")
    return value


ColumnNames = Annotated[dict[str, Text], BeforeValidator(_column_names)]


class FhirPart(Part):
    candidate: Text | None = None
    reference: Text | None = None


class CaseMapping(FilePart):
    """Which column is which field of a case. `item` and `fixed`, as mappings of ratings call them, are the same as
    `id` and `constants`."""

    id: Text | None = Field(default=None, validation_alias=AliasChoices("id", "item"))
    candidate: Text | None = None
    reference: Text | None = None
    system: Text | None = None
    vendor: Text | None = None
    patient: Text | None = None
    notes: Annotated[Any, AfterValidator(_notes)] = "notes"
    texts: ColumnNames = Field(default_factory=dict)
    messages: Text | None = None  # the text `conversation`
    metadata: ColumnNames = Field(default_factory=dict)
    criteria: Text = "criteria"
    images: Text = IMAGES
    constants: dict[str, Annotated[Any, AfterValidator(_is_single)]] = Field(
        default_factory=dict, validation_alias=AliasChoices("constants", "fixed")
    )
    fhir: FhirPart = FhirPart()


def column_mapping(given: Given) -> ColumnMapping:
    """A mapping as a study file or a call states it, in place or in a file of its own."""
    part, _ = read_mapping(given, CaseMapping)
    simple = {name: column for name in SIMPLE if (column := getattr(part, name)) is not None}
    return ColumnMapping(
        simple=simple,
        notes=part.notes,
        texts=part.texts if part.messages is None else {**part.texts, CONVERSATION: part.messages},
        metadata=part.metadata,
        criteria=part.criteria,
        images=part.images,
        constants=part.constants,
        fhir=part.fhir.model_dump(exclude_none=True),
        sheet=part.sheet,
        delimiter=part.delimiter,
        encoding=part.encoding,
        header_rows=part.header_rows,
        rows=part.rows,
        skip_rows=part.skip_rows,
        given=bool(
            simple or part.model_fields_set & {"notes", "texts", "messages", "metadata", "criteria", "images"}
        ),
    )
