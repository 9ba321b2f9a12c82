"""Text metrics as raters beside the judges: `metrics: [rouge_l, wer]` in the study file.

They are computed when the run is concluded, or by workers of a cluster and then stored, and never have a seat in a
jury: a metric's numbers are on a scale of their own, so that it is compared by correlation alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Reason
from medjury.intake.cases import Case, language_of
from medjury.models import folder_fingerprint, refuse_bits_without_libraries, split_bits
from medjury.store.ratings import Rating

if TYPE_CHECKING:
    from medjury.texts.metrics import Kept, MetricScores


# The metrics themselves are imported where one is named: most studies name none.

# Answers that are scored at once: texts of so many fit in memory, and a model is loaded once for them.
BATCH = 2000
Named = Sequence[str | Mapping[str, str | float | None]]
_NEEDS = {"gpus": 64.0, "cpus": 1024.0}  # words that are no metric, and the most of each
Column = tuple[list[float | None], Mapping[int, str], Reason]


class Need(NamedTuple):
    """How many GPUs and processors a worker needs for a metric, in whole or in part."""

    gpus: float = 0.0
    cpus: float = 0.0


@dataclass(frozen=True)
class MetricRaters:
    """The metrics of a study by the names under which they rate, with the model of a learned one, "" of others."""

    models: Mapping[str, str]
    needs: Mapping[str, Need] = field(default_factory=dict)  # of those that say what a worker needs for them

    @property
    def for_workers(self) -> tuple[str, ...]:
        """Those that workers of a cluster score: with a model, or where the study says what a worker needs."""
        return tuple(name for name, model in self.models.items() if model or name in self.needs)

    @cached_property
    def identities(self) -> Mapping[str, str]:
        """By metric what its numbers rest on: of a model in a folder its content, wherever it lies."""
        return {name: _identity(model) for name, model in self.models.items()}

    def ratings(
        self,
        cases: Iterable[Case],
        instrument: Instrument,
        when: str,
        names: Collection[str] | None = None,
        kept: Kept | None = None,
    ) -> Iterator[Rating]:
        """A row for every answer, metric and dimension: the same number on each. Texts are compared without case
        and signs, numbers in words; an answer that says that nothing was recognised is empty. Without a reference,
        or where the metric fails, the row is unscored and says why. `names` are those that are wanted, `kept` is
        where models stay loaded from one call to the next."""
        wanted = [name for name in self.models if names is None or name in names]
        waiting = iter(cases)
        while wanted and (some := list(islice(waiting, BATCH))):
            columns = self._scored(some, wanted, kept)
            for row, case in enumerate(some):
                for name, (values, reasons, kind) in columns.items():
                    for dimension, key in self.keys(case, name, instrument).items():
                        value = values[row]
                        yield Rating(
                            item=case.id,
                            system=case.system,
                            rater=name,
                            rater_kind="metric",
                            instrument=_label(instrument),
                            dimension=dimension,
                            repeat=0,
                            score=value,
                            status="unscored" if value is None else "scored",
                            reason=kind if value is None else None,
                            explanation=reasons.get(row, ""),
                            seconds=None,
                            tokens_in=None,
                            tokens_out=None,
                            cost=None,
                            created_at=when,
                            key=key,
                        )

    def keys(self, case: Case, name: str, instrument: Instrument) -> dict[str, str]:
        """By dimension the key of a metric's rating of a case: the same wherever it is scored."""
        parts = (case.fingerprint(), name, self.identities[name], _label(instrument))
        return {each: _hashed("\0".join((*parts, each))) for each in rated_dimensions(instrument)}

    def _scored(self, cases: Sequence[Case], names: Sequence[str], kept: Kept | None) -> dict[str, Column]:
        from medjury.texts.metrics import IMPACT_ESTIMATE, score
        from medjury.texts.transcripts import NOTHING, normalise

        spoken = [language_of(case) for case in cases]
        given = [
            normalise(case.reference or "", language=each) for case, each in zip(cases, spoken, strict=True)
        ]
        heard = [
            "" if case.candidate == NOTHING else normalise(case.candidate or "", language=each)
            for case, each in zip(cases, spoken, strict=True)
        ]
        found: dict[str, Column] = {}
        for name in names:
            model = self.models[name]
            if name == IMPACT_ESTIMATE.name:
                found[name] = _impact_estimates(cases, spoken)
                continue
            try:
                scores: MetricScores = score(
                    given,
                    heard,
                    [name],
                    models={name: model} if model else {},
                    languages=spoken,
                    kept=kept,
                )
            except (
                MedjuryError,
                OSError,
                RuntimeError,
                ValueError,
            ) as error:  # the judges' answers count all the same
                why = str(error) or type(error).__name__
                found[name] = [None] * len(cases), dict.fromkeys(range(len(cases)), why), Reason.PROVIDER
            else:
                found[name] = scores.column(name), scores.reasons.get(name, {}), Reason.INPUT
        return found

    def described(self) -> dict[str, str]:
        """For the manifest: how each was computed."""
        from medjury.texts.metrics import IMPACT_ESTIMATE

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
    to the study file. What is not known, or has the name of a judge, is refused before anything is asked."""
    if not named:
        return None
    from medjury.texts.metrics import IMPACT_ESTIMATE, base_name, metric_named, models_of

    given: dict[str, list[str]] = {}
    wanted: list[str] = []
    needs: list[tuple[str, str, Need]] = []
    for each in named:
        word, model, need = _read(each)
        name = IMPACT_ESTIMATE.name if word == IMPACT_ESTIMATE.name else metric_named(word).name
        if need is not None:
            needs.append((name, model, need))
        if name == IMPACT_ESTIMATE.name:
            continue
        wanted.append(base_name(name) if model else name)
        if model:
            refuse_bits_without_libraries(model)
            here = (folder / split_bits(model)[0]).is_dir()
            given.setdefault(name, []).append(str(folder / model) if here else model)
    chosen = models_of(list(dict.fromkeys(wanted)), given)
    if any(_read(each)[0] == IMPACT_ESTIMATE.name for each in named):
        chosen[IMPACT_ESTIMATE.name] = ""
    for name in chosen:
        if name in taken:
            raise MedjuryError(f"{name!r} is the name of a judge or of the jury; rename that one")
    learned = [name for name, model in chosen.items() if model]
    if learned and not all(map(importlib.util.find_spec, ("torch", "transformers"))):
        raise MedjuryError(f"{learned[0]} needs torch and transformers: pip install 'medjury[neural]'")
    models = {name: str(model) for name, model in chosen.items()}
    return MetricRaters(models, _needs_of(needs, models))


def rated_dimensions(instrument: Instrument) -> list[str]:
    """The dimensions that a metric rates, each with the same number: all, the reversed and the composites too.
    Where the marks of criteria are graded, the score of the whole answer."""
    derived = (*(each.name for each in instrument.reversed), *(each.name for each in instrument.composites))
    if instrument.by_case:
        return [*derived]
    return [*(each.name for each in instrument.dimensions), *derived]


def _read(entry: str | Mapping[str, str | float | None]) -> tuple[str, str, Need | None]:
    """The metric's word, its model ("" where none is named), and what a worker needs for it, where that is
    stated."""
    entries = {entry: None} if isinstance(entry, str) else dict(entry)
    stated = {name: entries.pop(name) for name in _NEEDS if name in entries}
    if len(entries) != 1 or any(isinstance(model, float | int) for model in entries.values()):
        raise MedjuryError(
            "a metric is a word such as `rouge_l`, or a word and its model, `{sbert: FOLDER}`, and what a worker "
            "of a cluster needs for it: `{sbert: FOLDER, gpus: 1}`"
        )
    for name, value in stated.items():
        if not isinstance(value, float | int) or not 0 < value <= _NEEDS[name]:
            raise MedjuryError(f"{name}: is a number above 0 and at most {_NEEDS[name]:g}, not {value!r}")
    [(word, model)] = entries.items()
    numbers = {name: float(value) for name, value in stated.items() if isinstance(value, float | int)}
    return word, str(model or ""), Need(**numbers) if stated else None


def _needs_of(stated: Sequence[tuple[str, str, Need]], models: Mapping[str, str]) -> dict[str, Need]:
    """What was stated of each metric, under the names by which they rate: `nli@small` where there are several."""
    from medjury.texts.metrics import base_name

    found = {}
    for name, model, need in stated:
        for rater, used in models.items():
            mine = rater == name or (
                base_name(rater) == name and bool(model) and Path(used).name == Path(model).name
            )
            if mine:
                found[rater] = need
    return found


def _identity(model: str) -> str:
    folder, bits = split_bits(model)
    if not model or not Path(folder).is_dir():
        return model
    return folder_fingerprint(Path(folder)) + (f":{bits}bit" if bits else "")


def _label(instrument: Instrument) -> str:
    return f"{instrument.name}@{instrument.version}"


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _impact_estimates(cases: Sequence[Case], languages: Sequence[str]) -> Column:
    """The expected impact of each pair, from 0 to 2, and in words what changed. The turn before is the last line of
    the text `context`, without the speaker's name."""
    from medjury.texts.metrics import impact
    from medjury.texts.transcripts import NOTHING

    before = [case.texts.get("context", "").rstrip().rsplit("\n", 1)[-1] for case in cases]
    found = impact(
        [case.reference for case in cases],
        ["" if case.candidate == NOTHING else case.candidate for case in cases],
        [line.partition(": ")[2] or line for line in before],
        languages=languages,
    )
    return (
        [each.score for each in found],
        {row: "; ".join(each.reasons) for row, each in enumerate(found)},
        Reason.INPUT,
    )
