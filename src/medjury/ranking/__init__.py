"""Ranking: which systems are better, by how much, at what cost, and which cannot be told apart."""

from medjury.ranking._agreement import RankingAgreement, ranking_agreement
from medjury.ranking._calibrated import calibrated_ratings
from medjury.ranking._composite import add_composite
from medjury.ranking._cost import CostPoint, cost_performance
from medjury.ranking._detectable import DetectableEffect, detectable_effects
from medjury.ranking._file import read_plain_table, read_score_table
from medjury.ranking._rank import Measure, PairDifference, Ranking, Standing, rank
from medjury.ranking._read import composite_of, read_scores
from medjury.ranking._scores import Missing, Scores
from medjury.ranking._ties import Separation, rank_limits, separate, tie_groups
from medjury.ranking._win_rate import Ties, rival_win_rates, win_shares

__all__ = [
    "CostPoint",
    "DetectableEffect",
    "Measure",
    "Missing",
    "PairDifference",
    "Ranking",
    "RankingAgreement",
    "Scores",
    "Separation",
    "Standing",
    "Ties",
    "add_composite",
    "calibrated_ratings",
    "composite_of",
    "cost_performance",
    "detectable_effects",
    "rank",
    "rank_limits",
    "ranking_agreement",
    "read_plain_table",
    "read_score_table",
    "read_scores",
    "rival_win_rates",
    "separate",
    "tie_groups",
    "win_shares",
]
