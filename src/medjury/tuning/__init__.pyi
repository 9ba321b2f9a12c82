from ._dspy import dspy_metric as dspy_metric, dspy_signature as dspy_signature
from ._held_out import HeldOut as HeldOut, HeldOutRow as HeldOutRow, evaluate_held_out as evaluate_held_out
from ._labelled import Labelled as Labelled, LabelledCases as LabelledCases, labelled_cases as labelled_cases
from ._objective import OBJECTIVES as OBJECTIVES, Objective as Objective, make_objective as make_objective
from ._plan import TuningPlan as TuningPlan
from ._preparation import read_settings as read_settings
from ._prompts import (
    lineage_content as lineage_content,
    lineage_text as lineage_text,
    prompt_difference as prompt_difference,
)
from ._result import TuningResult as TuningResult
from ._search.feedback import feedback as feedback
from ._search.lineage import Ancestor as Ancestor, Lineage as Lineage
from ._search.texts import editable_texts as editable_texts, with_texts as with_texts
from ._settings import PRESETS as PRESETS, TuningPart as TuningPart, rollouts as rollouts
from ._splits import Split as Split, split_cases as split_cases
from ._tune import plan_study_tuning as plan_study_tuning, tune_study as tune_study
