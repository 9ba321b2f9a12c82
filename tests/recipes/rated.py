"""What a run's own `ratings.csv` says, as plain columns: merged repeats, the clinicians' one score, whose each
answer is. Read with csv and numpy alone."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from tests.recipes.compared import read_table

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Answer = tuple[str, str]


Grading = Callable[[str], Callable[[Numbers], Numbers]]


def whole_grades(lowest: float, highest: float) -> Grading:
    """Whole grades, halves upwards; a composite, which has none, as it is."""

    def grading(dimension: str) -> Callable[[Numbers], Numbers]:
        if dimension.startswith(("quality", "overall", "mean")):
            return lambda scores: np.round(scores, 9)
        return lambda scores: np.clip(np.floor(scores + 0.5 + 1e-9), lowest, highest)

    return grading


def most_votes(votes: list[float]) -> float:
    """A grade that more than half gave, else nothing."""
    grade, count = Counter(votes).most_common(1)[0]
    return grade if 2 * count > len(votes) else float("nan")


@dataclass(frozen=True)
class Rated:
    """`people` are those whose scores `consensus` makes one of; `aside` are cases that others learned from."""

    run: Path
    people: tuple[str, ...]
    consensus: Callable[[list[float]], float]
    aside: frozenset[str] = frozenset()

    @cached_property
    def scores(self) -> dict[tuple[str, str], dict[Answer, float]]:
        """By rater and dimension: the mean over repeats of every answer that was scored."""
        found: dict[tuple[str, str], dict[Answer, list[float]]] = defaultdict(lambda: defaultdict(list))
        for row in self.rows("ratings.csv"):
            if row["status"] == "scored" and row["item"] not in self.aside:
                found[row["rater"], row["dimension"]][row["item"], row["system"]].append(float(row["score"]))
        return {who: {each: float(np.mean(all_)) for each, all_ in own.items()} for who, own in found.items()}

    @cached_property
    def statuses(self) -> dict[tuple[str, str], dict[Answer, set[str]]]:
        """By rater and dimension: what became of every answer, in all its repeats."""
        found: dict[tuple[str, str], dict[Answer, set[str]]] = defaultdict(lambda: defaultdict(set))
        for row in self.rows("ratings.csv"):
            if row["item"] not in self.aside:
                found[row["rater"], row["dimension"]][row["item"], row["system"]].add(row["status"])
        return found

    def rows(self, name: str) -> list[dict[str, str]]:
        if name not in self._files:
            with (self.run / name).open(encoding="utf-8", newline="") as file:
                self._files[name] = list(csv.DictReader(file))
        return self._files[name]

    @cached_property
    def _files(self) -> dict[str, list[dict[str, str]]]:
        return {}

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table of the report; none where it has no such table."""
        file = self.run / "tables" / f"{name}.csv"
        return read_table(file) if file.exists() else []

    @cached_property
    def patients(self) -> dict[str, str]:
        """Whose each case is, by the run's own numbers of patients, else by the study's file of cases; a case
        without a patient is its own."""
        folder = self.run.parent.parent
        if (self.run / "patients.csv").exists():
            return {row["item"]: row["patient"] for row in self.rows("patients.csv")}
        if (folder / "cases.csv").exists():
            with (folder / "cases.csv").open(encoding="utf-8", newline="") as file:
                cases: list[dict[str, Any]] = list(csv.DictReader(file))
        else:
            cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
        return {case["id"]: case.get("patient") or case["id"] for case in cases}

    def reference(self, dimension: str) -> dict[Answer, float]:
        """The clinicians' one score of every answer that has one."""
        if dimension not in self._references:
            self._references[dimension] = self._reference(dimension)
        return self._references[dimension]

    @cached_property
    def _references(self) -> dict[str, dict[Answer, float]]:
        return {}

    def _reference(self, dimension: str) -> dict[Answer, float]:
        said: dict[Answer, list[float]] = defaultdict(list)
        for who in self.people:
            for answer, score in self.scores.get((who, dimension), {}).items():
                said[answer].append(score)
        made = {answer: self.consensus(votes) for answer, votes in said.items()}
        return {answer: score for answer, score in made.items() if not np.isnan(score)}

    def both(self, rater: str, dimension: str) -> tuple[Numbers, Numbers, list[str]]:
        """The reference's and a rater's scores of the answers that have both, and whose they are."""
        reference, given = self.reference(dimension), self.scores.get((rater, dimension), {})
        shared = sorted(reference.keys() & given.keys())
        return (
            np.array([reference[each] for each in shared]),
            np.array([given[each] for each in shared]),
            [self.patients[item] for item, _ in shared],
        )
