"""Text metrics as raters beside the judges: `metrics: [rouge_l, wer]` in the study file.

They are computed when the run is concluded, not stored, and never have a seat in a jury: a metric's numbers are on
a scale of their own, so that it is compared by correlation alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from medjury.cases import Case
from medjury.errors import MedjuryError
from medjury.instruments import Instrument, Reason
from medjury.metrics import (
    IMPACT_ESTIMATE,
    MetricScores,
    base_name,
    impact,
    metric_named,
    models_of,
    refuse_bits_without_libraries,
    score,
    split_bits,
)
from medjury.ratings import Rating
from medjury.transcripts import NOTHING, normalise

# Answers that are scored at once: texts of so many fit in memory, and a model is loaded once for them.
BATCH = 2000
Named = Sequence[str | Mapping[str, str]]
Column = tuple[list[float | None], Mapping[int, str], Reason]


@dataclass(frozen=True)
class MetricRaters:
    """The metrics of a study by the names under which they rate, with the model of a learned one, "" of others."""

    models: Mapping[str, str]

    def ratings(self, cases: Iterable[Case], instrument: Instrument, when: str) -> Iterator[Rating]:
        """A row for every answer, metric and dimension: the same number on each. Texts are compared without case
        and signs, numbers in words; an answer that says that nothing was recognised is empty. Without a reference,
        or where the metric fails, the row is unscored and says why."""
        dimensions = [each.name for each in instrument.dimensions]
        dimensions += [each.name for each in instrument.reversed] + [
            each.name for each in instrument.composites
        ]
        label = f"{instrument.name}@{instrument.version}"
        waiting = iter(cases)
        while some := list(islice(waiting, BATCH)):
            columns = self._scored(some)
            for row, case in enumerate(some):
                for name, (values, reasons, kind) in columns.items():
                    for dimension in dimensions:
                        key = "\0".join((case.fingerprint(), name, self.models[name], label, dimension))
                        yield _rating(
                            case, name, label, dimension, values[row], reasons.get(row, ""), kind, key, when
                        )

    def _scored(self, cases: Sequence[Case]) -> dict[str, Column]:
        said = [normalise(case.reference or "") for case in cases]
        heard = ["" if case.candidate == NOTHING else normalise(case.candidate or "") for case in cases]
        found: dict[str, Column] = {}
        for name, model in self.models.items():
            if name == IMPACT_ESTIMATE.name:
                found[name] = _impact_estimates(cases)
                continue
            try:
                scores: MetricScores = score(said, heard, [name], models={name: model} if model else {})
            except (
                MedjuryError,
                OSError,
                RuntimeError,
                ValueError,
            ) as error:  # the judges' answers stand all the same
                why = str(error) or type(error).__name__
                found[name] = [None] * len(cases), dict.fromkeys(range(len(cases)), why), Reason.PROVIDER
            else:
                found[name] = scores.column(name), scores.reasons.get(name, {}), Reason.INPUT
        return found

    def described(self) -> dict[str, str]:
        """For the manifest: how each was computed."""
        return {
            name: "texts as they are, with the turn before"
            if name == IMPACT_ESTIMATE.name
            else f"normalised texts, model {model}"
            if model
            else "normalised texts"
            for name, model in self.models.items()
        }


def metric_raters(named: Named, folder: Path, taken: Sequence[str]) -> MetricRaters | None:
    """The metrics that a study file names, each a word or `{bert_score: MODEL}`; a model's folder may be relative
    to the study file. What is not known, or could not be told from a judge, is refused before anything is asked."""
    if not named:
        return None
    given: dict[str, list[str]] = {}
    wanted: list[str] = []
    for each in named:
        if each == IMPACT_ESTIMATE.name:
            continue
        entries = {each: ""} if isinstance(each, str) else dict(each)
        if len(entries) != 1:
            raise MedjuryError(
                "a metric is a word such as `rouge_l`, or a word and its model: `{sbert: FOLDER}`"
            )
        for word, model in entries.items():
            name = metric_named(word).name
            wanted.append(base_name(name) if model else name)
            if model:
                refuse_bits_without_libraries(model)
                here = (folder / split_bits(model)[0]).is_dir()
                given.setdefault(name, []).append(str(folder / model) if here else model)
    chosen = models_of(list(dict.fromkeys(wanted)), given)
    if IMPACT_ESTIMATE.name in named:
        chosen[IMPACT_ESTIMATE.name] = ""
    for name in chosen:
        if name in taken:
            raise MedjuryError(f"{name!r} is the name of a judge or of the jury; give that one another")
    learned = [name for name, model in chosen.items() if model]
    if learned and not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        raise MedjuryError(f"{learned[0]} needs torch and transformers: pip install 'medjury[neural]'")
    return MetricRaters({name: str(model) for name, model in chosen.items()})


def _impact_estimates(cases: Sequence[Case]) -> Column:
    """The expected impact of each pair, from 0 to 2, and in words what changed. The turn before is the last line of
    the text `context`, without the speaker's name."""
    before = [case.texts.get("context", "").rstrip().rsplit("\n", 1)[-1] for case in cases]
    found = impact(
        [case.reference for case in cases],
        ["" if case.candidate == NOTHING else case.candidate for case in cases],
        [line.partition(": ")[2] or line for line in before],
    )
    return (
        [each.score for each in found],
        {row: "; ".join(each.reasons) for row, each in enumerate(found)},
        Reason.INPUT,
    )


def _rating(
    case: Case,
    name: str,
    label: str,
    dimension: str,
    value: float | None,
    why: str,
    kind: Reason,
    key: str,
    when: str,
) -> Rating:
    return Rating(
        item=case.id,
        system=case.system,
        rater=name,
        rater_kind="metric",
        instrument=label,
        dimension=dimension,
        repeat=0,
        score=value,
        status="unscored" if value is None else "scored",
        reason=kind if value is None else None,
        explanation=why,
        seconds=None,
        tokens_in=None,
        tokens_out=None,
        cost=None,
        created_at=when,
        key=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest(),
    )
