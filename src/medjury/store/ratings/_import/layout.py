"""Finds in a table's header what a source says, or what our own column names say.

Four layouts: long (a column names the dimension), wide (a column per dimension), patterned (column names hold
the item, system, rater or dimension), and any of them with a JSON object of scores in each cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from medjury.foundation.documents import nearest
from medjury.intake import FileError
from medjury.store.ratings._import.mapping import SourcePart
from medjury.store.ratings._profiles import PROFILE

_ALWAYS = (
    "item", "system", "patient", "rater", "repeat", "seconds", "minutes", "probability", "content_hash",
    "instrument", "rater_kind", *PROFILE,
)  # fmt: skip
_LONG_ONLY = ("dimension", "explanation", "status", "reason")


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column that holds scores: what its name says about them, and where their explanation is."""

    name: str
    says: Mapping[str, str]
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of one table are read. `fields` tells which column holds which field of a row."""

    source: SourcePart
    index: Mapping[str, int]
    fields: Mapping[str, str]
    scores: tuple[ScoreColumn, ...]
    labels: Mapping[str, str] = field(default_factory=dict)  # what is known of the case: label, its column

    @property
    def unused(self) -> list[str]:
        """Columns that nothing reads."""
        used = {*self.fields.values(), *self.source.only, *self.source.without, self.source.content}
        used |= {*self.labels.values(), *self.source.item_columns}
        used |= {name for each in self.scores for name in (each.name, each.explanation)}
        return [name for name in self.index if name not in used]


def find_layout(
    file: str,
    header: Sequence[str],
    source: SourcePart,
    dimensions: Sequence[str],
    labels: Mapping[str, str] | None = None,
    rater: str = "",
) -> Layout:
    """The layout of a table; refused where a column that is named, or needed, is not there.

    `dimensions` are the instrument's: those that JSON cells are asked for where the mapping lists none. `labels`
    are columns that say something of the case; one of several files may have them. `rater` gave all of it where no
    column says who did.
    """
    header = list(header)
    index = {name: number for number, name in enumerate(header) if name}
    if source.json_cells and source.dimensions is None:
        if not dimensions:
            raise FileError(
                f"{file}: list the `dimensions` to take from the JSON cells, or give an instrument"
            )
        source = source.model_copy(update={"dimensions": {name: name for name in dimensions}})
    fields = _fields(file, index, source)
    named = source.columns or source.score or source.wide or (source.dimensions and not source.json_cells)
    scores = _score_columns(file, index, source, fields) if named or "score" in index else ()
    others = (*source.only, *source.without, *source.fill_down, *source.item_columns[1:])
    for name in (*others, *([source.content] if source.content else ())):
        _need(file, index, name)
    given = {*fields, *source.for_all(), *(place for each in scores for place in each.says)}
    given |= {"score"} if scores else set()
    given |= {"dimension"} if source.json_cells else set()
    if rater and "rater" not in given:
        source, given = source.with_fixed(rater=rater), {*given, "rater"}
    if missing := [name for name in ("item", "rater", "dimension", "score") if name not in given]:
        which = (
            f"which column is the {missing[0]}"
            if len(missing) == 1
            else f"which columns are {_all_of(missing)}"
        )
        raise FileError(
            f"{file}: {which}? It has {', '.join(index)}. Name the "
            f"columns so, or say it in a mapping file (`{missing[0]}: COLUMN`): `medjury look FILE --write "
            "mapping.yaml` proposes one."
        )
    known = {label: column.strip() for label, column in (labels or {}).items() if column.strip() in index}
    if any("item" in each.says for each in scores):
        of_case = [f"`{name}`" for name in ("content", "content_hash") if getattr(source, name)]
        for name in [*of_case, *(f"the label {label!r}" for label in known)]:
            raise FileError(f"{file}: a row is about several items, so {name} cannot be one column of it")
    return Layout(source, index, fields, scores, known)


def _fields(file: str, index: Mapping[str, int], source: SourcePart) -> dict[str, str]:
    is_long = source.columns is None and source.wide is None
    long = is_long and (source.dimensions is None or source.dimension is not None)
    fields = {}
    for name in (*_ALWAYS, *_LONG_ONLY):
        if name == "explanation" and source.json_cells:
            continue  # it is a field of the JSON object
        column = source.column(name) if name not in ("rater_kind", "instrument") else None
        if column is not None:
            fields[name] = _need(file, index, column)
        elif name in index and name not in source.for_all() and (long or name in _ALWAYS):
            fields[name] = name
    return fields


def _score_columns(
    file: str, index: Mapping[str, int], source: SourcePart, fields: Mapping[str, str]
) -> tuple[ScoreColumn, ...]:
    def because(dimension: str | None) -> str | None:
        column = source.explanations.get(dimension or "")
        return None if column is None else _need(file, index, column)

    if source.wide is not None:
        place, columns = source.wide
        return tuple(ScoreColumn(_need(file, index, each), {place: name}) for name, each in columns.items())
    if source.columns is not None:
        taken = {*fields.values(), *source.only, *source.explanations.values(), source.content}
        free = {name: at for name, at in index.items() if name not in taken}
        found = [ScoreColumn(name, says, because(says.get("dimension")))
                 for name, says in _matches(file, source.columns, free, source)]  # fmt: skip
        if not found:
            raise FileError(f"{file}: no column matches {source.columns!r}; it has {', '.join(index)}")
        return tuple(found)
    if source.dimensions is not None and source.dimension is None and not source.json_cells:
        return tuple(
            ScoreColumn(_need(file, index, column), {"dimension": name}, because(name))
            for name, column in source.dimensions.items()
        )
    return (ScoreColumn(_need(file, index, source.score or "score"), {}),)


def _matches(
    file: str, pattern: str, index: Mapping[str, int], source: SourcePart
) -> list[tuple[str, dict[str, str]]]:
    """The columns whose name follows the pattern, and what each place of it holds. A name that can be read in
    several ways is refused, unless the dimensions that the mapping lists leave one of them."""
    names = None
    if source.dimensions is not None and not source.json_cells:
        names = {label: name for name, label in source.dimensions.items()}
    found = []
    parts = re.split(r"\{(\w+)\}", pattern.strip())
    for column in index:
        ways = list(_readings(parts, column))
        if (
            names is not None
        ):  # others are dimensions that the mapping does not list: columns that are not used
            ways = [each for each in ways if each.get("dimension", "") in ("", *names)]
        if len(ways) > 1:
            readings = ", or ".join(
                " and ".join(f"{place} {text!r}" for place, text in each.items()) for each in ways
            )
            raise FileError(
                f"{file}: the column {column!r} can be read in {len(ways)} ways by {pattern!r}: {readings}. List "
                "the dimensions in the mapping (`dimensions: {NAME: its text in the column's name}`), or rename "
                "the columns so that another sign is between the places"
            )
        for says in ways:
            if names is not None and "dimension" in says:
                says = {**says, "dimension": names[says["dimension"]]}
            found.append((column, says))
    return found


def _readings(parts: Sequence[str], text: str) -> Iterator[dict[str, str]]:
    """Every way to read a text by a pattern in parts: fixed words and places in turn."""
    fixed, *rest = parts
    if not text.startswith(fixed):
        return
    left = text[len(fixed) :]
    if not rest:
        if not left:
            yield {}
        return
    place, *after = rest
    for end in range(1, len(left) + 1):
        for others in _readings(after, left[end:]):
            yield {place: left[:end].strip(), **others}


def _need(file: str, index: Mapping[str, int], column: str) -> str:
    if column.strip() not in index:
        raise FileError(f"{file}: there is no column {column.strip()!r}; {nearest(column, list(index))}")
    return column.strip()


def _all_of(names: Sequence[str]) -> str:
    """Two or more names as a sentence has them."""
    return f"the {', the '.join(names[:-1])} and the {names[-1]}"
