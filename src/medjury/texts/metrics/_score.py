"""One call for all metrics: `score` counts every pair once and reads the wanted metrics from the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.intake.cases import languages_of, not_english
from medjury.texts.metrics._catalogue import LEXICAL, metric_named
from medjury.texts.metrics._counts import Counts, count
from medjury.texts.metrics._learned import Kept, Models, learned_scores, models_of
from medjury.texts.metrics._lexical import FORMULAS, NEEDED, NO_WORDS, TOO_LONG
from medjury.texts.metrics._lexicons import lexicons
from medjury.texts.metrics._meteor import WordNet, meteor, open_wordnet
from medjury.texts.metrics._semantic_wer import semantic_wer

if TYPE_CHECKING:
    import polars


Reasons = dict[int, str]
_BY_LANGUAGE = frozenset(
    ("meteor", "semantic_wer", "rouge", "rouge_w")
)  # metrics, and counts, for which it matters


def score(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    metrics: Sequence[str] = LEXICAL,
    *,
    models: Models | None = None,
    languages: Sequence[str | None] | None = None,
    device: str | None = None,
    allow_download: bool = False,
    kept: Kept | None = None,
) -> MetricScores:
    """Score every pair of texts with every wanted metric.

    A missing text counts as empty. Without a reference no metric is defined; with an empty hypothesis the
    error rates are 1 and the overlaps 0: everything was lost. Texts are compared as they are; normalise them
    first (`medjury.texts.transcripts.normalise`) where case, signs and digits should not count.

    `languages` are those of the pairs; where none is stated, it is detected if py3langid is installed. METEOR
    and the semantic WER have rules for English only, and are undefined for another language; words are split by
    the script.

    `models` names the model of each learned metric (a name or a local folder, or several of them: then each gets
    a column, `nli@small` and `nli@large`) where it is not the default; nothing is fetched unless `allow_download`
    is true. `device` is theirs too: the GPU where there is one. `kept` holds the models that were loaded, for
    whoever scores again and again.

    >>> scores = score(["not throat but lips"], ["not so but lips"], ["wer", "bleu_1"])
    >>> scores.column("wer"), scores.column("bleu_1")
    ([0.25], [0.75])
    """
    said = [text or "" for text in references]
    heard = [text or "" for text in hypotheses]
    chosen = models_of(list(dict.fromkeys(metric_named(name).name for name in metrics)), models or {})
    names = list(chosen)
    groups = list(dict.fromkeys(FORMULAS[name][0] for name in names if name in FORMULAS))
    spoken = languages_of(languages, said, heard) if _BY_LANGUAGE & {*names, *groups} or languages else []
    unknown = {row: problem for row, language in enumerate(spoken) if (problem := not_english(language))}
    counts = count(said, heard, groups or ["words"], unknown)
    wordnet = open_wordnet()
    values: dict[str, NDArray[np.float64]] = {}
    reasons: dict[str, Reasons] = {}
    notes: dict[str, str] = {}
    for name in names:
        if name in FORMULAS:
            values[name], reasons[name] = _formula(name, counts)
        elif name == "meteor":
            values[name], reasons[name] = _meteor(said, heard, wordnet, unknown)
            notes[name] = "exact, stem and WordNet synonym" if wordnet else "exact and stem (no WordNet here)"
        elif name == "semantic_wer":
            values[name], reasons[name] = _semantic(said, heard, unknown)
    wanted = {name: model for name, model in chosen.items() if model}
    if wanted:
        found = learned_scores(said, heard, wanted, device=device, allow_download=allow_download, kept=kept)
        for name, (numbers, why, note) in found.items():
            values[name], reasons[name], notes[name] = numbers, why, note
    return MetricScores(
        values={name: values[name] for name in names},
        reasons={name: why for name, why in reasons.items() if why},
        notes=notes,
    )


def _formula(name: str, counts: Counts) -> tuple[NDArray[np.float64], Reasons]:
    group, read = FORMULAS[name]
    size, reason = NEEDED[group]
    values = np.array(read(counts), dtype=np.float64)
    why: Reasons = dict.fromkeys(np.flatnonzero(counts[size] == 0).tolist(), reason)
    if group == "rouge_w":
        long = (counts.weighted < 0) & (counts[size] > 0)
        why |= dict.fromkeys(np.flatnonzero(long).tolist(), TOO_LONG)
    values[list(why)] = np.nan
    return values, why


def _meteor(
    said: list[str], heard: list[str], wordnet: WordNet | None, unknown: Reasons
) -> tuple[NDArray[np.float64], Reasons]:
    values = np.full(len(said), np.nan)
    why: Reasons = {}
    for row, (reference, hypothesis) in enumerate(zip(said, heard, strict=True)):
        words = reference.split()
        if row in unknown:
            why[row] = unknown[row]
        elif words:
            values[row] = meteor(words, hypothesis.split(), wordnet)
        else:
            why[row] = NO_WORDS
    return values, why


def _semantic(said: list[str], heard: list[str], unknown: Reasons) -> tuple[NDArray[np.float64], Reasons]:
    lists = lexicons()
    values = np.full(len(said), np.nan)
    why: Reasons = {}
    for row, (reference, hypothesis) in enumerate(zip(said, heard, strict=True)):
        value, reason = (None, unknown[row]) if row in unknown else semantic_wer(reference, hypothesis, lists)
        if value is None:
            why[row] = reason
        else:
            values[row] = value
    return values, why


# Scores: the values of several metrics for the same pairs, and for every undefined one its reason.


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """One column per metric, one row per pair.

    `values[name]` is NaN exactly where the metric is undefined, and `reasons[name]` then holds the reason under
    the row's index; `column` gives None instead. `notes[name]` says how a metric was computed where there is a
    choice (which matches METEOR could make, which model a learned metric used).
    """

    values: Mapping[str, NDArray[np.float64]]
    reasons: Mapping[str, Mapping[int, str]]
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, values in self.values.items():
            undefined = set(np.flatnonzero(np.isnan(values)).tolist())
            if undefined != set(self.reasons.get(name, {})):
                raise ValueError(f"{name}: a value is undefined without a reason, or has one in spite of it")

    def column(self, name: str) -> list[float | None]:
        """The values of one metric, None where it is undefined."""
        return [None if value != value else value for value in self.values[name].tolist()]

    def mean(self, name: str) -> float | None:
        """The mean over the pairs for which the metric is defined; None where there is none."""
        defined = self.values[name][~np.isnan(self.values[name])]
        return float(defined.mean()) if len(defined) else None

    def undefined(self) -> list[str]:
        """For every pair, which metrics are undefined and why, in words; empty where all are defined."""
        count = len(next(iter(self.values.values()))) if self.values else 0
        found: list[dict[str, list[str]]] = [{} for _ in range(count)]
        for name, reasons in self.reasons.items():
            for row, reason in reasons.items():
                found[row].setdefault(reason, []).append(name)
        return ["; ".join(f"{', '.join(names)}: {reason}" for reason, names in row.items()) for row in found]

    def frame(self) -> polars.DataFrame:
        """The scores as a table: a column per metric with nulls, and `undefined` with the reasons."""
        import polars

        columns: dict[str, Sequence[object]] = {name: self.column(name) for name in self.values}
        schema = dict.fromkeys(self.values, polars.Float64)
        return polars.DataFrame(columns, schema=schema).with_columns(
            polars.Series("undefined", self.undefined(), dtype=polars.String)
        )

    def content(self) -> dict[str, Any]:
        """The mean of every metric, and how many pairs it is defined for."""
        counts = {
            name: (len(values), len(self.reasons.get(name, {}))) for name, values in self.values.items()
        }
        return {
            "metrics": [
                {"metric": name, "mean": self.mean(name), "pairs": count - undefined, "undefined": undefined,
                 "note": self.notes.get(name)}
                for name, (count, undefined) in counts.items()
            ]
        }  # fmt: skip

    def text(self) -> str:
        """Mean, pairs and undefined ones of every metric, for a reader."""
        lines = [f"{'metric':<18}{'mean':>10}{'pairs':>9}{'undefined':>11}"]
        for name, values in self.values.items():
            mean, undefined = self.mean(name), len(self.reasons.get(name, {}))
            shown = "-" if mean is None else f"{mean:.4f}"
            note = f"  {self.notes[name]}" if name in self.notes else ""
            lines.append(f"{name:<18}{shown:>10}{len(values) - undefined:>9}{undefined:>11}{note}")
        return "\n".join(lines)
