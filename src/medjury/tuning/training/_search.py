"""Searching settings: each trial trains for a while, and what counts is how it does on the development cases.

As in Croxford et al. (2025): supervised training by its loss, preference training by its reward margin. The trials
are kept in a file, so that a search that was stopped goes on with the next one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.tuning.training._data import Lessons
from medjury.tuning.training._libraries import library
from medjury.tuning.training._settings import TrainSettings
from medjury.tuning.training._train import train

SEARCH = "search"
RATES, BETAS, RANKS = (1e-7, 1e-3), (0.1, 0.9), (4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Searched:
    """The settings that did best, and every trial: what was tried and what came of it."""

    best: TrainSettings
    trials: Sequence[dict[str, Any]]
    measure: str


def search(
    lessons: Lessons, base: str | Path, folder: Path, settings: TrainSettings, trials: int
) -> Searched:
    """Try `trials` settings around the given ones: rate, rank and alpha, and beta for preferences."""
    if not lessons.development:
        raise MedjuryError(
            "a search needs development cases, by which settings are chosen; set some apart with --development"
        )
    optuna = library("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    place = folder / SEARCH
    private_folder(place)
    by_loss = settings.method == "sft"
    measure = "development_loss" if by_loss else "development_margin"
    kept = optuna.create_study(
        study_name="search",
        storage=f"sqlite:///{place / 'trials.sqlite'}",
        load_if_exists=True,
        direction="minimize" if by_loss else "maximize",
        sampler=optuna.samplers.TPESampler(seed=settings.seed),
    )

    def attempt(trial: Any) -> float:
        tried = settings.changed(_suggested(trial, settings))
        found = train(lessons, base, place / f"trial-{trial.number}", tried, merged=False)
        value = found.facts[measure]
        if value is None:
            raise MedjuryError(f"trial {trial.number} has no {measure}; every development lesson is too long")
        return float(value)

    done = sum(each.state.is_finished() for each in kept.trials)
    if done < trials:
        kept.optimize(attempt, n_trials=trials - done)
    rows = [
        {"trial": each.number, **each.params, measure: each.value}
        for each in kept.trials
        if each.value is not None
    ]
    write_whole(place / "trials.csv", _table(rows))
    return Searched(settings.changed(_settings(kept.best_params)), rows, measure)


def _suggested(trial: Any, settings: TrainSettings) -> dict[str, Any]:
    drawn = {
        "rate": trial.suggest_float("rate", *RATES, log=True),
        "rank": trial.suggest_categorical("rank", RANKS),
        "alpha_per_rank": trial.suggest_categorical("alpha_per_rank", (1, 2, 4)),
    }
    if settings.method == "dpo":
        drawn["beta"] = trial.suggest_float("beta", *BETAS)
    return _settings(drawn)


def _settings(drawn: dict[str, Any]) -> dict[str, Any]:
    """What Optuna drew as training settings: alpha goes with the rank."""
    found = {name: value for name, value in drawn.items() if name != "alpha_per_rank"}
    return {**found, "alpha": drawn["rank"] * drawn["alpha_per_rank"]}


def _table(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["trial"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
