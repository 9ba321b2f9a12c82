"""The queue of a review as `medjury plan review --out FILE` wrote it, read back whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from medjury.analysis.calibration import QueueRow, sealed
from medjury.foundation.errors import MedjuryError


def read_queue(path: str | Path) -> tuple[QueueRow, ...]:
    """Every answer of the queue. A file in which a row was changed, added, left out or moved is refused: its
    probabilities are those of the draw, or nothing that is weighted by them is true."""
    file = Path(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = [_row(each) for each in csv.DictReader(opened)]
    except OSError as error:
        raise MedjuryError(f"{file} cannot be read ({error.strerror}); {_MADE}") from None
    except (KeyError, TypeError, ValueError, csv.Error):
        raise MedjuryError(f"{file} is no queue of a review; {_MADE}") from None
    if not rows:
        raise MedjuryError(f"{file} has no answer; {_MADE}")
    if tuple(rows) != sealed(rows):
        raise MedjuryError(
            f"{file} was changed after it was drawn; take the file as it was written, or draw again "
            "(`medjury plan review`) before anyone rates"
        )
    return tuple(rows)


_MADE = "`medjury plan review RUN --out FILE` writes one"


def _row(said: Mapping[str, str]) -> QueueRow:
    drawn = {"true": True, "false": False}[said["drawn"]]
    return QueueRow(
        said["item"],
        said["system"],
        drawn,
        int(said["place"]) if drawn else None,
        float(said["probability"]),
        said["reason"],
        int(said["seed"]),
        said["rule"],
        said["data"],
        said["digest"],
    )
