"""The file of criteria that a study names beside its cases: one a line, each with what became of it. A draft is a
proposal of a model and counts for nothing until a clinician has accepted it, as it is or in other words.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_part
from medjury.intake.cases._case import Criterion

Kind = Literal["draft", "accepted", "edited", "written", "dropped"]
DRAFT: Kind = "draft"
COUNTED: tuple[Kind, ...] = ("accepted", "edited", "written")


class WrittenCriterion(BaseModel):
    """One criterion of one case. `model` proposed it ("": a person wrote it), in the words that are `proposed`
    where a clinician changed them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: str = Field(min_length=1)
    id: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=2000)
    points: float = Field(default=1.0, ge=-1000, le=1000, allow_inf_nan=False)
    tags: tuple[str, ...] = ()
    quote: str = ""
    state: Kind = "written"
    model: str = ""
    proposed: str = ""
    person: str = ""
    at: str = ""

    @property
    def criterion(self) -> Criterion:
        return Criterion(self.id, self.text, self.points, self.tags, self.quote)


def criterion_id(text: str, points: float, prefix: str = "d") -> str:
    """An id by the words: the same proposal for another case has the same one, and is the same criterion."""
    return f"{prefix}-{hashlib.sha256(f'{text} {points:g}'.encode()).hexdigest()[:10]}"


def read_written_criteria(path: str | Path) -> list[WrittenCriterion]:
    """Every line of the file, in its order; none where it is not there yet."""
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines() if file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{file} cannot be read ({error})") from None
    found, seen = [], set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            each = WrittenCriterion.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise MedjuryError(
                f"{file.name} line {number}: {where}: {first['msg']}; a line is a criterion such as "
                '{"case": "c1", "id": "a", "text": "States the dose.", "points": 5}'
            ) from None
        if (key := (each.case, each.id.casefold())) in seen:
            raise MedjuryError(
                f"{file.name} line {number}: the case {each.case!r} has two criteria {each.id!r}"
            )
        seen.add(key)
        found.append(each)
    return found


def write_written_criteria(path: str | Path, criteria: Iterable[WrittenCriterion]) -> None:
    """The whole file, or the one that was there; it is its owner's alone."""
    with whole_part(Path(path)) as part:
        part.write_text("".join(each.model_dump_json() + "\n" for each in criteria), encoding="utf-8")


def counted_criteria(criteria: Sequence[WrittenCriterion]) -> Mapping[str, tuple[Criterion, ...]]:
    """By case those that count."""
    found: dict[str, tuple[Criterion, ...]] = {}
    for each in criteria:
        if each.state in COUNTED:
            found[each.case] = (*found.get(each.case, ()), each.criterion)
    return found


def counts_of(criteria: Sequence[WrittenCriterion]) -> dict[str, int]:
    """How many are in which state."""
    return dict(Counter(each.state for each in criteria))
