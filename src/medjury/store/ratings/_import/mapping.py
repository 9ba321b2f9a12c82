"""What a mapping may state of ratings: which column of a table is what, and what its words and codes mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, field_validator, model_validator

from medjury.foundation.fields import Part
from medjury.intake import FileError, FilePart, Given, Reading, code_of, read_mapping
from medjury.store.ratings._import.cell import Codes, GradeRange
from medjury.store.ratings._profiles import PROFILE
from medjury.store.ratings._rating import RaterKind

Kept = TypeVar("Kept")
_PLACES = ("item", "system", "rater", "dimension", "repeat")
# Settings of wide tables: by their names, the columns of the items, of the raters or of the systems.
WIDE = {"items": "item", "raters": "rater", "systems": "system"}
_PLACE = re.compile(r"\{(\w+)\}")
# Settings that name a column of the table.
_COLUMNS = (
    "item", "system", "patient", "rater", "repeat", "dimension", "score", "seconds", "minutes", "probability",
    "content", "content_hash", *PROFILE,
)  # fmt: skip


def _with_words(kept: Callable[[Any], Kept]) -> BeforeValidator:
    """Words and codes, by how they are kept; what YAML made a truth value of is not one of them."""

    def check(value: Any) -> Any:
        if _holds_truth_values(value):
            raise ValueError("YAML reads yes, no, on and off as true and false: put such words in quotes")
        return kept(value)

    return BeforeValidator(check)


def _holds_truth_values(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_truth_values(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(map(_holds_truth_values, value))
    return isinstance(value, bool)


def _codes(value: Any) -> frozenset[str]:
    if not isinstance(value, list | frozenset) or not all(
        isinstance(each, str | int | float) for each in value
    ):
        raise ValueError("must be a list of words and numbers")
    return frozenset(map(code_of, value))


def _wanted(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _codes(each if isinstance(each, list) else [each]) for name, each in value.items()}


def _labels(value: Any) -> Any:
    """By dimension ("" for all), what words mean."""
    if not isinstance(value, dict):
        return value
    by_dimension = value if any(isinstance(each, dict) for each in value.values()) else {"": value}
    return {
        name: {code_of(word): number for word, number in each.items()} if isinstance(each, dict) else each
        for name, each in by_dimension.items()
    }


def _named(value: Any) -> Any:
    return {name: name for name in value} if isinstance(value, list) else value


class RangePart(Part):
    """Any number from `from` to `to`, not whole numbers alone."""

    low: float = Field(alias="from")
    high: float = Field(alias="to")


ScalePart = list[int] | RangePart


Names = Annotated[dict[str, str], BeforeValidator(_named), Field(min_length=1)]


class SheetsPart(Part):
    """The sheets of a workbook that are one table each: what differs between them, by name the sheet."""

    dimension: Names | None = None
    rater: Names | None = None
    system: Names | None = None

    @model_validator(mode="after")
    def _one_place(self) -> SheetsPart:
        if len(self.model_fields_set) != 1:
            raise ValueError(
                "say what the sheets are, once: `dimension`, `rater` or `system`, with their names"
            )
        return self

    def named(self) -> Iterator[tuple[str, str, str]]:
        """What a sheet is, its name in the ratings, and its name in the workbook."""
        for place, sheets in self:
            for name, sheet in (sheets or {}).items():
                yield place, name, sheet


class FixedPart(Part):
    """What holds for every row of a file."""

    system: str | None = None
    rater: str | None = None
    repeat: int | None = Field(default=None, ge=0)
    instrument: str | None = None
    dimension: str | None = None
    panel: str | None = None


class SourcePart(FilePart):
    """What a mapping may state of a file of ratings. `id` and `constants`, as mappings of cases call them, are the
    same as `item` and `fixed`."""

    item: str | list[str] | None = Field(default=None, validation_alias=AliasChoices("item", "id"))
    system: str | None = None
    patient: str | None = None
    rater: str | None = None
    repeat: str | None = None
    dimension: str | None = None
    score: str | None = None
    explanation: str | dict[str, str] | None = None
    seconds: str | None = None
    minutes: str | None = None
    probability: str | None = None
    panel: str | None = None
    years: str | None = None
    specialty: str | None = None
    seniority: str | None = None
    affiliation: str | None = None
    rated_in: str | None = None
    content: str | None = None
    content_hash: str | None = None
    # By its name, a dimension's column, JSON field or word in the file.
    dimensions: Names | None = None
    raters: Names | None = None
    systems: Names | None = None
    items: Names | None = None
    columns: str | None = None
    cells: Literal["score", "numbered", "json"] = "score"
    take: str | list[str] | None = None
    sheets: SheetsPart | None = None
    fill_down: list[str] = []
    decimal: Literal[".", ","] = "."
    forms: Literal["started", "all"] = "started"
    again: Literal["refuse", "repeat"] = "refuse"
    fixed: FixedPart = Field(default=FixedPart(), validation_alias=AliasChoices("fixed", "constants"))
    rater_kind: RaterKind | dict[RaterKind, list[str]] = "clinician"
    labels: Annotated[dict[str, dict[str, float]], _with_words(_labels)] = {}
    na: Annotated[frozenset[str], _with_words(_codes)] = frozenset()
    blank: Annotated[frozenset[str], _with_words(_codes)] = frozenset()
    only: Annotated[dict[str, frozenset[str]], _with_words(_wanted)] = {}
    without: Annotated[dict[str, frozenset[str]], _with_words(_wanted)] = {}
    scale: ScalePart | dict[str, ScalePart] | None = None

    @field_validator("columns")
    @classmethod
    def _places_are_known(cls, pattern: str | None) -> str | None:
        places = _PLACE.findall(pattern or "")
        if pattern is not None and not places:
            raise ValueError("must hold a place such as {system}, or {dimension}")
        for place in places:
            if place not in _PLACES or places.count(place) > 1:
                raise ValueError(f"{{{place}}}: a pattern holds {', '.join(_PLACES)}, each at most once")
        return pattern

    @field_validator("scale")
    @classmethod
    def _scales_rise(cls, scale: Any) -> Any:
        for each in scale.values() if isinstance(scale, dict) else [scale]:
            if isinstance(each, list) and (len(each) < 2 or sorted(set(each)) != each):
                raise ValueError("a scale is [lowest, highest], or all its grades in rising order")
            if isinstance(each, RangePart) and each.low >= each.high:
                raise ValueError("`from` must be less than `to`")
        return scale

    def kind_of(self, rater: str) -> RaterKind:
        """Whether a rater is a clinician, a judge, ...: by what holds for all, or by the lists of names."""
        if isinstance(self.rater_kind, str):
            return self.rater_kind
        return next((kind for kind, names in self.rater_kind.items() if rater in names), "clinician")

    @property
    def json_cells(self) -> bool:
        return self.cells == "json"

    @property
    def item_columns(self) -> list[str]:
        """The columns that name the case: one, or several of which each alone is not enough."""
        return self.item if isinstance(self.item, list) else [self.item] if self.item else []

    @property
    def wide(self) -> tuple[str, Mapping[str, str]] | None:
        """What the columns of a wide table are, and by its name each column; None where they are dimensions."""
        return next(((place, found) for name, place in WIDE.items() if (found := getattr(self, name))), None)

    @property
    def taken(self) -> tuple[str, ...]:
        """The fields of which one holds the score in a cell of JSON."""
        return (self.take,) if isinstance(self.take, str) else tuple(self.take or ())

    @property
    def explanations(self) -> Mapping[str, str]:
        """By dimension, the column that explains its score."""
        return self.explanation if isinstance(self.explanation, dict) else {}

    def column(self, name: str) -> str | None:
        """The column, or the JSON field, that holds this of every row."""
        found = "".join(self.item_columns[:1]) or None if name == "item" else getattr(self, name, None)
        return found if isinstance(found, str) else None

    def for_all(self) -> dict[str, str]:
        """What is fixed for every row."""
        return {name: str(value) for name, value in self.fixed if value is not None}

    def with_fixed(self, **values: str) -> Self:
        return self.model_copy(update={"fixed": self.fixed.model_copy(update=values)})

    def reading(self) -> Reading:
        """How the table in the file is read."""
        names = [getattr(self, name) for name in _COLUMNS if name != "item"] + self.item_columns
        names += [self.column("explanation"), *self.explanations.values(), *self.only, *self.without]
        names += self.wide[1].values() if self.wide else ()
        if self.dimension is None and self.columns is None and not self.json_cells:
            names += (self.dimensions or {}).values()
        columns = tuple(dict.fromkeys(name.strip() for name in names if name))
        item = "".join(self.item_columns[:1]).strip()
        return Reading(**self.form(), item=item, columns=columns, pattern=self.columns)

    def codes(self, dimension: str) -> Codes:
        labels = {**self.labels.get("", {}), **self.labels.get(dimension, {})}
        return Codes(labels, self.na, self.blank, self.decimal, is_numbered=self.cells == "numbered")

    @cached_property
    def scales(self) -> Mapping[str, GradeRange]:
        """By dimension ("" for all), the scores that are allowed."""
        if self.scale is None:
            return {}
        by_dimension = self.scale if isinstance(self.scale, dict) else {"": self.scale}
        return {name: _range(each) for name, each in by_dimension.items()}


class Source(SourcePart):
    """One file and how to read it."""

    file: Path


class MappingPart(SourcePart):
    """The whole mapping. What is beside `files` holds for every file that does not say otherwise."""

    instrument: str | None = None
    files: list[Source] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _each_file_once(self) -> MappingPart:
        names = [(each.file, each.sheet) for each in self.files or []]
        if len(set(names)) < len(names):
            raise ValueError("a file (or a sheet of it) is in `files` twice")
        return self


class RatingMapping(NamedTuple):
    """A mapping as read: its sources, and the instrument it names."""

    sources: tuple[Source, ...]
    instrument: str | None = None
    described: bool = False  # by a mapping, rather than by our own column names


def rating_mapping(given: Given, data: Path | None = None) -> RatingMapping:
    """The mapping, in place or in a YAML file. Files are named relative to it; `data` is the file where it names
    none."""
    part, place = read_mapping(given, MappingPart)
    folder = Path() if isinstance(given, Mapping) else Path(place).parent
    if part.files is None and data is None:
        raise FileError(f"{place}: name the files to read under `files`, or give the file beside the mapping")
    if part.files is not None and data is not None:
        raise FileError(f"{place} names its own files; give the mapping alone, without {data}")
    instrument = part.instrument
    if instrument is not None and instrument.endswith((".yaml", ".yml")):
        instrument = str(folder / instrument)
    shared = {name: getattr(part, name) for name in part.model_fields_set & SourcePart.model_fields.keys()}
    if data is not None:
        sources = [Source(file=data).model_copy(update=shared)]
    else:
        sources = [_with_shared(each, shared, folder) for each in part.files or ()]
    for each in sources:
        _check(each, f"{place}: {each.file}")
    sources = [sheet for each in sources for sheet in _by_sheet(each)]
    return RatingMapping(tuple(sources), instrument, described=True)


def mapping_grades(given: Given) -> dict[str, tuple[float, ...]]:
    """By dimension ("" for all), the grades of the scales that a mapping states; not ranges of any number."""
    part, _ = read_mapping(given, MappingPart)
    scales = {name: each for source in (part, *(part.files or ())) for name, each in source.scales.items()}
    return {name: each.values for name, each in scales.items() if each.values is not None}


def _with_shared(source: Source, shared: Mapping[str, Any], folder: Path) -> Source:
    """A file with what holds for all files; it adds to what is fixed for all."""
    more = {name: value for name, value in shared.items() if name not in source.model_fields_set}
    fixed = {name: value for name, value in source.fixed if value is not None}
    if "fixed" in shared:
        more["fixed"] = shared["fixed"].model_copy(update=fixed)
    return source.model_copy(update={**more, "file": folder / source.file})


def _by_sheet(source: Source) -> Iterator[Source]:
    """A workbook whose sheets are one table each, as several files."""
    if source.sheets is None:
        yield source
        return
    for place, name, sheet in source.sheets.named():
        yield source.with_fixed(**{place: name}).model_copy(update={"sheet": sheet, "sheets": None})


def _check(source: Source, place: str) -> None:
    wide = [name for name in (*WIDE, "columns", "score") if getattr(source, name)]
    if len(wide) > 1 and wide != ["columns", "score"]:
        raise FileError(
            f"{place}: `{wide[0]}` and `{wide[1]}` exclude each other: scores are in one column, in columns named "
            "after a pattern, or in a column for each item, rater or system"
        )
    if source.sheet and source.sheets:
        raise FileError(f"{place}: `sheet` and `sheets` exclude each other; keep one of them")
    if source.columns and source.score:
        raise FileError(
            f"{place}: `columns` and `score` exclude each other: scores are in one column, or in columns named "
            "after a pattern"
        )
    if source.take and source.json_cells:
        raise FileError(
            f"{place}: `take` is for cells that hold one score; with `cells: json` name the fields under "
            "`dimensions`"
        )
    if source.seconds and source.minutes:
        raise FileError(
            f"{place}: `seconds` and `minutes` both name the column of times; keep the one that is its unit"
        )


def _range(part: list[int] | RangePart) -> GradeRange:
    if isinstance(part, RangePart):
        return GradeRange(part.low, part.high)
    grades = range(part[0], part[1] + 1) if len(part) == 2 else part
    return GradeRange(part[0], part[-1], tuple(float(grade) for grade in grades))
