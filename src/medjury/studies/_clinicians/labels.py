"""What is known of each case besides its scores (was the routine diagnosis wrong?), and who rated: two small files
of the run folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.store.ratings import PROFILE, guard_frame
from medjury.store.runs import files
from medjury.studies._file import HumansPart
from medjury.studies._study import Study

if TYPE_CHECKING:
    from medjury.store.ratings import ImportedRatings


def case_labels(study: Study, part: HumansPart, imported: ImportedRatings) -> dict[str, dict[str, int]]:
    """By case, its labels: from the clinicians' file, or, where it has no such column, from the cases."""
    found = {item: dict(own) for item, own in imported.labels.items()}
    elsewhere = {
        label: column for label, column in part.labels.items() if label not in imported.label_columns
    }
    if not part.labels:
        return {}
    seen: set[str] = set()
    known: set[str] = set()
    for case in study.cases:
        known.add(case.id)
        for label, column in elsewhere.items():
            value = case.metadata.get(column)
            if value is None or value == "":
                continue
            seen.add(label)
            if value not in (0, 1, "0", "1"):
                raise _wrong(
                    study, label, f"is 0 or 1 for each case, but {case.id!r} has {str(value)[:40]!r}"
                )
            if found.setdefault(case.id, {}).setdefault(label, int(value)) != int(value):
                raise _wrong(
                    study, label, f"differs between the answers to {case.id!r}; a case has one value"
                )
    for label, column in elsewhere.items():
        if label not in seen:
            raise _wrong(
                study,
                label,
                f"neither the clinicians' file nor the cases have a column {column!r}; correct its name",
            )
    return {item: own for item, own in sorted(found.items()) if item in known}


def write_raters(profiles: Mapping[str, Mapping[str, str]], folder: Path) -> list[str]:
    """Write who the raters are, under their pseudonyms, and name the file: none where nothing is known of them."""
    return _write(folder / files.RATERS, "rater", PROFILE, profiles)


def write_labels(labels: Mapping[str, Mapping[str, int]], folder: Path) -> list[str]:
    """Write the labels of the cases, and name the file: none where the study has no labels."""
    names = sorted({name for own in labels.values() for name in own})
    return _write(folder / files.LABELS, "item", names, labels)


def _write(
    file: Path,
    key: str,
    names: tuple[str, ...] | list[str],
    rows: Mapping[str, Mapping[str, str]] | Mapping[str, Mapping[str, int]],
) -> list[str]:
    used: list[str] = [name for name in names if any(name in each for each in rows.values())]
    if not used:
        file.unlink(missing_ok=True)
        return []
    import polars

    lines = [(name, *(str(own.get(each, "")) for each in used)) for name, own in sorted(rows.items())]
    frame = polars.DataFrame(lines, schema=dict.fromkeys((key, *used), polars.String), orient="row")
    with whole_file(file) as opened:
        # The name of a case is that of its ratings, to the letter; what is said of raters is people's text.
        opened.write((frame if key == "item" else guard_frame(frame)).write_csv())
    return [file.name]


def _wrong(study: Study, label: str, problem: str) -> MedjuryError:
    return MedjuryError(read_document(study.file).complaint(("humans", "labels", label), problem))
