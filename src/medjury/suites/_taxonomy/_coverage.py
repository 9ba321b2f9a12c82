"""What of the taxonomy a set of benchmarks covers, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from medjury.suites._benchmark import Benchmark
from medjury.suites._taxonomy._read import read_taxonomy


@dataclass(frozen=True, slots=True)
class Coverage:
    """Benchmarks by (category, subcategory), every one of the taxonomy in its order, and by the line of a task."""

    by_subcategory: Mapping[tuple[str, str], tuple[str, ...]]
    by_task: Mapping[tuple[str, str, str], tuple[str, ...]]
    outside: tuple[str, ...]  # benchmarks that the taxonomy has no place for

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


def coverage(benchmarks: Iterable[Benchmark]) -> Coverage:
    """The place of every benchmark in the taxonomy."""
    places = [(category.name, each) for category, each in read_taxonomy().subcategories()]
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
    return Coverage(
        {place: tuple(names) for place, names in by_subcategory.items()},
        {place: tuple(names) for place, names in by_task.items()},
        tuple(outside),
    )
