"""What of the taxonomy a set of benchmarks covers, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

from pydantic import field_validator

from medjury.foundation.documents import read_document, validate
from medjury.foundation.fields import Part
from medjury.suites._benchmark import Benchmark

# Reads the taxonomy from its YAML file.

FILE = Path(__file__).parent / "taxonomy.yaml"
_WIDTH = 100


class Task(Part):
    """One line of the paper's list; a `group` names several tasks at once."""

    name: str
    group: bool = False


class Subcategory(Part):
    name: str
    tasks: tuple[Task, ...]

    @field_validator("tasks", mode="before")
    @classmethod
    def _a_name_is_enough(cls, value: list[Any]) -> list[Any]:
        return [{"name": each} if isinstance(each, str) else each for each in value]


class Category(Part):
    name: str
    definition: str
    includes: str
    performer: str
    subcategories: tuple[Subcategory, ...]


class Fact(Part):
    """One number of the clinicians' review, and where in the source it is found."""

    fact: str
    value: int | float
    place: str
    unit: str = ""


class Taxonomy(Part):
    """`counts` are those that the source states; `note` says where its list does not show them one by one."""

    version: str
    source: str
    note: str
    counts: dict[str, int]
    validation: tuple[Fact, ...]
    validation_note: str
    categories: tuple[Category, ...]

    def subcategories(self) -> Iterator[tuple[Category, Subcategory]]:
        for category in self.categories:
            for each in category.subcategories:
                yield category, each

    def coverage(self, benchmarks: Iterable[Benchmark]) -> Coverage:
        """The place of every benchmark in the taxonomy."""
        places = [(category.name, each) for category, each in self.subcategories()]
        by_subcategory: dict[tuple[str, str], list[str]] = {(name, each.name): [] for name, each in places}
        by_task: dict[tuple[str, str, str], list[str]] = {
            (name, each.name, task.name): [] for name, each in places for task in each.tasks
        }
        outside = []
        for benchmark in benchmarks:
            place = (benchmark.category, benchmark.subcategory)
            if place not in by_subcategory:
                outside.append(benchmark.name)
                continue
            by_subcategory[place].append(benchmark.name)
            for task in benchmark.tasks:
                by_task[*place, task].append(benchmark.name)
        return Coverage(by_subcategory, by_task, outside)

    def to_json(self) -> dict[str, Any]:
        return self.model_dump()

    def text(self) -> str:
        """Every category, subcategory and task, as lines to read."""
        lines = []
        for category in self.categories:
            lines += [category.name, f"  {category.definition}", f"  belongs here: {category.includes}"]
            lines += [f"  done by: {category.performer}"]
            for each in category.subcategories:
                lines.append(f"    {each.name}")
                lines += [f"      - {task.name}{' (group)' if task.group else ''}" for task in each.tasks]
        stated = ", ".join(f"{number} {what}" for what, number in self.counts.items())
        facts = [
            f"  {each.value:g} {each.unit + ' ' if each.unit else ''}{each.fact}" for each in self.validation
        ]
        lines += wrap(f"As stated: {stated}. {self.note}", _WIDTH)
        lines += ["Review by clinicians:", *facts, *wrap(self.validation_note, _WIDTH)]
        return "\n".join([*lines, *wrap(f"Source: {self.source}", _WIDTH)])


@cache
def read_taxonomy() -> Taxonomy:
    """The taxonomy that ships with the package."""
    return validate(read_document(FILE), Taxonomy)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Benchmarks by (category, subcategory), every one of the taxonomy in its order, and by the line of a task."""

    by_subcategory: Mapping[tuple[str, str], Sequence[str]]
    by_task: Mapping[tuple[str, str, str], Sequence[str]]
    outside: Sequence[str]  # benchmarks that the taxonomy has no place for

    @property
    def open(self) -> tuple[tuple[str, str], ...]:
        """Subcategories without a benchmark."""
        return tuple(place for place, names in self.by_subcategory.items() if not names)

    def to_json(self) -> dict[str, Any]:
        return {
            "subcategories": [
                {"category": place[0], "subcategory": place[1], "benchmarks": list(names)}
                for place, names in self.by_subcategory.items()
            ],
            "tasks": [
                {"category": place[0], "subcategory": place[1], "task": place[2], "benchmarks": list(names)}
                for place, names in self.by_task.items()
            ],
            "outside": list(self.outside),
        }

    def text(self) -> str:
        """One line to a subcategory, and how much is covered."""
        lines, before = [], ""
        for (category, subcategory), names in self.by_subcategory.items():
            lines += [] if category == before else [category]
            lines.append(f"  {subcategory:38} {len(names)}  {', '.join(names) or '-'}")
            before = category
        covered = len(self.by_subcategory) - len(self.open)
        tasks = sum(1 for names in self.by_task.values() if names)
        lines.append(
            f"{covered} of {len(self.by_subcategory)} subcategories and {tasks} of {len(self.by_task)} listed "
            "tasks or groups of tasks have a benchmark"
        )
        return "\n".join(
            lines + ([f"outside the taxonomy: {', '.join(self.outside)}"] if self.outside else [])
        )
