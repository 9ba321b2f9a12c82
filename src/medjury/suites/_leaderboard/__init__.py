"""Leaderboards: who does better on which benchmarks, how sure that is, and a page that anybody can open."""
