"""A table of pairs with its metrics: read, scored, and written back with a column for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.texts.metrics._catalogue import LEXICAL, metric_named
from medjury.texts.metrics._learned.learned import Models, models_of
from medjury.texts.metrics._score import score
from medjury.texts.metrics._scores import MetricScores
from medjury.texts.transcripts import FillerList, normalise

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """The pairs as they were read, and their scores."""

    pairs: polars.DataFrame
    scores: MetricScores

    def frame(self) -> polars.DataFrame:
        """The pairs with a column for each metric and `undefined` with the reasons."""
        import polars as pl

        table = pl.concat([self.pairs, self.scores.frame()], how="horizontal")
        if "meteor" in self.scores.values:
            table = table.with_columns(pl.lit(self.scores.notes["meteor"]).alias("meteor_matches"))
        return table


def chosen_metrics(words: Sequence[str] | None, models: Models | None = None) -> list[str]:
    """The metrics that these words name, several of them in one word with commas; all lexical ones without any. One
    of several models becomes several."""
    names = [name for word in words or LEXICAL for name in word.split(",") if name]
    return list(models_of(list(dict.fromkeys(metric_named(name).name for name in names)), models or {}))


def added_columns(metrics: Sequence[str]) -> list[str]:
    """The columns that scoring adds to a table."""
    return [*metrics, "undefined", *(["meteor_matches"] if "meteor" in metrics else [])]


def score_pairs(
    pairs: polars.DataFrame,
    reference: str,
    hypothesis: str,
    metrics: Sequence[str],
    *,
    normalised: bool = False,
    remove_fillers: bool = False,
    filler_list: FillerList = "ours",
    models: Models | None = None,
    device: str | None = None,
    allow_download: bool = False,
) -> ScoredPairs:
    """Score the two columns of a table; `normalised` compares without case and signs, numbers in words."""
    clean: Callable[[str], str] = (
        (lambda cell: normalise(cell, remove_fillers=remove_fillers, filler_list=filler_list))
        if normalised
        else str
    )
    said, heard = ([clean(cell or "") for cell in pairs[name].to_list()] for name in (reference, hypothesis))
    scores = score(said, heard, metrics, models=models or {}, device=device, allow_download=allow_download)
    return ScoredPairs(pairs, scores)
