"""Options of every command that reads cases: which column is which, and what to do with bad rows."""

from __future__ import annotations

import argparse
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError


def add_case_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", metavar="CASES", help="file or folder of cases")
    parser.add_argument(
        "--mapping", metavar="FILE", help="YAML file that says which column is which; a study file will do"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="one entry of the mapping, such as candidate=ai_summary or texts.question=q; may be repeated",
    )


def mapping_of(options: argparse.Namespace) -> dict[str, Any] | None:
    """The mapping of columns that the options describe."""
    mapping: dict[str, Any] = {}
    if options.mapping:
        document = read_document(options.mapping)
        value = document.value
        if isinstance(value, dict) and isinstance(value.get("cases"), dict | str):  # a study file
            value = value["cases"].get("mapping") if isinstance(value["cases"], dict) else None
        if value is not None and not isinstance(value, dict):
            raise MedjuryError(document.complaint((), "the file must map fields to columns"))
        mapping = dict(value or {})
    for entry in options.column:
        field, equals, column = entry.partition("=")
        if not equals or not field or not column:
            raise MedjuryError(f"--column {entry}: write FIELD=COLUMN, such as candidate=ai_summary")
        group, dot, name = field.partition(".")
        if dot:
            mapping[group] = {**mapping.get(group, {}), name: column}
        else:
            mapping[field] = column
    return mapping or None
