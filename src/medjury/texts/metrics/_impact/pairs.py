"""A table of turns with the clinical impact of what changed: estimated, checked, and learned from labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.texts.metrics._impact.check import ImpactCheck, check_impact
from medjury.texts.metrics._impact.impact import Impact, impact, impact_features
from medjury.texts.metrics._impact.model import ImpactModel, fit_impact_model
from medjury.texts.metrics._pairs import labels_of, read_pairs

if TYPE_CHECKING:
    import polars

ADDED = ("impact", "impact_score", "reasons")
_LEVELS = {2: "significant", 1: "minimal", 0: "none", None: "not estimated (no reference)"}
_CAUTION = "A screening estimate: level 2 says that a clinician should read the pair, not that harm was done."


@dataclass(frozen=True, eq=False)
class ImpactPairs:
    """A table of turns: which column holds what was said, what was recognised and, if any, the turn before."""

    file: str
    frame: polars.DataFrame
    reference: str
    hypothesis: str
    question: str | None = None

    @classmethod
    def read(
        cls, file: str, reference: str, hypothesis: str, question: str | None = None, also: Sequence[str] = ()
    ) -> ImpactPairs:
        """The table in a file; `also` are further columns that it must have."""
        wanted = [reference, hypothesis, *([question] if question else []), *also]
        return cls(file, read_pairs(file, wanted, ADDED), reference, hypothesis, question)

    @property
    def texts(self) -> tuple[list[str | None], list[str | None], list[str | None] | None]:
        """What was said, what was recognised, and what was asked before."""
        asked = self.frame[self.question].to_list() if self.question else None
        return self.frame[self.reference].to_list(), self.frame[self.hypothesis].to_list(), asked

    def estimate(self, model: ImpactModel | None = None) -> list[Impact]:
        return impact(*self.texts, model=model)

    def with_impact(self, found: Sequence[Impact]) -> polars.DataFrame:
        """The table with the level, the score and the reasons of every pair."""
        import polars as pl

        scores = [None if each.score is None else round(each.score, 4) for each in found]
        return self.frame.with_columns(
            pl.Series("impact", [each.level for each in found], dtype=pl.Int64),
            pl.Series("impact_score", scores, dtype=pl.Float64),
            pl.Series("reasons", ["; ".join(each.reasons) for each in found], dtype=pl.String),
        )

    def labels(self, column: str) -> list[int]:
        return labels_of(self.frame, column, self.file)

    def check(self, label: str, call: str, *, resamples: int, seed: int) -> ImpactCheck:
        """The estimate held against clinicians' labels, cross-validated by call."""
        calls = self.frame[call].to_list()
        return check_impact(*self.texts, self.labels(label), calls, resamples=resamples, seed=seed)

    def learn(self, label: str, calls: int) -> ImpactModel:
        """A model of the impact learned from all labels, with where it comes from."""
        labels = self.labels(label)
        provenance = {
            "data": Path(self.file).name,
            "sha256": sha256(Path(self.file).read_bytes()).hexdigest(),
            "rows": len(labels),
            "calls": calls,
            "columns": {
                "reference": self.reference,
                "hypothesis": self.hypothesis,
                "question": self.question,
                "label": label,
            },
            "levels": {str(level): labels.count(level) for level in (0, 1, 2)},
            "trained_on": "all rows; its performance is that of the cross-validation by call",
        }
        return fit_impact_model(impact_features(*self.texts), labels, provenance=provenance)


def impact_counts(found: Sequence[Impact]) -> dict[str, int]:
    """How many pairs have which impact."""
    levels = [each.level for each in found]
    return {
        name: levels.count(level) for level, name in _LEVELS.items() if level is not None or None in levels
    }


def impact_text(found: Sequence[Impact]) -> str:
    """The same for a reader."""
    counts = impact_counts(found)
    return "\n".join([*(f"  {name:<30}{count:>8}" for name, count in counts.items()), _CAUTION])
