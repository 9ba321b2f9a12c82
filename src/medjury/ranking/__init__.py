"""Ranking: which systems are better, by how much, at what cost, and which cannot be told apart."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.ranking._benchmark_scores import score_table
    from medjury.ranking._cost import read_costs
    from medjury.ranking._rank import agreement_after, rank
    from medjury.ranking._ranking import Ranking, Standing

__all__ = ["Ranking", "Standing", "agreement_after", "rank", "read_costs", "score_table"]
