"""Which columns of two tables are what: guessed from each table by the recogniser, and what stays in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake import read_table, shown_of
from medjury.studies.inspection._column_names import is_measured
from medjury.studies.inspection._grades import scale_in_name
from medjury.studies.inspection._propose import Kind
from medjury.studies.inspection._recognise import reading_of, recognise
from medjury.tables import COLUMNS, ID_RULES, Answer, Doubt

SIDES = ("humans", "judges")
_PATIENTS = ("patient", "patient_id", "patientid", "mrn")
_OWN_FORMS: dict[str, dict[str, Any]] = {
    "REDCap export": {"forms": "started"},
    "Qualtrics survey": {"header_rows": 1},
}


@dataclass(frozen=True, slots=True)
class Guess:
    """One table: its name, its columns with their cells, what kind it is, and the mapping guessed for it."""

    side: str
    file: str
    kind: Kind
    columns: Mapping[str, list[str]]
    mapping: dict[str, Any]
    scale: tuple[float, float] | None = None  # the one that names of its columns state

    @property
    def title(self) -> str:
        return f"{self.side.upper()} ({self.file})"


def guess(path: Path, side: str, given: Mapping[str, Any]) -> Guess:
    """The mapping of one table, less what is given for both; nothing is guessed of what a person has described."""
    kind = recognise(path, wanted="ratings")
    described = path.is_dir() or path.suffix.lower() in (".yaml", ".yml")
    if described or kind.family not in ("ratings", "cases", "unknown"):
        return Guess(side, path.name, kind, {}, {})  # what is no table of ratings is refused by its reader
    columns = _columns(path, kind.mapping)
    mapping = dict(kind.columns or kind.mapping)
    if kind.name in _OWN_FORMS:
        mapping |= _OWN_FORMS[kind.name]
    elif _needs_import(kind.mapping):
        mapping = _whole(kind.mapping)
    elif not mapping.keys() - {*COLUMNS, "dimensions", "raters", "seconds", "probability", "fixed"}:
        mapping = _plain(mapping, given)
    patient = next((name for name in columns if name.casefold() in _PATIENTS), None)
    if patient is not None and patient != mapping.get("item") and not given.get("patient"):
        mapping["patient"] = patient
    scales = {scale for name in columns if (scale := scale_in_name(name)[1]) is not None}
    kept = {key: each for key, each in mapping.items() if key not in given}
    return Guess(side, path.name, kind, columns, kept, scales.pop() if len(scales) == 1 else None)


# What only the import of ratings reads: a table that begins further down, words as grades, sheets, gaps.
_BY_IMPORT = frozenset({
    "skip_rows", "header_rows", "sheet", "sheets", "cells", "labels", "decimal", "fill_down", "without", "take",
    "items", "systems", "delimiter",
})  # fmt: skip


def _needs_import(mapping: Mapping[str, Any]) -> bool:
    codes = [*mapping.get("na", ()), *mapping.get("blank", ())]
    is_nameless = isinstance(item := mapping.get("item"), list) or str(item).startswith("Unnamed: ")
    return (
        bool(mapping.keys() & _BY_IMPORT) or is_nameless or any(each.lstrip("-").isdigit() for each in codes)
    )


def _whole(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The whole mapping, less what the place of the file tells: who rated where nobody is named, and their kind."""
    kept = {name: each for name, each in mapping.items() if name not in ("scale", "rater_kind", "fixed")}
    fixed = {
        name: each for name, each in mapping.get("fixed", {}).items() if name not in ("rater", "dimension")
    }
    return kept | ({"fixed": fixed} if fixed else {})


def _plain(mapping: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Names of columns alone: the table's own reader tells what its columns of numbers are."""
    found = {name: mapping[name] for name in COLUMNS if name in mapping}
    named = mapping.get("dimensions", {})
    if any(name != column for name, column in named.items()):
        found["dimensions"] = dict(named)
    elif not given.get("scores") and (graded := [*named.values(), *mapping.get("raters", {}).values()]):
        found["scores"] = graded
    return found


def _columns(path: Path, mapping: Mapping[str, Any]) -> dict[str, list[str]]:
    try:
        table = read_table(path, reading_of(mapping))
        rows = [row.cells for row in table.rows]
    except MedjuryError:
        return {}
    return {name: [shown_of(row[at]) for row in rows] for at, name in enumerate(table.header) if name}


def column_doubt(guesses: Sequence[Guess], settings: Mapping[str, Any]) -> Doubt | None:
    """The first thing that names and cells of the columns leave open."""
    own = [merged(each, settings.get(each.side, {})) for each in guesses]
    return (
        _which_item(guesses, own, settings)
        or _items_that_meet(guesses, own, settings)
        or _judge_or_system(guesses, own, settings)
        or _more_scores(guesses, own, settings)
        or _json_columns(guesses, settings)
    )


def merged(found: Guess, stated: Mapping[str, Any]) -> dict[str, Any]:
    """What was stated of a table, and of the guess all that it leaves open."""
    wide = {"scores", "raters", "dimensions"} if stated.keys() & {"scores", "raters", "dimensions"} else set()
    taken = {str(each) for each in stated.values()}
    kept = {
        key: value
        for key, value in found.mapping.items()
        if key not in (*stated, *wide) and not (key in COLUMNS and str(value) in taken)
    }
    return {**kept, **stated}


def _which_item(
    guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Doubt | None:
    lacking = [
        each
        for each, mapping in zip(guesses, own, strict=True)
        if each.columns and not mapping.get("item") and "item" not in each.columns
        and "{item}" not in str(mapping.get("columns"))
    ]  # fmt: skip
    if settings.get("item"):
        return None
    if not lacking:
        return _number_or_item(guesses, own, settings)
    shared = [
        name for name in guesses[0].columns if name in guesses[1].columns and _tells_cases(guesses[0], name)
    ]
    if shared:
        meets = [len(_values(guesses[0], name) & _values(guesses[1], name)) for name in shared]
        answers = tuple(
            Answer(
                f"{name} ({count:,} of its values are in both tables)",
                {f"{side}.item": name for side in SIDES},
            )
            for name, count in zip(shared, meets, strict=True)
        )
        sure = answers[0] if len(answers) == 1 else None  # values that do not meet are the next question
        listed = "; ".join(f"{each.title} has {', '.join(each.columns)}" for each in lacking)
        return Doubt(f"Which column names the case? {listed}.", answers, sure)
    first = lacking[0]
    candidates = [name for name, cells in first.columns.items() if len(set(cells)) == len(cells)] or [
        *first.columns
    ]
    answers = tuple(Answer(name, {f"{first.side}.item": name}) for name in candidates[:9])
    return Doubt(f"Which column of {first.title} names the case? It has {', '.join(first.columns)}.", answers)


def _items_that_meet(
    guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Doubt | None:
    """Columns that name the case and share no value, where two others share most of theirs."""
    stated = any("item" in settings.get(each.side, {}) for each in guesses) or settings.get("item")
    if not stated and sum(isinstance(mapping.get("item"), list) for mapping in own) == 1:
        return _several_for_an_item(guesses, own)
    items = [str(mapping.get("item", "item")) for mapping in own]
    if (
        stated
        or settings.get("match")
        or any(name not in each.columns for name, each in zip(items, guesses, strict=True))
    ):
        return None
    if _meeting(guesses, items[0], items[1]):
        return None
    pairs = {
        (mine, theirs): _meeting(guesses, mine, theirs)
        for mine in guesses[0].columns
        for theirs in guesses[1].columns
        if _tells_cases(guesses[0], mine) and _tells_cases(guesses[1], theirs)
    }
    best = max(pairs, key=lambda pair: pairs[pair], default=None)
    if best is None or 2 * pairs[best] < min(
        len(_values(guesses[0], best[0])), len(_values(guesses[1], best[1]))
    ):
        return None
    sets = {f"{side}.item": name for side, name in zip(SIDES, best, strict=True)}
    kept = {f"{side}.item": name for side, name in zip(SIDES, items, strict=True)}
    meet = Answer(f"{best[0]} and {best[1]}: {pairs[best]:,} values are in both", sets)
    question = (
        f"{items[0]!r} of {guesses[0].title} and {items[1]!r} of {guesses[1].title} share no value. Which columns "
        "name the case?"
    )
    return Doubt(question, (meet, Answer(f"{items[0]} and {items[1]} all the same", kept)), meet)


def _places(found: Guess) -> set[str]:
    """What stands in the place of a pattern such as `judge_response_{system}`."""
    before, sign, after = str(found.mapping.get("columns", "")).partition("{system}")
    return {
        name[len(before) : len(name) - len(after)]
        for name in found.columns
        if sign and name.startswith(before) and name.endswith(after)
    }


def _several_for_an_item(guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]]) -> Doubt | None:
    """One table names its cases by several columns: those of the other that hold the same."""
    mine = 0 if isinstance(own[0].get("item"), list) else 1
    theirs = guesses[1 - mine]
    partners = []
    for name in own[mine]["item"]:
        counts = {
            other: _meeting(guesses, name, other) if mine == 0 else _meeting(guesses, other, name)
            for other in theirs.columns
            if other not in partners
        }
        own_values = _values(guesses[mine], name)  # as they are written, before any rule
        best = max(counts, key=partial(_likeness, own_values, theirs, counts), default="")
        values = min(len(_values(guesses[mine], name)), len(_values(theirs, best))) if best else 0
        if not best or 2 * counts[best] < max(values, 1):
            return None
        partners.append(best)
    item = own[1 - mine].get("item")
    same = Answer(" and ".join(partners), {f"{theirs.side}.item": partners})
    keep = Answer(f"{item}", {f"{theirs.side}.item": item})
    question = (
        f"{guesses[mine].title} names a case by {' and '.join(own[mine]['item'])} together. Which columns of "
        f"{theirs.title} do?"
    )
    return Doubt(question, (same, keep), same)


def _likeness(values: set[str], found: Guess, counts: Mapping[str, int], name: str) -> tuple[int, ...]:
    """How alike two columns are: as they are written, else by a rule that looks at more than their numbers."""
    theirs = _values(found, name)
    rules = [key for rule, key in ID_RULES.items() if rule != "compare numbers alone"]
    by_rule = max(len({key(each) for each in values} & {key(each) for each in theirs}) for key in rules)
    return len(values & theirs), by_rule, counts[name]


def _meeting(guesses: Sequence[Guess], mine: str, theirs: str) -> int:
    """How many cases two columns share, by their values or by the one number in each."""
    pairs = [_values(guesses[0], mine), _values(guesses[1], theirs)]
    return max(
        len({key(each) for each in pairs[0]} & {key(each) for each in pairs[1]}) for key in ID_RULES.values()
    )


def _number_or_item(
    guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Doubt | None:
    """Two columns `id` may number the rows of each table, where another column that both have names the case."""
    weak = all(
        str(mapping.get("item", "")).casefold() == "id" and "item" not in settings.get(each.side, {})
        for each, mapping in zip(guesses, own, strict=True)
    )
    others = [
        name
        for name in guesses[0].columns
        if name in guesses[1].columns and name.casefold() != "id" and _tells_cases(guesses[0], name)
        and not is_measured(name, guesses[0].columns[name])
        and 2 * len(_values(guesses[0], name) & _values(guesses[1], name)) > len(_values(guesses[0], name))
    ]  # fmt: skip
    if not weak or not others:
        return None
    names = [str(own[0]["item"]), *others]
    question = f"Both tables have the columns {' and '.join(names)}. Which of them names the case?"
    return Doubt(question, tuple(Answer(name, {f"{side}.item": name for side in SIDES}) for name in names))


def _tells_cases(found: Guess, name: str) -> bool:
    """More different values than a scale has grades, or a value of its own in every row."""
    cells = [each for each in found.columns[name] if each]
    return len(set(cells)) > 12 or len(set(cells)) == len(cells) > 1


def _values(found: Guess, name: str) -> set[str]:
    return {each for each in found.columns[name] if each}


def _judge_or_system(
    guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Doubt | None:
    """A column `model` of the judges alone: the judge, or whose answer it is?"""
    humans, judges = own
    column = judges.get("system")
    stated = column is None or "system" in settings.get("judges", {}) or settings.get("system")
    if stated or judges.get("rater") or humans.get("system") or "system" in guesses[0].columns:
        return None
    values = sorted(_values(guesses[1], str(column)))
    question = (
        f"{guesses[1].title}: the column {column!r} holds {', '.join(values[:4])}{', ...' if values[4:] else ''}, "
        f"and {guesses[0].title} has no such column. Does it name the judge that gave the score, or the system "
        "that wrote the answer?"
    )
    judge = Answer("the judge that gave the score", {"judges.rater": column})
    system = Answer("the system that wrote the answer", {"judges.system": column})
    return Doubt(question, (judge, system), judge if len(values) == 1 else None)


def _more_scores(
    guesses: Sequence[Guess], own: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> Doubt | None:
    """Numbers beside columns of grades that are no grades of a short scale: a mean of scores, or a weight?"""
    for each, mapping in zip(guesses, own, strict=True):
        listed = mapping.get("scores")
        if (
            not listed
            or settings.get("scores")
            or settings.get(each.side, {}).keys() & {"scores", "raters", "dimensions"}
        ):
            continue
        used = {*map(str, listed), *(str(mapping[name]) for name in COLUMNS if mapping.get(name))}
        more = [name for name in each.columns if name not in used and is_measured(name, each.columns[name])]
        if more:
            question = (
                f"{each.title}: {', '.join(listed)} look like scores. Is {', '.join(map(repr, more))}, which holds "
                "numbers of another kind, a column of scores too?"
            )
            without = Answer("no, it is something else", {f"{each.side}.scores": list(listed)})
            both = Answer("yes", {f"{each.side}.scores": [*listed, *more]})
            return Doubt(question, (without, both))
    return None


def _json_columns(guesses: Sequence[Guess], settings: Mapping[str, Any]) -> Doubt | None:
    """Several columns of JSON objects: what differs in their names is a system, or a rater."""
    for each in guesses:
        pattern = str(each.mapping.get("columns", ""))
        if each.mapping.get("cells") != "json" or not pattern or "columns" in settings.get(each.side, {}):
            continue
        others = [_places(other) for other in guesses]
        if others[0] and others[0] == others[1]:
            continue  # raters have names of their own: what both tables name is what was judged
        answers = tuple(
            Answer(words, {f"{each.side}.columns": pattern.replace("{system}", place)})
            for words, place in (("a system, whose answer was scored", "{system}"), ("a rater", "{rater}"))
        )
        return Doubt(f"{each.title}: several columns hold JSON ({pattern}). What does each name?", answers)
    return None
