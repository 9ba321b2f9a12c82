"""Leaderboards: who does better on which benchmarks, how sure that is, and a page that anybody can open."""

from medjury.suites._leaderboard._board import Board, board_of
from medjury.suites._leaderboard._page import write_leaderboard
from medjury.suites._leaderboard._results import (
    AgreementResult,
    AnswerResult,
    BaselineResult,
    BenchmarkResult,
    CandidateResult,
    ItemResult,
    JuryResult,
    Results,
    Spending,
)

__all__ = [
    "AgreementResult",
    "AnswerResult",
    "BaselineResult",
    "BenchmarkResult",
    "Board",
    "CandidateResult",
    "ItemResult",
    "JuryResult",
    "Results",
    "Spending",
    "board_of",
    "write_leaderboard",
]
