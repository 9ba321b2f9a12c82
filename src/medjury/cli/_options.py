"""Options that several commands share, what a command found as JSON, and defaults from the environment."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TextIO

from medjury.foundation.errors import MedjuryError


def complete_options(parser: argparse.ArgumentParser) -> None:
    """`--wide` for every command that prints a result, and defaults from the environment."""
    for command in leaves(parser):
        if "--json" in command._option_string_actions:
            command.add_argument(
                "--wide",
                action="store_true",
                help="on a terminal too, whole tables with every column and digit, as in a pipe",
            )
        for variable, name in VARIABLES.items():
            if f"--{name}" in command._option_string_actions:
                command.set_defaults(**{name: stated(variable)})


# Switches that several commands have, each with what it does.
_FLAGS = {
    "--allow-unvalidated": "use a jury that failed its gate; results are marked",
    "--dry-run": "check everything and print calls, tokens, price",
    "--keep-going": "continue even if the first answers cannot be used, or a model is unavailable",
    "--no-preflight": "do not ask each model one short question before the first case",
    "--quiet": "no progress line",
    "--retry-unscored": "ask again for all that is unscored, not only after transient failures",
    "--skip-bad-cases": "go on without rows that cannot be read",
}


def add_flags(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(name, action="store_true", help=_FLAGS[name])


def add_draws(
    parser: argparse.ArgumentParser,
    *,
    resamples: int | None = None,
    seed: int | None = None,
    usual: tuple[str, str] = ("default: the run's, else 2,000", "default: the run's, else 0"),
) -> None:
    """How intervals are drawn; `usual` states what holds where nobody gives a number."""
    add = parser.add_argument
    add("--resamples", type=int, default=resamples, metavar="N", help=f"bootstrap resamples ({usual[0]})")
    add("--seed", type=int, default=seed, metavar="N", help=f"seed of resamples and folds ({usual[1]})")


def add_signers(
    parser: argparse.ArgumentParser, words: str = "refuse it unless one of these keys signed it"
) -> None:
    parser.add_argument("--signers", "--key", metavar="FILE", help=words)


def tell(options: argparse.Namespace, text: str, content: object) -> None:
    """What was found: in words for a reader, and as JSON where a program asks."""
    print(text, file=for_reader(options))
    if options.json:
        print_json(content)


def show(options: argparse.Namespace, found: Shown) -> None:
    """A result as JSON or in words."""
    print(found.to_json() if options.json else found.text())


class Shown(Protocol):
    def to_json(self) -> str: ...

    def text(self) -> str: ...


def add_overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="PATH=VALUE",
        help="a value in place of the study file's, such as budget.calls=50 or judges.0.temperature=0; may be "
        "repeated; the manifest keeps it",
    )


def for_programs(options: argparse.Namespace) -> bool:
    """Whether the output is read by a program, which must find it as it is."""
    named = any(getattr(options, name, False) for name in ("json", "csv", "schema"))
    return named or options.command == "completion"


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that take no further command."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for each in dict.fromkeys(action.choices.values()):
            yield from leaves(each)


def add_json(*parsers: argparse.ArgumentParser) -> None:
    for parser in parsers:
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def print_json(content: object) -> None:
    """Every digit; what does not exist is null, never NaN."""
    print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


def for_reader(options: argparse.Namespace) -> TextIO:
    """Where text goes that a reader wants and a program does not."""
    return sys.stderr if options.json else sys.stdout


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


def add_case_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", metavar="CASES", help="file or folder of cases")
    parser.add_argument(
        "--mapping", metavar="FILE", help="YAML file that says which column is which; a study file will do"
    )
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="one entry of the mapping, such as candidate=ai_summary or texts.question=q; may be repeated",
    )


def mapping_of(options: argparse.Namespace) -> dict[str, Any] | None:
    """The mapping of columns that the options describe."""
    from medjury.foundation.documents import read_document

    mapping: dict[str, Any] = {}
    if options.mapping:
        document = read_document(options.mapping)
        value = document.value
        if isinstance(value, dict) and isinstance(value.get("cases"), dict | str):  # a study file
            value = value["cases"].get("mapping") if isinstance(value["cases"], dict) else None
        if value is not None and not isinstance(value, dict):
            raise MedjuryError(document.complaint((), "the file must map fields to columns"))
        mapping = dict(value or {})
    for entry in options.column:
        field, equals, column = entry.partition("=")
        if not equals or not field or not column:
            raise MedjuryError(f"--column {entry}: write FIELD=COLUMN, such as candidate=ai_summary")
        group, dot, name = field.partition(".")
        if dot:
            mapping[group] = {**mapping.get(group, {}), name: column}
        else:
            mapping[field] = column
    return mapping or None


# Variable -> the option whose default it is, in every command that has it.
VARIABLES = {"MEDJURY_QUIET": "quiet", "MEDJURY_WIDE": "wide"}
_YES, _NO = ("1", "yes", "true", "on"), ("", "0", "no", "false", "off")


def stated(variable: str) -> bool:
    said = os.environ.get(variable, "").strip().lower()
    if said not in (*_YES, *_NO):
        raise MedjuryError(f"the environment variable {variable} is {said!r}; set it to 1 or 0, or unset it")
    return said in _YES
