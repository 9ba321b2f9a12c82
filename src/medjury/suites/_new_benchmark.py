"""A site's own benchmark: the YAML file, and the instrument of its jury where it has a scale of its own."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from medjury.foundation.documents import yaml_text
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.intake.cases import read_rows
from medjury.suites._benchmark import Benchmark
from medjury.suites._library import OTHER, load_benchmark
from medjury.suites._loaders._table import ROW

# Which column of a table is which: a guess that is shown, and that every option of the command can put right.

_IDS = ("id", "item", "itemid", "caseid", "case", "questionid", "qid", "key", "uid", "number", "no", "index")
_GOLDS = (
    "gold", "answer", "correctanswer", "rightanswer", "correct", "label", "target", "reference", "groundtruth",
    "expected", "expectedanswer", "truth", "solution", "answeridx", "answerletter",
)  # fmt: skip
_PATIENTS = ("patient", "patientid", "subjectid", "mrn")  # `subject` is a subject of medicine as often
_INPUTS = (
    "question", "prompt", "query", "instruction", "task", "vignette", "note", "notes", "context", "text", "message",
    "report", "record", "conversation", "dialogue", "passage", "abstract", "document", "input",
)  # fmt: skip
_CHOICE = re.compile(r"(?:choice|option|answer|op)?([a-z])|(?:choice|option)(\d\d?)")
_MOST_ROWS = 100_000  # looked at for the guess
_MOST_LABELS, _LONGEST_LABEL = 10, 40


_MOST_GRADES = 101
_JURY = ("jury", "rouge_l")


@dataclass(frozen=True, slots=True)
class Guess:
    """The columns of the table `data` by what they hold. `inputs` maps the names in the prompt to columns;
    `labels` are the answers of the gold column, where it has only a few."""

    data: Path
    id: str
    inputs: Mapping[str, str]
    gold: str = ""
    choices: tuple[str, ...] = ()
    patient: str = ""
    labels: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def text(self) -> str:
        """One line to a column, for the person who must agree."""
        labels = f"the answers {', '.join(self.labels)}" if self.labels else "none"
        shown = {
            "id": "the number of the row" if self.id == ROW else self.id,
            **{f"{{{name}}}": column for name, column in self.inputs.items()},
            "gold": self.gold or "none: a jury grades the answers",
            "choices": ", ".join(self.choices) or labels,
            "patient": self.patient or "none",
            "not used": ", ".join(self.unused) or "none",
        }
        return "\n".join(f"  {what:14} {column}" for what, column in shown.items())

    def write(
        self,
        name: str,
        folder: Path,
        *,
        instrument: str = "",
        scale: tuple[int, int] | None = None,
        higher_is_better: bool = True,
        settings: Mapping[str, Any] | None = None,
    ) -> Benchmark:
        """Write `NAME.yaml`, and `NAME.instrument.yaml` where a scale is given, and read it back. Nothing is
        written over. `settings` takes the place of what would be written: category, metrics, prompt, title."""
        file = folder / f"{name}.yaml"
        content = _content(name, self, folder)
        if scale is not None or instrument or not self.gold:
            content |= _graded(self, f"{name}.instrument.yaml" if scale else instrument or "note_quality")
        content |= {key: value for key, value in (settings or {}).items() if value}
        written = {file: content}
        if scale is not None:
            stated = _instrument(name, scale, higher_is_better, bool(self.gold))
            written[folder / f"{name}.instrument.yaml"] = stated
        for each in written:
            if each.exists():
                raise MedjuryError(f"{each}: is there already; choose another name, or remove it first")
        for each, values in written.items():
            write_whole(each, yaml_text(values))
        try:
            return load_benchmark(file)
        except MedjuryError:
            for each in written:  # what cannot be read back is of no use to anybody
                each.unlink(missing_ok=True)
            raise


def guess_columns(path: str | Path, stated: Mapping[str, str | Sequence[str]] | None = None) -> Guess:
    """The guess for a table. `stated` holds what is known already: id, gold, patient, inputs, choices."""
    header, rows = _first_rows(Path(path))
    said = dict(stated or {})
    for column in [
        each for value in said.values() for each in ([value] if isinstance(value, str) else value)
    ]:
        if column not in header and column != ROW:
            near = difflib.get_close_matches(
                column, header, 1
            )  # all of them may be the first patient's values
            hint = f"did you mean {near[0]!r}?" if near else f"the file has {len(header)} columns"
            raise MedjuryError(f"{path}: has no column {column!r}; {hint}")
    left = [name for name in header if name]
    choices = list(said.get("choices", ())) or _choices(left, rows)
    left = [name for name in left if name not in choices]
    gold = str(said.get("gold", "")) or _named(left, _GOLDS)
    left = [name for name in left if name != gold]
    patient = str(said.get("patient", "")) or _named(left, _PATIENTS)
    identifier = str(said.get("id", "")) or _identifier(left, rows)
    left = [name for name in left if name not in (patient, identifier)]
    inputs = list(said.get("inputs", ())) or _inputs(left, rows)
    if not inputs:
        raise MedjuryError(f"{path}: no column looks like a question; name it with --input COLUMN")
    unused = tuple(name for name in left if name not in inputs)
    guess = Guess(Path(path), identifier, _placed(inputs), gold, tuple(choices), patient, unused=unused)
    return guess if choices or not gold else replace(guess, labels=_labels(gold, rows))


def _first_rows(path: Path) -> tuple[list[str], list[Mapping[str, object]]]:
    """The names of the columns, and the rows that the guess is made from."""
    rows: list[Mapping[str, object]] = []
    for row in read_rows(path):
        if row.problem:
            raise MedjuryError(f"{row.origin.file}, row {row.origin.row}: {row.problem}")
        if not row.is_remark:
            rows.append(row.values)
        if len(rows) >= _MOST_ROWS:
            break
    if not rows:
        raise MedjuryError(f"{path}: has no row below its header")
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _named(columns: Sequence[str], known: Sequence[str]) -> str:
    """The column with the likeliest of these names."""
    return next((name for word in known for name in columns if _plain(name) == word), "")


def _texts(column: str, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The cells of a column that hold something, as the table loader reads them."""
    values = [row[column] for row in rows if row.get(column) is not None]
    texts = [("yes" if each else "no") if isinstance(each, bool) else str(each).strip() for each in values]
    return [text for text in texts if text]


def _identifier(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> str:
    """A column with a name for it, filled in every row and different in each; else the number of the row."""
    named = [name for word in _IDS for name in columns if _plain(name) == word]
    named += [name for name in columns if _plain(name).endswith("id") and name not in named]
    return next((name for name in named if len(set(_texts(name, rows))) == len(rows)), ROW)


def _choices(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Columns named choice_A, option b, opc, D … in an unbroken line from the first; or one that holds lists."""
    found: dict[int, str] = {}
    for name in columns:
        match = _CHOICE.fullmatch(_plain(name))
        if match:
            found.setdefault(ord(match[1]) - 96 if match[1] else int(match[2]), name)
    line = [found[number] for number in range(1, len(found) + 1) if number in found]
    if len(line) >= 2:
        return line
    return [name for name in columns if _plain(name) in ("choices", "options") and _holds_lists(name, rows)][
        :1
    ]


def _holds_lists(column: str, rows: Sequence[Mapping[str, object]]) -> bool:
    for row in rows:
        value = row.get(column)
        if isinstance(value, str) and value.strip():
            try:
                value = json.loads(value)
            except ValueError:
                return False
        if value not in (None, "") and not isinstance(value, list | dict):
            return False
    return True


def _inputs(columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The columns with names for it, what is asked last; else the one with the longest texts."""
    named = [name for name in columns if _plain(name) in _INPUTS and _texts(name, rows)]
    if named:
        return sorted(named, key=lambda name: _plain(name) in _INPUTS[:5])
    lengths = {name: sum(map(len, _texts(name, rows))) for name in columns}
    longest = max(lengths, key=lambda name: lengths[name], default="")
    return [longest] if longest and lengths[longest] else []


def _placed(columns: Sequence[str]) -> dict[str, str]:
    """Names that a prompt can hold in braces."""
    names: dict[str, str] = {}
    for column in columns:
        name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or "input"
        name = name if name[0].isalpha() and name != "choices" else f"input_{name}"
        while name in names:
            name += "_2"
        names[name] = column
    return names


def _labels(gold: str, rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The few short answers that the gold column has; none where there are many, or where each appears once."""
    texts = _texts(gold, rows)
    found = sorted(set(texts))
    few = 2 <= len(found) <= _MOST_LABELS and 2 * len(found) <= len(texts) and len(rows) < _MOST_ROWS
    return tuple(found) if few and all(len(each) <= _LONGEST_LABEL for each in found) else ()


def _content(name: str, guess: Guess, folder: Path) -> dict[str, Any]:
    lettered = bool(guess.choices or guess.labels)
    closed = lettered and bool(guess.gold)
    columns: dict[str, Any] = {
        "id": guess.id,
        **{key: column for key, column in guess.inputs.items() if key != column},
    }
    columns |= {"gold": guess.gold} if guess.gold else {}
    columns |= {"patient": guess.patient} if guess.patient else {}
    if guess.choices:
        columns["choices"] = guess.choices[0] if len(guess.choices) == 1 else list(guess.choices)
    options: dict[str, Any] = {"columns": columns}
    if guess.labels:
        options["choices"] = dict(zip(ascii_uppercase, guess.labels, strict=False))
    content = {
        "name": name,
        "version": "1",
        "title": name.replace("_", " "),
        "category": OTHER,
        "description": f"Made from {guess.data.name}.",
        "context": ", ".join(guess.inputs),
        "prompt": _prompt(guess, closed),
        "metrics": ["exact_match"],
        "open": False,
        "gold": f"The column {guess.gold}." if guess.gold else "",
        "access": "private",
        "curation": "new",
        "loader": "table",
        "source": guess.data.name,
        "licence": "the site's own",
        "data": _relative(guess.data, folder),
        "options": options,
    }
    if guess.gold and not closed:
        content |= _graded(guess, "note_quality")
    return content


def _graded(guess: Guess, instrument: str) -> dict[str, Any]:
    return {
        "metrics": list(_JURY) if guess.gold else ["jury"],
        "open": True,
        "instrument": instrument,
        "prompt": _prompt(guess, closed=False),
    }


def _prompt(guess: Guess, closed: bool) -> str:
    parts = [f"{{{name}}}" for name in guess.inputs]
    if len(parts) > 1:
        parts = [f"{name.replace('_', ' ').capitalize()}:\n{{{name}}}" for name in guess.inputs]
    if closed:
        parts += ["{choices}", "Reply with the letter of the right answer alone."]
    return "\n\n".join(parts) + "\n"


def _instrument(name: str, scale: tuple[int, int], higher_is_better: bool, gold: bool) -> dict[str, Any]:
    low, high = scale
    if not low < high or high - low >= _MOST_GRADES:
        raise MedjuryError(
            f"the scale {low} to {high} cannot be graded; give whole numbers, the lower first, such as 1-7"
        )
    worst, best = (low, high) if higher_is_better else (high, low)
    grades = {grade: f"Grade {grade} of {low} to {high}." for grade in range(low, high + 1)}
    grades |= {worst: f"The worst answer ({worst}).", best: f"The best answer ({best})."}
    inputs: list[dict[str, Any]] = [{"name": "context", "label": "What was asked"}]
    if gold:
        inputs.append({"name": "reference", "label": "Gold answer", "required": False})
    return {
        "name": name,
        "version": "1",
        "title": f"Quality of answers to {name.replace('_', ' ')}",
        "instructions": "You grade the answer to a clinical question.",
        "inputs": [*inputs, {"name": "candidate", "label": "Answer to grade"}],
        "dimensions": [
            {
                "name": "quality",
                "label": "Quality",
                "definition": "How right, complete and useful is the answer?",
                "grades": grades,
                "higher_is_better": higher_is_better,
            }
        ],
    }


def _relative(data: Path, folder: Path) -> str:
    absolute, above = data.resolve(), folder.resolve()
    return str(absolute.relative_to(above)) if absolute.is_relative_to(above) else str(absolute)
