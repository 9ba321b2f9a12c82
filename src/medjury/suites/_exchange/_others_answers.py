"""Answers and scores as another program wrote them down, and which of them belongs to which item of a
benchmark."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark, Helm, Item, prompt_of
from medjury.suites._marking._helm import HELM_RULES


def json_of(path: Path) -> Any:
    """What a file of another program holds, no larger and no deeper than any file that is read."""
    text = limits.read_bytes(path).decode("utf-8")
    limits.check_depth(path, text)
    return json.loads(text)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer of a model. `input` is the question itself, without examples or instructions that were put before
    it; `choices` are those shown, in their order. `failure` says why there is no answer, `finish` how it ended, in
    the program's own word. `scores` are the program's own, by the name of its metric; None where it gave none."""

    id: str
    input: str
    text: str
    choices: tuple[str, ...] = ()
    failure: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    gold: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenRun:
    """The answers of one model to one task. `told` is what a reader should know of the files."""

    program: str
    task: str
    model: str
    answers: tuple[GivenAnswer, ...]
    told: tuple[str, ...] = ()


# Which of another program's answers belongs to which item of a benchmark.
#
# By the item's id, where every text of the item occurs in the question that was asked there, and those of no other
# item do: two numberings agree by accident. Where no answer has the id, by the text: the question is the item's
# whole prompt or its inputs, the same but for blanks and line ends, and no other answer and no other item has it.
# A run of HELM, which numbers instances by itself and words most prompts otherwise, is matched by a line of the
# question too. Nothing is matched by likeness, and what is not matched is told with the reason.


_LETTER = re.compile(r"\(?([A-Z])\)?[.):]?")
NO_ANSWER = "no answer has its id or its text"
OTHER_TEXT = "the answer with its id is to another question"
SEVERAL = "several answers have its text"
SHARED = "another item has the same text"
OTHER_CHOICES = "its choices were others, in another order, or not given"


def match_answers(
    benchmark: Benchmark, items: Sequence[Item], answers: Sequence[GivenAnswer], *, by: Helm | None = None
) -> tuple[dict[str, GivenAnswer], dict[str, list[str]]]:
    """The answers by item id, and the items without one, by reason. `by` is how HELM asks it, where HELM did:
    the first of the inputs that it shows as we do is a whole line of the question, or all of it but a label
    (`Question: …`), and the others occur in it. Where it asks for other words than our letters, an answer has
    no choices."""
    shown = by.shows if by else ()
    by_id, by_text = defaultdict(list), defaultdict(list)
    by_line = _by_line(answers) if shown else {}
    counts = Counter(_shown(item, shown) for item in items)
    for answer in answers:
        by_id[answer.id].append(answer)
        by_text[_plain(answer.input)].append(answer)
    texts = {item.id: _texts(benchmark, item) for item in items}
    owners: dict[str, set[str]] = defaultdict(set)
    for name, own in texts.items():
        for text in own:
            owners[text].add(name)
    found: dict[str, GivenAnswer] = {}
    unmatched: dict[str, list[str]] = defaultdict(list)
    for item in items:
        one = _one(item, by_id[item.id], texts[item.id], by_text, owners, items)
        if one == NO_ANSWER and shown:
            one = SHARED if counts[_shown(item, shown)] > 1 else _of_line(_shown(item, shown), by_line)
        taken = one if isinstance(one, GivenAnswer) else None
        if taken is not None and not (by and by.words):
            taken = _in_our_letters(item, taken)
        if taken is not None:
            found[item.id] = taken
        else:
            unmatched[one if isinstance(one, str) else OTHER_CHOICES].append(item.id)
    return found, dict(unmatched)


def _one(
    item: Item,
    named: Sequence[GivenAnswer],
    texts: Sequence[str],
    by_text: Mapping[str, Sequence[GivenAnswer]],
    owners: Mapping[str, set[str]],
    items: Sequence[Item],
) -> GivenAnswer | str:
    """The one answer to an item, or why there is none."""
    same = [each for each in named if _asks(item, each)]
    if same:
        if len(same) > 1:
            return SEVERAL
        whole = _plain(same[0].input) in texts
        return same[0] if whole or not _asks_another(item, same[0], items) else SHARED
    those = [answer for text in texts for answer in by_text.get(text, ())]
    if not those:
        return OTHER_TEXT if named else NO_ANSWER
    if len(those) > 1:
        return SEVERAL
    return those[0] if owners[_plain(those[0].input)] == {item.id} else SHARED


def _shown(item: Item, shown: Sequence[str]) -> tuple[str, ...]:
    return tuple(_plain(item.inputs[name]) for name in shown)


def _by_line(answers: Sequence[GivenAnswer]) -> dict[str, list[GivenAnswer]]:
    found: dict[str, list[GivenAnswer]] = {}
    for answer in answers:
        lines = answer.input.splitlines()
        for text in {_plain(part) for line in lines for part in (line, line.partition(":")[2])} - {""}:
            found.setdefault(text, []).append(answer)
    return found


def _of_line(texts: tuple[str, ...], by_line: Mapping[str, Sequence[GivenAnswer]]) -> GivenAnswer | str:
    line, *others = texts
    those = [each for each in by_line.get(line, ()) if all(text in _plain(each.input) for text in others)]
    return NO_ANSWER if not those else SEVERAL if len(those) > 1 else those[0]


def _texts(benchmark: Benchmark, item: Item) -> list[str]:
    """The questions that are this item and nothing else."""
    inputs = " ".join(item.inputs.values())
    return list(
        dict.fromkeys(text for each in (prompt_of(benchmark, item), inputs) if (text := _plain(each)))
    )


def _asks(item: Item, answer: GivenAnswer) -> bool:
    """Whether every text of the item occurs in the question, in whole words."""
    question = _plain(answer.input)
    texts = [text for each in item.inputs.values() if (text := _plain(each))]
    return bool(texts) and all(
        text in question and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question) for text in texts
    )


def _asks_another(item: Item, answer: GivenAnswer, items: Sequence[Item]) -> bool:
    """Whether the question holds the texts of another item too, and not only as a part of this one's."""
    own = replace(answer, input=" ".join(item.inputs.values()))
    return any(
        other.id != item.id
        and _asks(other, answer)
        and not (_asks(other, own) and not _asks(item, _of(other)))
        for other in items
    )


def _of(item: Item) -> GivenAnswer:
    return GivenAnswer(item.id, " ".join(item.inputs.values()), "")


def _in_our_letters(item: Item, answer: GivenAnswer) -> GivenAnswer | None:
    """The answer with the letter that the item has for the choice. A letter that stands for something else
    here, or may, would be marked wrongly: such an answer is not taken, nor one in words where the letters
    differ."""
    if not item.choices or answer.failure:
        return answer
    ours = {_plain(text): letter for letter, text in item.choices.items()}
    if not answer.choices:
        return answer if _shows(_plain(answer.input), list(ours)) else None
    theirs = [_plain(text) for text in answer.choices]
    if theirs == list(ours) and list(item.choices) == [chr(ord("A") + n) for n in range(len(theirs))]:
        return answer
    only = _LETTER.fullmatch(answer.text.strip())
    if only is None or len(ours) < len(item.choices) or not set(theirs) <= set(ours):
        return None
    place = ord(only[1]) - ord("A")
    return replace(answer, text=ours[theirs[place]]) if place < len(theirs) else None


def _shows(question: str, choices: Sequence[str]) -> bool:
    """Whether a question ends in all these choices, in their order."""
    start = 0
    for text in choices:
        start = question.find(text, start) + len(text)
        if start < len(text):
            return False
    return True


def _plain(text: str) -> str:
    """Line ends and blanks are lost from one program to the next; nothing else is."""
    return " ".join(text.split())


# What HELM published of its models: the table of a group as `helm-summarize` writes it, such as MedHELM's
# `groups/medhelm_scenarios.json`.


_WHAT = "write `groups/medhelm_scenarios.json` of a release of MedHELM"


def read_published(path: Path, benchmarks: Sequence[Benchmark]) -> dict[str, dict[str, float]]:
    """By model its score on each of these benchmarks that HELM scores by a rule. A model that HELM did not run has
    none; a file without any of the benchmarks is refused."""
    try:
        tables = json_of(path)
        tables = [tables] if isinstance(tables, dict) else tables
        names = {
            _title(each.title): each.name for each in benchmarks if each.helm and each.helm.rule in HELM_RULES
        }
        found = [row for table in tables for row in _rows(table, names)]
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{path}: is no table of HELM's results ({type(error).__name__}: {error}); {_WHAT}"
        ) from None
    if not found:
        raise MedjuryError(
            f"{path}: holds no score of {', '.join(names.values()) or 'a benchmark with a rule'}; {_WHAT}"
        )
    published: dict[str, dict[str, float]] = {}
    for model, benchmark, score in found:
        if published.setdefault(model, {}).setdefault(benchmark, score) != score:
            raise MedjuryError(f"{path}: {model} has two scores on {benchmark}; name a file with one table")
    return published


def _rows(table: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str, float]]:
    """The scores of a table whose columns are benchmarks by their main metric. Seconds, tokens and counts of the
    other tables are no scores."""
    columns = {
        place: names[group]
        for place, head in enumerate(table["header"])
        if (group := _title((head.get("metadata") or {}).get("run_group", ""))) in names
    }
    if table.get("title") != "Accuracy":
        return
    for row in table["rows"]:
        for place, benchmark in columns.items():
            value = row[place].get("value")
            if value is None:
                continue
            score = float(value)
            if not (math.isfinite(score) and 0 <= score <= 1):
                raise ValueError(f"{value!r} is no score from 0 to 1")
            yield str(row[0]["value"]), benchmark, score


def _title(title: str) -> str:
    """HELM writes HeadQA and Medec, the papers HEAD-QA and MEDEC."""
    return re.sub(r"\W", "", title).casefold()
