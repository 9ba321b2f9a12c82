"""Writes cases as JSON Lines, the one form that keeps everything a case holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from medjury.foundation.files import private_folder, whole_file, write_whole
from medjury.intake._files.reading import FileError
from medjury.intake.cases._case import Case, Criterion
from medjury.intake.cases._images import IMAGES, Image, files_of
from medjury.intake.cases._messages import as_rows


def write_cases(cases: Iterable[Case], path: str | os.PathLike[str]) -> int:
    """Write the cases one at a time and return how many there were.

    The file appears under its name only when it is complete; until then it is beside it as a `.part`.
    """
    file = Path(path)
    count = 0
    try:
        with whole_file(file) as out:
            for case in cases:
                out.write(_line(case))
                for image in case.images:
                    _write_image(image, file.parent / IMAGES)
                count += 1
    except OSError as error:
        raise FileError(f"{file}: cannot be written: {error.strerror or type(error).__name__}") from None
    return count


def case_to_row(case: Case) -> dict[str, Any]:
    """The case as the object that `read_cases` reads, without what is empty."""
    turns = {name: as_rows(messages) for name, messages in case.messages.items()}
    row: dict[str, Any] = {
        "id": case.id,
        "system": case.system,
        "vendor": case.vendor,
        "patient": case.patient,
        "candidate": turns.pop("candidate", case.candidate),
        "reference": case.reference,
        "notes": [
            {
                key: value
                for key in ("id", "date", "kind", "text")
                if (value := getattr(note, key)) is not None
            }
            for note in case.notes
        ],
        "texts": {**case.texts, **turns},
        "metadata": dict(case.metadata),
        "criteria": [criterion_row(each) for each in case.criteria],
        "images": list(files_of(case.images)),
    }
    return {key: value for key, value in row.items() if value not in (None, "", [], {})}


def _write_image(image: Image, folder: Path) -> None:
    """Beside the file of cases, under the name of its content."""
    private_folder(folder)
    file = folder / image.file
    if not file.is_file() or file.read_bytes() != image.content:
        write_whole(file, image.content)


def criterion_row(criterion: Criterion) -> dict[str, Any]:
    """A criterion as an object of a case's list, without what is empty."""
    row = {
        "id": criterion.id,
        "text": criterion.text,
        "points": criterion.points,
        "tags": list(criterion.tags),
        "quote": criterion.quote,
    }
    return {key: value for key, value in row.items() if value not in ("", [])}


def _line(case: Case) -> str:
    row = case_to_row(case)
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair can only be written as an escape
        line = json.dumps(row)
    return line + "\n"
