from ._dspy import dspy_metric as dspy_metric
from ._dspy import dspy_signature as dspy_signature
from ._held_out import HeldOut as HeldOut
from ._held_out import HeldOutRow as HeldOutRow
from ._held_out import evaluate_held_out as evaluate_held_out
from ._labelled import Labelled as Labelled
from ._labelled import LabelledCases as LabelledCases
from ._labelled import labelled_cases as labelled_cases
from ._objective import OBJECTIVES as OBJECTIVES
from ._objective import Objective as Objective
from ._objective import make_objective as make_objective
from ._plan import TuningPlan as TuningPlan
from ._preparation import read_settings as read_settings
from ._prompts import (
    lineage_content as lineage_content,
)
from ._prompts import (
    lineage_text as lineage_text,
)
from ._prompts import (
    prompt_difference as prompt_difference,
)
from ._result import TuningResult as TuningResult
from ._search.feedback import feedback as feedback
from ._search.lineage import Ancestor as Ancestor
from ._search.lineage import Lineage as Lineage
from ._search.texts import editable_texts as editable_texts
from ._search.texts import with_texts as with_texts
from ._settings import PRESETS as PRESETS
from ._settings import TuningPart as TuningPart
from ._settings import rollouts as rollouts
from ._splits import Split as Split
from ._splits import split_cases as split_cases
from ._tune import plan_study_tuning as plan_study_tuning
from ._tune import tune_study as tune_study
