"""The rule of a simulated jury as a file for a study, with where it came from."""

from __future__ import annotations

from pathlib import Path

from medjury.analysis.calibration._jury_simulation.face import JurySimulation
from medjury.version import __version__


def save_jury_rule(found: JurySimulation, path: str | Path, *, ratings: str | Path = "") -> None:
    """Write the rule as .json, for `rule: FILE` in a study file; `ratings` names where the votes came from."""
    from medjury.judging import SavedAdaptiveRule, save_adaptive_rule

    learnt = {
        "signal": found.signal,
        "seed": found.seed,
        "cases": found.n_training[0],
        "ratings": Path(ratings).name,
        "data_sha256": found.data_sha256,
        "medjury": __version__,
        "result": found.verdict,
    }
    save_adaptive_rule(path, SavedAdaptiveRule(found.rule, found.jurors, dict(found.scales)), learnt)
