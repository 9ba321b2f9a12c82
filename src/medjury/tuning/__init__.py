"""Tuning: a judge improved on clinicians' labels, with an artefact that an auditor can read, and no way from the
cases it was tuned on into its validation."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.tuning._dspy import dspy_metric, dspy_signature
    from medjury.tuning._held_out import HeldOut, HeldOutRow, evaluate_held_out
    from medjury.tuning._labelled import Labelled, LabelledCases, labelled_cases
    from medjury.tuning._objective import OBJECTIVES, Objective, make_objective
    from medjury.tuning._plan import TuningPlan
    from medjury.tuning._preparation import read_settings
    from medjury.tuning._prompts import lineage_content, lineage_text, prompt_difference
    from medjury.tuning._result import TuningResult
    from medjury.tuning._search.feedback import feedback
    from medjury.tuning._search.lineage import Ancestor, Lineage
    from medjury.tuning._search.texts import editable_texts, with_texts
    from medjury.tuning._settings import PRESETS, TuningPart, rollouts
    from medjury.tuning._splits import Split, split_cases
    from medjury.tuning._tune import plan_study_tuning, tune_study

__all__ = [
    "OBJECTIVES",
    "PRESETS",
    "Ancestor",
    "HeldOut",
    "HeldOutRow",
    "Labelled",
    "LabelledCases",
    "Lineage",
    "Objective",
    "Split",
    "TuningPart",
    "TuningPlan",
    "TuningResult",
    "dspy_metric",
    "dspy_signature",
    "editable_texts",
    "evaluate_held_out",
    "feedback",
    "labelled_cases",
    "lineage_content",
    "lineage_text",
    "make_objective",
    "plan_study_tuning",
    "prompt_difference",
    "read_settings",
    "rollouts",
    "split_cases",
    "tune_study",
    "with_texts",
]
