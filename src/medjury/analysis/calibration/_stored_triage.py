"""What a triage learnt from labelled cases, without their names or texts, and at which priority reading may stop.

The cut is conformal. Each labelled dangerous answer has a priority that other cases gave it. The cut lies so low
among these that a new dangerous answer, drawn like the labelled ones, has at least the stated chance of a priority
as high. Every case weighs the same, however many answers it has. Priorities of
labelled answers come from rules learnt on four fifths of the cases and that of a new one from all of them, so the
chance is met closely and not to the last digit (cross-conformal prediction: Vovk 2015, Ann Math Artif Intell
74:9-28).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from medjury.analysis.calibration._conformal import strangeness
from medjury.analysis.calibration._review_order import Items
from medjury.analysis.calibration._saved import case_hash
from medjury.analysis.calibration._triage import Triage
from medjury.analysis.calibration._written import load_document, save_document
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats
from medjury.tables import JuryName, JuryRule


@dataclass(frozen=True, slots=True, eq=False)
class StoredTriage:
    """A learnt rule with its provenance. `taught` are the labelled items, their cases by a hash of the name;
    `danger` is the score by which each is dangerous. Scores are such that low is dangerous; `reversed` tells that
    they were turned round for that. An item of priority `cut` or more is to be read; None: all are, for too few
    dangerous answers were labelled. `review` is the share of labelled cases to read for the share `catch`."""

    jury: str
    members: tuple[str, ...]
    rule: JuryRule
    dimension: str
    instrument: str
    reference: tuple[str, ...]
    reversed: bool
    threshold: float
    gap: float | None
    catch: float
    confidence: float
    folds: int
    by_rank: bool
    cut: float | None
    review: Estimate
    taught: Items
    danger: Floats

    @property
    def n_cases(self) -> int:
        return len(set(self.taught.cases.tolist()))

    @property
    def n_dangerous(self) -> int:
        return int(self.taught.target.sum())

    @property
    def danger_words(self) -> str:
        """What the rule looks for, on the scale as clinicians gave it."""
        ends = self.taught.grades[0] + self.taught.grades[-1]
        at = f"{ends - self.threshold:g} or more" if self.reversed else f"{self.threshold:g} or less"
        return at if self.gap is None else f"{at}, and the jury's {self.gap:g} or more better"


def stored_triage(found: Triage) -> StoredTriage:
    """What is kept of a triage with labels."""
    order = found.order
    if order.curves is None:
        raise MedjuryError(
            "a rule can be saved only with labels: nothing was learnt here. Add clinicians' scores."
        )
    items = order.items
    labelled = ~np.isnan(items.labels)
    taught = items.part(labelled)
    hashed = np.array([case_hash(name) for name in taught.cases.tolist()], dtype=object)
    target = labelled & items.target
    return StoredTriage(
        jury=found.jury,
        members=found.raters,
        rule=found.jury_rule,
        dimension=found.dimension,
        instrument=found.part.instrument,
        reference=found.reference,
        reversed=found.reversed,
        threshold=found.threshold,
        gap=found.gap,
        catch=found.catch,
        confidence=found.confidence,
        folds=found.folds,
        by_rank=order.weights is None,
        cut=cut_of(order.priority[target], items.cases[target], found.catch),
        review=order.curves["rule"].review_to_catch,
        taught=replace(taught, cases=hashed),
        danger=found.danger[labelled],
    )


def cut_of(priority: Floats, cases: np.ndarray, catch: float) -> float | None:
    """The priority that a new item of this kind reaches with probability `catch` or more; None where there are too
    few to say. An item without priority (the jury gave no score) is read in any case.

    >>> cut_of(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.arange(5), 0.8)
    1.0
    >>> cut_of(np.array([3.0, 1.0, 2.0, 5.0]), np.arange(4), 0.9)
    """
    strange = strangeness(-np.where(np.isnan(priority), np.inf, priority), cases)
    found = -strange.quantile(catch)
    if found == math.inf:  # all that would be needed lie among the answers without a score
        return float(np.nanmax(priority, initial=-math.inf)) if not np.isnan(priority).all() else None
    return None if found == -math.inf else found


# Triage rules on disk: versioned JSON of numbers that says where it came from, refused where it is damaged.

FORMAT = "medjury triage rule"
_WORDS = ("jury", "dimension", "instrument")
_NUMBERS = ("threshold", "catch", "confidence")
_LISTED = ("jury", "spread", "labels")


def save_triage(stored: StoredTriage, path: str | Path) -> None:
    """Write the rule as one JSON file. It holds scores and labels by a hash of the case's name, and no text."""
    taught = stored.taught
    content = {
        **{
            name: getattr(stored, name)
            for name in (*_WORDS, *_NUMBERS, "gap", "cut", "by_rank", "reversed", "folds")
        },
        "members": list(stored.members),
        "rule": {"rule": stored.rule.rule, "quorum": stored.rule.quorum},
        "reference": list(stored.reference),
        "grades": list(taught.grades),
        "boundary": taught.boundary,
        "level": taught.level,
        "seed": taught.seed,
        "review": asdict(stored.review),
        "taught": {
            "case": taught.cases.tolist(),
            **{name: _listed(getattr(taught, name)) for name in _LISTED},
            "danger": _listed(stored.danger),
            "target": taught.target.tolist(),
        },
    }
    save_document(path, FORMAT, content)


def load_triage(path: str | Path) -> StoredTriage:
    """Read a rule; a file that is damaged, of another kind or of another version is refused."""
    return load_document(path, FORMAT, _stored, "medjury triage RUN --save-rule FILE")


def _stored(content: Mapping[str, Any]) -> StoredTriage:
    rows = content["taught"]
    columns = {name: _numbers(rows[name]) for name in (*_LISTED, "danger")}
    cases = np.array([str(name) for name in rows["case"]], dtype=object)
    target = np.array([_yes(each) for each in rows["target"]], dtype=bool)
    if {len(cases), len(target)} != {len(column) for column in columns.values()} or not len(cases):
        raise ValueError("its columns are not of one length")
    grades = tuple(_number(each) for each in content["grades"])
    inside = np.concatenate([columns["jury"], columns["labels"], columns["danger"]])
    if list(grades) != sorted(set(grades)) or len(grades) < 2:
        raise ValueError("its grades do not rise")
    if np.isnan(columns["labels"]).any() or ((inside < grades[0]) | (inside > grades[-1])).any():
        raise ValueError("it holds scores beyond the scale, or items without a label")
    if content["rule"]["rule"] not in get_args(JuryName):
        raise ValueError(f"there is no jury rule {content['rule']['rule']!r}")
    plain: dict[str, Any] = {
        **{name: str(content[name]) for name in _WORDS},
        **{name: _number(content[name]) for name in _NUMBERS},
        **{name: None if content[name] is None else _number(content[name]) for name in ("gap", "cut")},
        **{name: _yes(content[name]) for name in ("by_rank", "reversed")},
    }
    return StoredTriage(
        **plain,
        members=tuple(str(each) for each in content["members"]),
        rule=JuryRule(**content["rule"], name=str(content["jury"])),
        reference=tuple(str(each) for each in content["reference"]),
        folds=int(content["folds"]),
        review=Estimate(**content["review"]),
        taught=Items(
            columns["jury"],
            columns["spread"],
            columns["labels"],
            target,
            cases,
            grades,
            _number(content["boundary"]),
            _number(content["level"]),
            int(content["seed"]),
        ),
        danger=columns["danger"],
    )


def _listed(values: Floats) -> list[float | None]:
    return [None if value != value else float(value) for value in values.tolist()]


def _numbers(values: Any) -> Floats:
    return np.array([math.nan if value is None else _number(value) for value in values], dtype=float)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _yes(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value
