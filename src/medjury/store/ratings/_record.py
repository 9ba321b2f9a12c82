"""The record: how a rating of several steps came about, kept word for word beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.files import whole_file
from medjury.intake.cases import clean_text


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The story behind the ratings with the same key: a transcript, claims with verdicts, rounds of a loop.
    `body` is a JSON object whose `kind` names the way of judging. It holds clinical text, as explanations do."""

    key: str
    item: str
    system: str
    rater: str
    repeat: int
    body: str
    created_at: str

    def content(self) -> dict[str, Any]:
        """The body as Python values."""
        found = json.loads(self.body)
        if not isinstance(found, dict):
            raise ValueError("a record's body is not a JSON object")
        return found


def write_records(records: Iterable[StoredRecord], path: Path) -> int:
    """Write records as JSON Lines, one per unit of work; how many there were. Without any there is no file."""
    count = 0
    with whole_file(path) as file:
        for each in records:
            body = each.content()
            line = {
                "key": each.key,
                "item": each.item,
                "system": each.system,
                "rater": each.rater,
                "repeat": each.repeat,
                "kind": body.get("kind", ""),
                "body": body,
            }
            # A model's half of a surrogate pair has no place in a file.
            file.write(clean_text(json.dumps(line, ensure_ascii=False)) + "\n")
            count += 1
    if not count:
        path.unlink(missing_ok=True)
    return count
