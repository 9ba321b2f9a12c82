"""Clinical impact of recognition errors: none (0), minimal (1) or significant (2), with the reasons in words.

The critical differences of a pair and one lexical metric go into a small ordinal model. No language model is
asked; a pair takes a fraction of a millisecond. The model's coefficients come with the package as JSON, with their
provenance; `fit_impact_model` is how they were made, and how a site with labelled pairs of its own makes others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import languages_of, not_english
from medjury.statistics import Estimate, bootstrap, clustered_proportion, ends, fit_ordinal, shown
from medjury.texts.metrics._differences import compare_pairs
from medjury.texts.metrics._pairs import TextPairs

if TYPE_CHECKING:
    import polars


FORMAT = "medjury impact model 1"
# What each feature is worth before any data, on the logit scale: a symptom or drug lost or invented, a denial
# turned round or an answer that is gone counts twice as much as a lost word; a denial that only echoes the
# question, or a changed "quite" or "often", half; how much of the characters is lost counts nothing by itself.
PRIOR = {
    "loaded_lost": 2.0,
    "loaded_added": 2.0,
    "echo_lost": 0.5,
    "qualifier_changed": 0.5,
    "content_changed": 1.0,
    "polarity_reversed": 2.0,
    "negation_changed": 1.0,
    "answer_lost": 2.0,
    "acknowledgement_lost": 1.0,
    "everything_lost": 1.0,
    "share_lost": 1.0,
    "chrf_lost": 0.0,
}
MODEL_FEATURES = tuple(PRIOR)
PRIOR_SPREAD = 0.5
# A level is given from the probability on at which it costs less than its omission: to miss a significant error
# is taken to be six times as bad as a false alarm, to miss any impact twice as bad.
SIGNIFICANT_FROM = 1 / 7
ANY_FROM = 1 / 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ImpactModel:
    """A small ordinal regression over MODEL_FEATURES: P(level ≥ k) = σ(x·β − αₖ), α₁ < α₂ (McCullagh 1980), with
    the probabilities from which on a level is given. With a hundred labelled rows the prior matters: each
    coefficient is drawn to a value that was written down before the data were seen, with a stated spread."""

    coefficients: tuple[float, ...]
    cuts: tuple[float, float]
    significant_from: float = SIGNIFICANT_FROM
    any_from: float = ANY_FROM
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def probabilities(self, features: Floats) -> Floats:
        """The probability of each level, one row per row of features."""
        line = features @ np.asarray(self.coefficients)
        at_least_one, two = (special.expit(line - cut) for cut in self.cuts)
        return np.stack([1.0 - at_least_one, at_least_one - two, two], axis=1)

    def levels(self, probabilities: Floats) -> NDArray[np.int64]:
        """2 where a significant impact is probable enough, else 1 where any impact is, else 0."""
        any_impact = np.where(1.0 - probabilities[:, 0] >= self.any_from, 1, 0)
        return np.where(probabilities[:, 2] >= self.significant_from, 2, any_impact)

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "coefficients": {
                    name: round(value, 6)
                    for name, value in zip(MODEL_FEATURES, self.coefficients, strict=True)
                },
                "cuts": [round(cut, 6) for cut in self.cuts],
                "significant_from": self.significant_from,
                "any_from": self.any_from,
                "provenance": dict(self.provenance),
            },
            indent=2,
            ensure_ascii=False,
        )


def fit_impact_model(
    features: Floats,
    levels: Sequence[int] | NDArray[np.int64],
    *,
    provenance: Mapping[str, Any] | None = None,
) -> ImpactModel:
    """Learn the coefficients from labelled pairs (levels 0, 1, 2; all three must occur)."""
    labels = np.asarray(levels, dtype=np.int64)
    if set(labels.tolist()) != {0, 1, 2}:
        raise MedjuryError(
            f"The labels are {sorted(set(labels.tolist()))}; the model is learned from pairs of all three "
            "levels, 0, 1 and 2."
        )
    prior = np.array(list(PRIOR.values()))[:, np.newaxis]
    cuts, slopes = fit_ordinal(
        features.T[:, :, np.newaxis], np.eye(3)[labels][:, :, np.newaxis], (prior, PRIOR_SPREAD)
    )
    ends = (float(cuts[0, 0]), float(cuts[1, 0]))
    return ImpactModel(tuple(slopes[:, 0].tolist()), ends, provenance=provenance or {})


def read_impact_model(text: str, name: str = "impact model") -> ImpactModel:
    """The model in a JSON text; `name` is what to call it in a complaint."""
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise MedjuryError(f"{name}: its format is {data['format']!r}, this version reads {FORMAT!r}.")
        found = data["coefficients"]
        if set(found) != set(MODEL_FEATURES):
            odd = ", ".join(sorted(set(found) ^ set(MODEL_FEATURES)))
            raise MedjuryError(f"{name}: its features are not those of this version ({odd}); fit it again.")
        low, high = (float(cut) for cut in data["cuts"])
        return ImpactModel(
            tuple(float(found[feature]) for feature in MODEL_FEATURES),
            (low, high),
            float(data["significant_from"]),
            float(data["any_from"]),
            data["provenance"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MedjuryError(f"{name}: this is not an impact model: {error}") from None


def load_impact_model(path: str | Path) -> ImpactModel:
    """The model in a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{path}: cannot be read: {error}") from None
    return read_impact_model(text, str(path))


@cache
def shipped_model() -> ImpactModel:
    """The model that comes with the package."""
    file = resources.files("medjury.texts.metrics").joinpath("impact_model.json")
    return read_impact_model(file.read_text(encoding="utf-8"), "impact_model.json")


NO_REFERENCE = "not estimated: there is no reference to compare with"

Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Impact:
    """The estimate for one pair. Without a reference, or in another language than English, there is none:
    `level` and `score` are None.

    `score` is the expected level, from 0 to 2; `probabilities` are those of the levels 0, 1 and 2; `reasons`
    say what changed, the gravest first, or why there is no estimate.
    """

    level: int | None
    score: float | None
    probabilities: tuple[float, float, float] | None
    reasons: tuple[str, ...]


def impact(
    references: Texts,
    hypotheses: Texts,
    questions: Texts | None = None,
    *,
    model: ImpactModel | None = None,
    languages: Sequence[str | None] | None = None,
) -> list[Impact]:
    """Estimate the clinical impact of every pair, and say why.

    `questions` are the turns before (usually the clinician's question); without one, a pair is taken for an
    answer about health. An empty hypothesis means that nothing was recognised. `languages` are those of the
    pairs; where none is stated, it is detected if py3langid is installed.

    >>> found = impact(["No, I don't take any aspirin."], ["no i take an aspirin"], ["Any medicines?"])[0]
    >>> found.level, found.reasons[0]
    (2, "'aspirin' was denied and now reads as affirmed: denial of a drug lost")
    """
    chosen = model or shipped_model()
    features, reasons = _compared(references, hypotheses, questions)
    unknown = _not_known(references, hypotheses, questions, languages)
    probabilities = chosen.probabilities(features)
    levels = chosen.levels(probabilities).tolist()
    results: list[Impact] = []
    for row, (reference, level, each, why) in enumerate(
        zip(references, levels, probabilities.tolist(), reasons, strict=True)
    ):
        if not reference or not reference.strip():
            results.append(Impact(None, None, None, (NO_REFERENCE,)))
        elif row in unknown:
            results.append(Impact(None, None, None, (unknown[row],)))
        else:
            none, minimal, significant = each
            results.append(Impact(level, minimal + 2.0 * significant, (none, minimal, significant), why))
    return results


def _not_known(
    references: Texts, hypotheses: Texts, questions: Texts | None, languages: Texts | None
) -> dict[int, str]:
    """Of the pairs in another language than English, why there is no estimate. The question shows the language of a
    short answer."""
    found = languages_of(languages, references, questions or references, hypotheses)
    return {row: why for row, language in enumerate(found) if (why := not_english(language))}


def impact_features(references: Texts, hypotheses: Texts, questions: Texts | None = None) -> Floats:
    """What the model sees: one row per pair, in the order of MODEL_FEATURES."""
    return _compared(references, hypotheses, questions)[0]


def _compared(
    references: Texts, hypotheses: Texts, questions: Texts | None
) -> tuple[Floats, list[tuple[str, ...]]]:
    sizes = {len(references), len(hypotheses), len(references) if questions is None else len(questions)}
    if len(sizes) > 1:
        raise MedjuryError(
            f"{len(references)} references, {len(hypotheses)} hypotheses"
            + ("" if questions is None else f" and {len(questions)} questions")
            + " cannot be paired. Give one of each for every pair."
        )
    said, heard = ([text or "" for text in texts] for texts in (references, hypotheses))
    return compare_pairs(said, heard, questions or [None] * len(said))


# How good is the impact estimate? Cross-validation by call against clinicians' labels, with intervals.


LEVELS = (0, 1, 2)
# With fewer pairs the interval of a rate held in all of 120 simulated studies of 20 calls.
FEWEST_OF_A_LEVEL = 50


@dataclass(frozen=True, slots=True, eq=False)
class ImpactCheck:
    """Out-of-fold predictions and what they are worth.

    `estimates` holds `kendall_tau_b` (of the score), `kappa_quadratic`, `accuracy`, `recall_2` and
    `precision_2` (of the level), each with an interval that resamples whole calls. `confusion[truth][said]`
    counts pairs.
    """

    levels: NDArray[np.int64]
    scores: Floats
    estimates: dict[str, Estimate]
    confusion: NDArray[np.int64]
    calls: int

    def content(self) -> dict[str, Any]:
        """Every estimate with its interval, and the labels (rows) against the estimates (columns)."""
        estimates = {name: ends(each) for name, each in self.estimates.items()}
        return {"calls": self.calls, "estimates": estimates, "confusion": self.confusion.tolist()}

    def text(self) -> str:
        """Every estimate with its interval, and the labels against the estimates, for a reader."""
        lines = [f"Against the labels, cross-validated over {self.calls} calls, 95 % intervals by call:"]
        lines += [f"  {name:<18}{shown(estimate):>24}" for name, estimate in self.estimates.items()]
        lines.append("  label \\ estimate" + "".join(f"{level:>6}" for level in LEVELS))
        for level, row in enumerate(self.confusion.tolist()):
            lines.append(f"  {level:>16}" + "".join(f"{count:>6}" for count in row))
        return "\n".join(lines)


def check_impact(
    references: Sequence[str | None],
    hypotheses: Sequence[str | None],
    questions: Sequence[str | None] | None,
    labels: Sequence[int],
    calls: Sequence[object],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> ImpactCheck:
    """Leave out one call at a time, learn the coefficients from the others, predict the call left out.

    Word lists, features, prior and thresholds are fixed; only coefficients and cuts are learned in a fold.
    """
    from medjury.analysis.agreement import cohen_kappa, kendall_tau_b

    truth = np.asarray(labels, dtype=np.int64)
    if not len(truth) == len(references) == len(calls):
        raise MedjuryError(
            f"{len(references)} pairs, {len(truth)} labels and {len(calls)} calls do not match."
        )
    if not set(truth.tolist()) <= set(LEVELS):
        raise MedjuryError("The labels of impact are 0, 1 and 2; there are others.")
    if others := _not_known(references, hypotheses, questions, None):
        rows = ", ".join(str(row + 1) for row in list(others)[:10])
        raise MedjuryError(
            f"{len(others)} pairs are in another language than English (row {rows}), for which the rules of impact "
            "are not known; leave them out of the check"
        )
    names = [str(call) for call in calls]
    if len(set(names)) < 2:
        raise MedjuryError("Cross-validation by call needs at least two calls; there is one.")
    features = impact_features(references, hypotheses, questions)
    probabilities = np.zeros((len(truth), 3))
    levels = np.zeros(len(truth), dtype=np.int64)
    for call in sorted(set(names)):
        left_out = np.array([name == call for name in names])
        model = fit_impact_model(features[~left_out], truth[~left_out])
        probabilities[left_out] = model.probabilities(features[left_out])
        levels[left_out] = model.levels(probabilities[left_out])
    scores = probabilities[:, 1] + 2.0 * probabilities[:, 2]
    options: dict[str, Any] = {"clusters": names, "resamples": resamples, "seed": seed}
    estimates = {
        "kendall_tau_b": kendall_tau_b(scores, truth, **options),
        "kappa_quadratic": cohen_kappa(truth, levels, scale=LEVELS, weights="quadratic", **options),
        **rates(truth, levels, options),
    }
    confusion = np.zeros((3, 3), dtype=np.int64)
    np.add.at(confusion, (truth, levels), 1)
    return ImpactCheck(levels, scores, estimates, confusion, len(set(names)))


def rates(
    truth: NDArray[np.int64], levels: NDArray[np.int64], options: dict[str, Any]
) -> dict[str, Estimate]:
    """Accuracy, and of level 2 recall and precision, with intervals that resample whole calls."""
    found = bootstrap(np.column_stack([truth, levels]).astype(np.float64), _rates, **options)
    calls = np.asarray(options["clusters"], dtype=object)
    for name, counted in (("accuracy", truth >= 0), ("recall_2", truth == 2), ("precision_2", levels == 2)):
        if found[name].value in (0.0, 1.0):
            # No resample moves a rate of 0 or 1, and it is not certain for that.
            found[name] = clustered_proportion((truth == levels)[counted], calls[counted])
        elif counted.sum() < FEWEST_OF_A_LEVEL and found[name].low is not None:
            why = f"{counted.sum()} pairs are too few, at least {FEWEST_OF_A_LEVEL} are needed"
            found[name] = found[name].without_interval(why)
    return found


def _rates(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
    truth, said = rows[:, 0], rows[:, 1]
    right = (truth == said).astype(np.float64)
    both = ((truth == 2) & (said == 2)).astype(np.float64)
    is_two, said_two = (truth == 2).astype(np.float64), (said == 2).astype(np.float64)

    def read(weights: Floats) -> dict[str, Floats]:
        return {
            "accuracy": weights @ right / weights.sum(axis=-1),
            "recall_2": weights @ both / (weights @ is_two),
            "precision_2": weights @ both / (weights @ said_two),
        }

    return read


# A table of turns with the clinical impact of what changed: estimated, checked, and learned from labels.


ADDED = ("impact", "impact_score", "reasons")
_LEVELS = {2: "significant", 1: "minimal", 0: "none", None: "not estimated"}
_CAUTION = "A screening estimate: level 2 says that a clinician should read the pair, not that harm was done."


@dataclass(frozen=True, eq=False)
class ImpactPairs(TextPairs):
    """A table of turns whose clinical impact is estimated."""

    @classmethod
    def read(
        cls,
        file: str | Path,
        reference: str,
        hypothesis: str,
        question: str | None = None,
        also: Sequence[str | None] = (),
        language: str | None = None,
    ) -> ImpactPairs:
        """The table in a file; `also` are further columns that it must have. `language` is that of the pairs,
        or the column that states it."""
        made = cls._opened(file, reference, hypothesis, question, also=also, added=ADDED)
        return replace(made, language=language)

    @property
    def texts(self) -> tuple[Texts, Texts, Texts | None]:
        """What was said, what was recognised, and what was asked before."""
        asked = self.column(self.question) if self.question else None
        return self.column(self.reference), self.column(self.hypothesis), asked

    def estimate(self, model: str | Path | None = None) -> list[Impact]:
        """The impact of every pair, by the model in a file or by that of the package."""
        return impact(
            *self.texts, model=load_impact_model(model) if model else None, languages=self.languages
        )

    def with_impact(self, found: Sequence[Impact]) -> polars.DataFrame:
        """The table with the level, the score and the reasons of every pair."""
        import polars as pl

        scores = [None if each.score is None else round(each.score, 4) for each in found]
        return self.frame.with_columns(
            pl.Series("impact", [each.level for each in found], dtype=pl.Int64),
            pl.Series("impact_score", scores, dtype=pl.Float64),
            pl.Series("reasons", ["; ".join(each.reasons) for each in found], dtype=pl.String),
        )

    @staticmethod
    def counts(found: Sequence[Impact]) -> dict[str, int]:
        """How many pairs have which impact."""
        levels = [each.level for each in found]
        return {
            name: levels.count(level)
            for level, name in _LEVELS.items()
            if level is not None or None in levels
        }

    def text(self, found: Sequence[Impact]) -> str:
        """The same for a reader."""
        return "\n".join(
            [*(f"  {name:<30}{count:>8}" for name, count in self.counts(found).items()), _CAUTION]
        )

    def check(self, label: str, call: str, *, resamples: int, seed: int) -> ImpactCheck:
        """The estimate beside clinicians' labels, cross-validated by call."""
        return check_impact(
            *self.texts, self.labels(label), self.column(call), resamples=resamples, seed=seed
        )

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
