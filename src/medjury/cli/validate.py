"""`medjury validate HUMANS JUDGES`: the verdict from two tables of scores, without a run. Doubts are asked at a
terminal, answered by `--yes`, and else refused with the question.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._table_options import names, show_notes
from medjury.cli._verdict_output import add_verdict_options, show_verdict
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.studies.inspection import TwoTables
    from medjury.tables import Answer, Doubt, RatingTable
    from medjury.validation import Validation


_WIDTH = 80


class UnansweredError(MedjuryError):
    """A question that nobody has answered: it says all that there is to say."""


def asker(*, yes: bool, quiet: bool, unanswered: list[Doubt]) -> Callable[[Doubt], Answer | None]:
    """Who answers: nobody is asked under `--yes`, and where standard input and output are no terminal (or must stay
    what a program can read) nobody can be: all that is open is gathered in `unanswered`."""
    if yes:
        return _suggested
    if is_terminal() and not quiet:
        return _asked
    return partial(_gathered, unanswered)


def _gathered(unanswered: list[Doubt], doubt: Doubt) -> Answer | None:
    """Go on as if the likeliest answer had been given, so that the questions behind it are found too."""
    if doubt.may_stay_open:
        return None
    unanswered.append(doubt)
    return doubt.suggested or doubt.answers[0]


def _refusal(unanswered: Sequence[Doubt]) -> UnansweredError:
    """All questions at once, each with its answers as options, and the options that the tables suggest."""
    if len(unanswered) == 1:
        try:
            _refused(unanswered[0])
        except UnansweredError as error:
            return error
    lines = [f"{len(unanswered)} questions are open."]
    for number, each in enumerate(unanswered, start=1):
        lines.append(f"{number}. {each.question}")
        lines += [f"     {answer.words}: {answer.option}" for answer in each.answers]
    taken = [each.suggested for each in unanswered if each.suggested]
    if len(taken) == len(unanswered):
        lines.append("--yes takes all that the tables suggest: " + " ".join(each.option for each in taken))
    elif taken:
        lines.append("The tables suggest " + " ".join(each.option for each in taken))
    return UnansweredError("\n".join(lines))


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _suggested(doubt: Doubt) -> Answer | None:
    if doubt.suggested is None:
        if doubt.may_stay_open:
            return None
        raise UnansweredError(
            _words(doubt, "The tables suggest neither answer, so --yes cannot answer this. ")
        )
    return replace(doubt.suggested, words=f"{doubt.suggested.words} (--yes)")


def _refused(doubt: Doubt) -> Answer | None:
    if doubt.may_stay_open:
        return None
    more = f"\n--yes takes {doubt.suggested.words!r}." if doubt.suggested else ""
    raise UnansweredError(_words(doubt, "") + more)


def _words(doubt: Doubt, start: str) -> str:
    ways = "".join(f"\n  {each.words}: {each.option}" for each in doubt.answers)
    return f"{doubt.question} {start}Answer with one of these options:{ways}"


def _asked(doubt: Doubt) -> Answer | None:
    """Ask at the terminal; Enter takes the answer that the tables speak for."""
    print("\n" + textwrap.fill(doubt.question, _WIDTH))
    for number, each in enumerate(doubt.answers, start=1):
        mark = " (Enter)" if each is doubt.suggested else ""
        print(
            textwrap.fill(
                f"{each.words}{mark}", _WIDTH, initial_indent=f"  {number}  ", subsequent_indent="     "
            )
        )
    more = ", or LOW HIGH" if doubt.typed == "scale" else ""
    numbers = f"1 to {len(doubt.answers)}" if len(doubt.answers) > 1 else "1"
    while True:
        try:
            said = input(f"{numbers}{more}, q to stop: ").strip()
        except EOFError:
            raise UnansweredError(_words(doubt, "Nobody answered. ")) from None
        if said.casefold() in ("q", "quit"):
            raise UnansweredError(_words(doubt, "Stopped. "))
        if not said and doubt.suggested is not None:
            return doubt.suggested
        if said.isdecimal() and 1 <= int(said) <= len(doubt.answers):
            return doubt.answers[int(said) - 1]
        if doubt.typed and (ends := re.fullmatch(r"(-?[\d.]+)[\s,]+(?:to\s+)?(-?[\d.]+)", said)) is not None:
            from medjury.tables import Answer

            low, high = map(float, ends.groups())
            if low < high:
                return Answer(f"{low:g} to {high:g}", {doubt.typed: [low, high]})
        print("That is none of the answers.")


def line_of_mapping(text: str) -> tuple[str, Any]:
    """`judges.rater=model` as a line of the mapping; lists are parted by commas."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise argparse.ArgumentTypeError(f"{shlex.quote(text)}: write KEY=VALUE, such as judges.rater=model")
    last = key.strip().rpartition(".")[2]
    listed = last in ("scores", "raters", "dimensions") or (last == "item" and "," in value)
    return key.strip(), [each.strip() for each in value.split(",")] if listed else value.strip()


_ABOUT = """
HUMANS and JUDGES are CSV, TSV, Excel, Parquet or JSON files, long (item, rater, dimension, score) or wide (item
and a column for each rater, or for each dimension), exports of REDCap, Label Studio or Qualtrics, mappings (.yaml)
or run folders. What the columns are is guessed and shown. What stays in doubt (which column names the case, ids or
scales that the tables write differently) is asked at a terminal and refused elsewhere, with the option that
answers it; --yes takes what the tables suggest and turns no scale around. The answers are written to mapping.yaml
in the folder of the report. At a terminal, and with --yes, that folder is `validation` unless --out names another.
Two judges or more form a jury (the mean, where more than half gave a score): the verdict is on the jury.
Nobody recorded how scores in a table came about, so the best word here is AUXILIARY; rules that are given with
--rules count as stated before only where they are a registered protocol (.json) and the judges' scores have times
(created_at) that come after it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("humans", metavar="HUMANS", help="clinicians' scores")
    add("judges", metavar="JUDGES", help="judges' scores of the same answers")
    add("--item", metavar="COLUMN", help="the column that names the case (item)")
    add("--system", metavar="COLUMN", help="the column that names whose answer it is (system)")
    add(
        "--patient",
        metavar="COLUMN",
        help="the column that names the patient (patient): whole patients count",
    )
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="whole grades from lowest to highest")
    add(
        "--instrument",
        metavar="NAME",
        help="a built-in instrument or your .yaml file: scales, which end is good",
    )
    add("--columns", choices=("raters", "dimensions"), help="what the columns of wide tables are")
    add("--scores", metavar="C[,C2...]", type=names, help="the columns of wide tables that hold scores")
    add(
        "--dimension", metavar="NAME", help="what the tables' only dimension is called, where they do not say"
    )
    add("--raters", metavar="R[,R2...]", type=names, help="judge each of these (default: the jury)")
    add("--jury", choices=("mean", "median", "majority"), help="how the judges' scores become one (mean)")
    add("--yes", action="store_true", help="ask nothing: take every answer that the tables suggest")
    add(
        "--mapping",
        metavar="FILE",
        help="how the tables are read, as an earlier call wrote it (mapping.yaml)",
    )
    add("--map", metavar="KEY=VALUE", action="append", default=[], type=line_of_mapping,
        help="one line of the mapping, such as judges.rater=model (as often as needed)")  # fmt: skip
    add("--rules", metavar="FILE", help="the rules: a registered protocol, a study file, or a .yaml of rules")
    add(
        "--out",
        metavar="FOLDER",
        help="also write a report, the rules' findings and the ratings as they were read",
    )
    add_verdict_options(parser, _ABOUT)


def run(options: argparse.Namespace) -> int:
    from medjury.foundation.errors import MedjuryError
    from medjury.store.runs import GateRules, files
    from medjury.studies import read_rules, with_stated_roles
    from medjury.studies.inspection import TwoTables
    from medjury.tables import table_of
    from medjury.validation import evidence_of, validation_of

    if options.out and (Path(options.out) / files.MANIFEST).exists():
        raise MedjuryError(f"{options.out} is a run folder, which keeps its own ratings; name another --out")
    rules, protocol = read_rules(options.rules) if options.rules else (GateRules(), None)
    settings = TwoTables.known(Path(options.mapping) if options.mapping else None, dict(options.map))
    given = ("item", "system", "patient", "scale", "columns", "scores", "dimension")
    unanswered: list[Doubt] = []
    tables = TwoTables(
        Path(options.humans),
        Path(options.judges),
        asker(yes=options.yes, quiet=options.json, unanswered=unanswered),
        (lambda text: show_notes([text])) if options.json else print,
        settings,
        {name: getattr(options, name) for name in given},
        options.instrument,
    )
    try:
        table = table_of(
            tables.panels(), scale=tables.scale, instrument=options.instrument, jury=options.jury, rules=rules,
            protocol=protocol,
        )  # fmt: skip
    except MedjuryError:
        if unanswered:
            raise _refusal(unanswered) from None
        raise
    if unanswered:
        raise _refusal(unanswered)
    table = table if options.rules is None else with_stated_roles(table, options.rules)
    table = replace(table, notes=(*tables.settled, *tables.taken, *table.notes))
    table.chosen(rules.severe_dimensions)  # a name that is no dimension is refused
    evidence = evidence_of(table, raters=options.raters, resamples=options.resamples, seed=options.seed)
    found = validation_of(evidence, raters=() if options.raters is None else evidence.roles.raters)
    notes = (*table.notes, *table.warnings)
    if options.json:
        show_notes(notes)
    else:
        # Which column is what has been shown already, and what was asked at a terminal stands above.
        asked = tables.settled if is_terminal() and not options.yes else ()
        print(
            "",
            *dict.fromkeys(each for each in notes if " is the column " not in each and each not in asked),
            "",
            sep="\n",
        )
    status = show_verdict(found, options)
    if not options.json:
        print("", _agreement(table, options), "", _what_to_do(found), sep="\n")
    if out := options.out or (not options.json and (options.yes or is_terminal()) and _new_folder()):
        _write(Path(out), evidence, found, tables, quiet=options.json)
    return status


def _agreement(table: RatingTable, options: argparse.Namespace) -> str:
    """How well the jury and the clinicians agree, beside how well clinicians agree with one another."""
    from medjury.analysis.agreement import agreement

    asked = {name: getattr(options, name) for name in ("raters", "resamples", "seed")}
    try:
        found = agreement(table, **{name: each for name, each in asked.items() if each is not None})
    except MedjuryError as error:
        return f"Agreement: {error}"
    return found.short_text()


def _what_to_do(found: Validation) -> str:
    """One sentence: what would help most where the word is worst."""
    from medjury.validation import ORDER

    worst = max(found.verdicts, key=lambda each: ORDER.index(each.word), default=None)
    if worst is None:
        return "What to do: rate the same answers by clinicians and judges."
    to_do = next((rule.to_do for rule in worst.not_met if rule.to_do), "")
    if to_do and worst.word != "AUXILIARY":
        return f"What to do: {found.about(to_do, worst.rater)}"
    return (
        "What to do: use the scores beside clinicians' own, not in place of them; register a study (medjury "
        "register) for a verdict without a person beside it."
    )


def _new_folder() -> str:
    """`validation`, or the first `validation-2` that is not there: an earlier report is never written over."""
    names = ("validation", *(f"validation-{number}" for number in range(2, 10_000)))
    return next(name for name in names if not Path(name).exists())


def _write(folder: Path, evidence: object, found: object, tables: TwoTables, *, quiet: bool) -> None:
    from medjury.foundation.files import private_folder, whole_file
    from medjury.report import write_page
    from medjury.store.ratings import guard_frame
    from medjury.validation import Evidence, Validation

    assert isinstance(evidence, Evidence) and isinstance(found, Validation)
    private_folder(folder)
    same = found.raters == evidence.roles.on_trial  # those that the page tells of
    page = write_page(folder, evidence=evidence, validation=found if same else None)
    with whole_file(folder / "verdicts.json") as file:
        file.write(found.verdicts_json() + "\n")
    with whole_file(folder / "ratings.csv") as file:
        file.write(guard_frame(evidence.table.everything.drop("row")).write_csv())
    mapping = folder / "mapping.yaml"
    with whole_file(mapping) as file:
        file.write(tables.text())
    if not quiet:
        print(f"\nReport: {page}\nHow the tables were read, for next time: --mapping {mapping}")
