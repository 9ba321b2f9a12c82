"""Exchange with other programs: their answers and scores on our leaderboard, our juries and runs in their hands.

Nothing of theirs is imported until it is used, and none of them is needed otherwise."""

from medjury.suites._exchange._as_ratings import (
    Questions,
    is_given,
    ratings_of_given,
    read_given,
    record_given,
    speaker_of,
)
from medjury.suites._exchange._jury_elsewhere import (
    AnswerJury,
    JuryAnnotator,
    Opinion,
    UnscoredError,
    deepeval_metric,
    helm_jury_metric,
    inspect_scorer,
    texts_for,
)
from medjury.suites._exchange._mlflow_log import log_to_mlflow
from medjury.suites._exchange._others_answers import GivenAnswer, GivenRun, Matched, match_answers
from medjury.suites._exchange._published import read_published

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
    "read_published",
    "record_given",
    "speaker_of",
    "texts_for",
]
