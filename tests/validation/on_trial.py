"""A jury on trial in a few lines: planted answers, the evidence that rules read, and a verdict under registered
rules, without a bootstrap table and without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from tests.report.planted import registered
from tests.tables.run_folders import rows_of

from medjury.store.runs import GateRules, Manifest
from medjury.tables import Grades, RatingTable, rating_table, with_rules
from medjury.tables._open import _made
from medjury.validation import Evidence, Verdict, validation_of
from medjury.validation._colleague import Beside
from medjury.validation._evidence import roles_of

Scores = Mapping[str, Sequence[float | None]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
GRADES = [1, 2, 3, 4, 5]


def on_trial(
    scores: Scores | pl.DataFrame,
    *,
    scale: tuple[float, ...] | None = (1, 5),
    systems: Sequence[str] = ("",),
    known: Mapping[str, Sequence[Any]] | None = None,
    confidence: float = 0.95,
    **rules: Any,
) -> Evidence:
    """The evidence of these scores; `known` has what is known of each case, such as its `patient`."""
    frame = scores if isinstance(scores, pl.DataFrame) else rows_of(scores, systems=systems)
    if known is not None:
        cases = len(next(iter(known.values())))
        facts = pl.DataFrame({"item": [f"case {place}" for place in range(cases)], **known})
        frame = frame.join(facts, on="item", how="left", maintain_order="left")
    table = rating_table(frame, scale=scale)
    return evidence(with_rules(table, GateRules(**rules)) if rules else table, confidence=confidence)


def evidence(table: RatingTable, *, confidence: float = 0.95) -> Evidence:
    roles = roles_of(table)
    rater = roles.jury or (roles.raters[0] if len(roles.raters) == 1 else "")
    return Evidence(table, roles, rater, None, confidence=confidence, resamples=200)


@dataclass(frozen=True, eq=False)
class World:
    """Answers of known quality, `systems` of them to each case, which differ by `within`, one case in five
    dangerous, and clinicians who err by `noise`: a column of grades each, NaN where they did not rate."""

    seed: int = 1
    cases: int = 300
    systems: int = 3
    clinicians: int = 2
    noise: float = 0.5
    within: float = 0.5
    dangerous: float = 0.2

    @cached_property
    def draw(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, 39])

    @cached_property
    def truth(self) -> Floats:
        risky = self.draw.random(self.cases) < self.dangerous
        quality = np.where(
            risky, self.draw.normal(1.4, 0.5, self.cases), self.draw.normal(4.0, 0.8, self.cases)
        )
        return quality[self.case] + self.draw.normal(0, self.within, self.size)

    @cached_property
    def humans(self) -> Floats:
        return np.column_stack([self.rater(self.noise) for _ in range(self.clinicians)])

    @property
    def size(self) -> int:
        return self.cases * self.systems

    @cached_property
    def case(self) -> Any:
        return np.repeat(np.arange(self.cases), self.systems)

    @cached_property
    def system(self) -> Any:
        return np.tile(np.arange(self.systems), self.cases)

    def rater(self, noise: float) -> Floats:
        """One more rater, who errs independently of all others."""
        return graded(self.truth + self.draw.normal(0, noise, self.size))

    def beside(self, jury: Floats, **changes: Any) -> Beside:
        """The colleague test's input; danger is a grade of 2 or lower, two grades make a miss."""
        scale = Grades((1.0, 2.0, 3.0, 4.0, 5.0))
        made = Beside(
            self.humans, jury, np.isnan(jury), self.case, self.system, self.case, scale, danger=(2.0, 2.0)
        )
        return replace(made, **changes)

    def frame(self, jury: Floats, known: Mapping[str, Sequence[Any]] | None = None) -> pl.DataFrame:
        """The rows of a run; `known` has what is known of each answer."""
        facts = {
            "item": [f"case {place}" for place in self.case.tolist()],
            "system": [f"system {place}" for place in self.system.tolist()],
            **(known or {}),
        }
        raters = [
            ("jury", "jury", jury),
            *((f"clinician {n}", "clinician", self.humans[:, n]) for n in range(self.humans.shape[1])),
        ]
        parts = [
            pl.DataFrame(facts).with_columns(
                rater=pl.lit(name),
                rater_kind=pl.lit(kind),
                dimension=pl.lit("accuracy"),
                score=pl.Series(np.asarray(scores, dtype=float)).fill_nan(None),
            )
            for name, kind, scores in raters
        ]
        return (
            pl.concat(parts)
            .filter((pl.col("rater_kind") == "jury") | pl.col("score").is_not_null())
            .with_columns(
                status=pl.when(pl.col("score").is_null())
                .then(pl.lit("unscored"))
                .otherwise(pl.lit("scored")),
                reason=pl.when(pl.col("score").is_null()).then(pl.lit("parse")),
                **({} if "created_at" in facts else {"created_at": pl.lit("2026-01-01T09:00:00+00:00")}),
            )
        )


def graded(quality: Floats) -> Floats:
    return np.clip(np.floor(quality + 0.5), 1.0, 5.0)


def registered_table(frame: pl.DataFrame, *, safety: bool = True, **changes: Any) -> RatingTable:
    """These ratings as those of a finished run whose rules were registered in time; `rules` are the study's own
    limits, the other `changes` parts of the manifest (`protocol` None: nobody registered)."""
    rules = GateRules(**changes.pop("rules", {})).model_dump()
    dimension = {"name": "accuracy", "label": "Accuracy", "grades": GRADES, "safety": safety}
    stated: dict[str, Any] = {
        "study": "planted",
        "medjury": "0.1.0",
        "status": "complete",
        "started_at": "2026-01-01T08:00:00+00:00",
        "data_hash": "cd" * 32,
        "cases": frame.select("item", "system").n_unique(),
        "instrument": {"name": "house", "version": "1", "dimensions": [dimension]},
        "jury": {"name": "jury", "rule": "mean"},
        "gate": {**rules, "stated_at": "2025-12-31T23:00:00+00:00"},
        "humans": {"illustrative": False, "blinded": True},
        **changes,
    }
    if "protocol" not in changes:
        stated |= registered(stated)
    manifest = Manifest.model_validate({name: each for name, each in stated.items() if each is not None})
    made = _made(frame, manifest)
    return replace(made, run=replace(made.run, manifest=manifest))


def verdict(frame: pl.DataFrame, **changes: Any) -> Verdict:
    """The verdict on the jury of these ratings, under registered rules."""
    return validation_of(evidence(registered_table(frame, **changes))).verdicts[0]
