"""The mapping file: which column of a clinician's spreadsheet is what. Checked before anything is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.documents import Document, read_document, validate
from medjury.foundation.fields import Part
from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._import.cell import GradeRange, code_of
from medjury.store.ratings._import.source import RatingMapping, Source
from medjury.store.ratings._profiles import PROFILE
from medjury.store.ratings._rating import RaterKind

Code = str | int | float
_PLACES = ("item", "system", "rater", "dimension", "repeat")
_PLACE = re.compile(r"\{(\w+)\}")


class RangePart(Part):
    """Any number from `from` to `to`, not whole numbers alone."""

    low: float = Field(alias="from")
    high: float = Field(alias="to")


ScalePart = list[int] | RangePart


class FixedPart(Part):
    system: str | None = None
    rater: str | None = None
    repeat: int | None = Field(default=None, ge=0)
    instrument: str | None = None
    dimension: str | None = None
    panel: str | None = None


class SourcePart(Part):
    """What a mapping may say about a file."""

    sheet: str | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    header_rows: int = Field(default=1, ge=1, le=5)
    rows: str | None = None
    item: str | None = None
    system: str | None = None
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
    content: str | None = None
    content_hash: str | None = None
    dimensions: list[str] | dict[str, str] | None = Field(default=None, min_length=1)
    columns: str | None = None
    cells: Literal["score", "json"] = "score"
    take: str | None = None
    decimal: Literal[".", ","] = "."
    forms: Literal["started", "all"] = "started"
    fixed: FixedPart = FixedPart()
    rater_kind: RaterKind = "clinician"
    labels: dict[Code, float] | dict[str, dict[Code, float]] = {}
    na: list[Code] = []
    blank: list[Code] = []
    only: dict[str, Code | list[Code]] = {}
    scale: ScalePart | dict[str, ScalePart] | None = None

    @field_validator("labels", "na", "blank", "only", mode="before")
    @classmethod
    def _words_are_quoted(cls, value: Any) -> Any:
        if _holds_truth_values(value):
            raise ValueError("YAML reads yes, no, on and off as true and false: put such words in quotes")
        return value

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


class FilePart(SourcePart):
    file: str


class MappingFile(SourcePart):
    """The whole mapping. What stands beside `files` holds for every file that does not say otherwise."""

    instrument: str | None = None
    files: list[FilePart] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _each_file_once(self) -> MappingFile:
        names = [(each.file, each.sheet) for each in self.files or []]
        if len(set(names)) < len(names):
            raise ValueError("a file (or a sheet of it) stands in `files` twice")
        return self


def read_mapping(path: str | os.PathLike[str], data: Path | None = None) -> RatingMapping:
    """The mapping in a YAML file. Files are named relative to it; `data` is the file where it names none."""
    place = Path(path)
    document = read_document(place)
    part = validate(document, MappingFile)
    if part.files is None and data is None:
        raise RatingsError(
            f"{place}: name the files to read under `files`, or give the file beside the mapping"
        )
    if part.files is not None and data is not None:
        raise RatingsError(f"{place} names its own files; give the mapping alone, without {data}")
    instrument = part.instrument
    if instrument is not None and instrument.endswith((".yaml", ".yml")):
        instrument = str(place.parent / instrument)
    if part.files is None and data is not None:
        return RatingMapping((_source(part, {}, data, str(place)),), instrument, described=True)
    shared = {name: getattr(part, name) for name in part.model_fields_set & SourcePart.model_fields.keys()}
    sources = [_source(each, shared, place.parent / each.file, str(place)) for each in part.files or ()]
    return RatingMapping(tuple(sources), instrument, described=True)


def parse_mapping(settings: Mapping[str, Any], data: Path) -> RatingMapping:
    """The same settings as a dict, for one file."""
    part = validate(Document("mapping", dict(settings), {}), MappingFile)
    return RatingMapping((_source(part, {}, data, "mapping"),), part.instrument, described=True)


def _source(part: SourcePart, shared: Mapping[str, Any], path: Path, place: str) -> Source:
    def setting(name: str) -> Any:
        if name in shared and name not in part.model_fields_set:
            return shared[name]
        return getattr(part, name)

    fixed = {
        name: str(value)
        for each in (shared.get("fixed", ()), part.fixed)  # a file adds to what is fixed for all
        for name, value in each
        if value is not None
    }
    dimensions = setting("dimensions")
    explanation = setting("explanation")
    columns, cells = setting("columns"), setting("cells")
    if columns and setting("score"):
        raise RatingsError(
            f"{place}: {path}: `columns` and `score` exclude each other: scores stand in one column, or in "
            "columns named after a pattern"
        )
    if setting("take") and cells == "json":
        raise RatingsError(
            f"{place}: {path}: `take` is for cells that hold one score; with `cells: json` name the fields "
            "under `dimensions`"
        )
    if setting("seconds") and setting("minutes"):
        raise RatingsError(
            f"{place}: {path}: `seconds` and `minutes` both name the column of times; keep the one that is its unit"
        )
    labels = setting("labels")
    by_dimension = any(isinstance(each, dict) for each in labels.values())
    return Source(
        path=path,
        sheet=setting("sheet"),
        delimiter=setting("delimiter"),
        encoding=setting("encoding"),
        header_rows=setting("header_rows"),
        rows=setting("rows"),
        item=setting("item"),
        system=setting("system"),
        rater=setting("rater"),
        repeat=setting("repeat"),
        dimension=setting("dimension"),
        score=setting("score"),
        explanation=explanation if isinstance(explanation, str) else None,
        explanations=explanation if isinstance(explanation, dict) else {},
        seconds=setting("seconds"),
        minutes=setting("minutes"),
        probability=setting("probability"),
        **{name: setting(name) for name in PROFILE},
        content=setting("content"),
        content_hash=setting("content_hash"),
        dimensions={name: name for name in dimensions} if isinstance(dimensions, list) else dimensions,
        columns=columns,
        json_cells=cells == "json",
        take=setting("take"),
        decimal=setting("decimal"),
        guard_forms=setting("forms") == "started",
        fixed=fixed,
        rater_kind=setting("rater_kind"),
        labels={name: _labels(each) for name, each in (labels if by_dimension else {"": labels}).items()},
        not_applicable=frozenset(map(code_of, setting("na"))),
        not_rated=frozenset(map(code_of, setting("blank"))),
        only={
            name: frozenset(map(code_of, value if isinstance(value, list) else [value]))
            for name, value in setting("only").items()
        },
        scales=_scales(setting("scale")),
    )


def _holds_truth_values(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_truth_values(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(map(_holds_truth_values, value))
    return isinstance(value, bool)


def _labels(labels: Mapping[Code, float]) -> dict[str, float]:
    return {code_of(word): number for word, number in labels.items()}


def _scales(scale: Any) -> dict[str, GradeRange]:
    if scale is None:
        return {}
    return {name: _scale(each) for name, each in (scale if isinstance(scale, dict) else {"": scale}).items()}


def _scale(part: list[int] | RangePart) -> GradeRange:
    if isinstance(part, RangePart):
        return GradeRange(part.low, part.high)
    grades = range(part[0], part[1] + 1) if len(part) == 2 else part
    return GradeRange(part[0], part[-1], tuple(float(grade) for grade in grades))
