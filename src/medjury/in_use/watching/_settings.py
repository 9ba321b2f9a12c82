"""How a jury in use is watched: the part `watch:` of a study file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.documents import Document, read_document, validate, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.intake.cases import Unit
from medjury.studies import StudyFile


class SourcePart(Part):
    """Where new cases come from: files in a `folder`, or rows of a `table` in a `database`. Rows are read in the
    order of the column `order`; with `taken`, rows whose column of that name is empty are a queue, and the column
    gets the time at which a row's case was judged."""

    folder: str | None = None
    database: str | None = None
    table: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$")
    order: str = Field(default="id", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    taken: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")

    @model_validator(mode="after")
    def _one_place(self) -> SourcePart:
        if (self.folder is None) == (self.table is None) or (self.table is None) != (self.database is None):
            raise ValueError("is `{folder: inbox}`, or `{database: env:URL, table: notes}`")
        return self


class LimitsPart(Part):
    """What raises an alarm, in grades or shares: the jury's mean `score` and the clinicians' mean `quality` worse
    than this, their mean distance (`disagreement`) above this, the share of scored cases (`coverage`) below this,
    the share of cases outside what was validated (`case_mix`) above this."""

    score: float | None = None
    quality: float | None = None
    disagreement: float | None = Field(default=None, gt=0)
    coverage: float | None = Field(default=None, gt=0, lt=1)
    case_mix: float | None = Field(default=None, gt=0, lt=1)

    @property
    def stated(self) -> dict[str, float]:
        return {name: value for name, value in self.model_dump().items() if value is not None}


class ReviewPart(Part):
    """Which cases clinicians read: each with the probability `share`, a doubtful one with the probability
    `doubtful`. Doubtful is a case without a score, outside what was validated, or at or beyond the `threshold`.
    `ratings` is the file of the clinicians' ratings, `wait_days` how long a drawn case waits for one."""

    share: float = Field(default=0.05, gt=0, le=1)
    doubtful: float = Field(default=0.5, gt=0, le=1)
    threshold: float | None = None
    ratings: str | None = None
    wait_days: float = Field(default=30, gt=0)
    seed: int = 0


class WatchPart(Part):
    """`alpha` is the probability of a false alarm over the whole stream, for all limits together. `by` is what
    counts once: the cases of a patient; where none is known those of a day (`metadata.date`), else a case. `by:
    day` and `by: case` leave patients, or patients and days, out of account. `recent` cases are shown beside
    the whole."""

    passport: str
    source: SourcePart
    limits: LimitsPart
    dimension: str | None = None
    review: ReviewPart = ReviewPart()
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    by: Literal["patient", "day", "case"] = "patient"
    recent: int = Field(default=500, ge=1, le=100_000)
    batch: int = Field(default=500, ge=1, le=100_000)
    folder: str | None = None
    webhook: str | None = None
    override: str | None = None

    @field_validator("limits")
    @classmethod
    def _at_least_one(cls, value: LimitsPart) -> LimitsPart:
        if not value.stated:
            raise ValueError("states none; name at least one, such as `{coverage: 0.95}`")
        return value

    @model_validator(mode="after")
    def _clinicians_are_read(self) -> WatchPart:
        if self.review.ratings is None and {"quality", "disagreement"} & self.limits.stated.keys():
            raise ValueError("`quality` and `disagreement` need clinicians: name the file of their ratings in "
                             "`review: {ratings: FILE}`")  # fmt: skip
        return self


class WatchStudy(Part):
    """What a watch needs of a study file; places are whole paths."""

    name: str
    folder: Path
    root: Path
    settings: WatchPart
    allow_hosts: tuple[str, ...]
    mapping: Any = None
    language: str | None = None
    unit: Unit | None = None  # what is judged of each conversation

    def place(self, name: str) -> Path:
        """A path as the study file names it."""
        return self.root / name


def load_watch(path: str | Path) -> WatchStudy:
    """The part `watch:` of a study file, checked."""
    document: Document = read_document(path)
    study = validate(document, StudyFile)
    if study.watch is None:
        raise MedjuryError(f"{path}: has no part `watch:`; docs/watch.md shows one")
    part = validate_part(document, ("watch",), study.watch, WatchPart)
    root = Path(document.file).resolve().parent
    folder = root / (part.folder or f"runs/{study.study}-watch")
    return WatchStudy(
        name=study.study,
        folder=folder,
        root=root,
        settings=part,
        allow_hosts=tuple(study.allow_hosts),
        mapping=study.cases.mapping,
        language=study.cases.language,
        unit=study.unit,
    )
