"""Options that give names a value: `NAME=VALUE,NAME=VALUE`, once or more often."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.foundation.errors import MedjuryError


def assigned(entries: Sequence[str] | None, option: str) -> dict[str, list[str]]:
    """The values that each name is given."""
    found: dict[str, list[str]] = {}
    for entry in (part for text in entries or () for part in text.split(",")):
        name, equals, value = (each.strip() for each in entry.rpartition("="))
        if not equals or not name or not value:
            raise MedjuryError(f"{option} {entry}: write NAME=NAME")
        found.setdefault(name, []).append(value)
    return found


def one_each(entries: Sequence[str] | None, option: str) -> dict[str, str]:
    """The one value of each name; two different ones are refused."""
    found = {name: list(dict.fromkeys(values)) for name, values in assigned(entries, option).items()}
    for name, values in found.items():
        if len(values) > 1:
            raise MedjuryError(f"{option}: {name} is given twice, as {values[0]} and as {values[1]}")
    return {name: values[0] for name, values in found.items()}


def cut_columns(entries: Sequence[str] | None, option: str = "--group") -> dict[str, list[float]]:
    """`COLUMN` or `COLUMN=CUT,CUT` as the cuts of each column; none where it is taken as it is."""
    cuts: dict[str, list[float]] = {}
    for entry in entries or ():
        name, equals, points = entry.partition("=")
        try:
            cuts[name] = [float(point) for point in points.split(",")] if equals else []
        except ValueError:
            raise MedjuryError(
                f"{option} {entry}: write COLUMN=CUT,CUT with numbers, such as age=18,65"
            ) from None
    return cuts


def column_of_two(text: str) -> tuple[str, str, str]:
    """`COLUMN=EARLIER,LATER` in its parts."""
    column, equals, versions = text.partition("=")
    earlier, comma, later = versions.partition(",")
    if not equals or not comma:
        raise MedjuryError(f"--versions {text}: write COLUMN=EARLIER,LATER")
    return column, earlier, later
