"""Exchange with other programs: their answers and scores on our leaderboard, our juries and runs in their hands.

Nothing of theirs is imported until it is used, and none of them is needed otherwise."""

from medjury.suites._exchange._answer_jury import AnswerJury, Opinion
from medjury.suites._exchange._as_ratings import (
    Questions,
    is_given,
    ratings_of_given,
    read_given,
    record_given,
    speaker_of,
)
from medjury.suites._exchange._deepeval_metric import UnscoredError, deepeval_metric
from medjury.suites._exchange._given import GivenAnswer, GivenRun
from medjury.suites._exchange._helm_annotator import JuryAnnotator, helm_jury_metric
from medjury.suites._exchange._inspect_scorer import inspect_scorer
from medjury.suites._exchange._match import Matched, match_answers
from medjury.suites._exchange._mlflow_log import log_to_mlflow

__all__ = [
    "AnswerJury",
    "GivenAnswer",
    "GivenRun",
    "JuryAnnotator",
    "Matched",
    "Opinion",
    "Questions",
    "UnscoredError",
    "deepeval_metric",
    "helm_jury_metric",
    "inspect_scorer",
    "is_given",
    "log_to_mlflow",
    "match_answers",
    "ratings_of_given",
    "read_given",
    "record_given",
    "speaker_of",
]
