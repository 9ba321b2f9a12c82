from ._dspy import dspy_metric as dspy_metric
from ._dspy import dspy_signature as dspy_signature
from ._plan import read_settings as read_settings
from ._report import prompt_difference as prompt_difference
from ._report import read_lineage as read_lineage
from ._tune import plan_study_tuning as plan_study_tuning
from ._tune import tune_study as tune_study
