"""The results of a suite as files: read again, they make the same leaderboard without asking anybody.

`results.json` has the facts, `items.jsonl` and `answers.jsonl` what was asked and said. They hold the texts of the
data, so they are their owner's alone; what may be published is in the folder `leaderboard`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_file
from medjury.suites._leaderboard import AnswerResult, ItemResult, Results
from medjury.suites._running._checks import read_checks

FACTS, ITEMS, ANSWERS = "results.json", "items.jsonl", "answers.jsonl"
_Made = TypeVar("_Made")


def save_results(results: Results, folder: Path) -> None:
    """Write the results into a folder; a half-written file never has the name."""
    private_folder(folder)
    facts = asdict(results)
    _write_lines(folder / ITEMS, facts.pop("items"))
    _write_lines(folder / ANSWERS, facts.pop("answers"))
    del facts["reach"], facts["memory"]  # they have a file of their own, which no run writes anew
    with whole_file(folder / FACTS) as file:
        json.dump(facts, file, indent=1, ensure_ascii=False, allow_nan=False)


def read_results(folder: str | Path) -> Results:
    """The results that `medjury bench run` wrote into a folder."""
    place = Path(folder)
    if not (place / FACTS).is_file():
        raise MedjuryError(f"{place}: holds no {FACTS}; is it the folder of `medjury bench run`?")
    try:
        facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
        items = tuple(_made(ItemResult, each) for each in _lines(place / ITEMS))
        answers = tuple(_made(AnswerResult, each) for each in _lines(place / ANSWERS))
        made = _made(Results, {**facts, "items": (), "answers": ()})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MedjuryError(f"{place}: the results cannot be read ({error}); run the suite again") from None
    return replace(made, items=items, answers=answers, **read_checks(place))


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with whole_file(path) as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False) + "\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _made(kind: type[_Made], value: dict[str, Any]) -> _Made:
    """The frozen data of a JSON object; names that this version does not know are left aside."""
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: _value(hints[name], each) for name, each in value.items() if name in known})


def _value(hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(value, dict):
        return _made(hint, value)  # type: ignore[arg-type]
    inner = [each for each in get_args(hint) if is_dataclass(each)]
    if inner and isinstance(value, dict):
        # `JuryResult | None`, or a mapping to estimates
        if type(None) in get_args(hint):
            return _made(inner[0], value)  # type: ignore[arg-type]
        return {name: _made(inner[0], each) for name, each in value.items()}  # type: ignore[arg-type]
    if isinstance(value, list):
        return tuple(_made(inner[0], each) if inner else each for each in value)  # type: ignore[arg-type]
    return value
