"""Leaderboards: who does better on which benchmarks, how sure that is, and a page that anybody can open."""

from medjury.suites._leaderboard._costs import candidate_costs, payer_costs
from medjury.suites._leaderboard._data import board_json, cells_csv, standings_csv
from medjury.suites._leaderboard._names import metric_name, slugs
from medjury.suites._leaderboard._page import write_leaderboard
from medjury.suites._leaderboard._results import (
    AgreementResult,
    AnswerResult,
    BaselineResult,
    BenchmarkResult,
    CandidateResult,
    HelmResult,
    ItemResult,
    JuryResult,
    MemoryResult,
    PublishedResult,
    ReachResult,
    Results,
    Spending,
    State,
)
from medjury.suites._leaderboard._standings import Board, board_of

__all__ = [
    "AgreementResult",
    "AnswerResult",
    "BaselineResult",
    "BenchmarkResult",
    "Board",
    "CandidateResult",
    "HelmResult",
    "ItemResult",
    "JuryResult",
    "MemoryResult",
    "PublishedResult",
    "ReachResult",
    "Results",
    "Spending",
    "State",
    "board_json",
    "board_of",
    "candidate_costs",
    "cells_csv",
    "metric_name",
    "payer_costs",
    "slugs",
    "standings_csv",
    "write_leaderboard",
]
