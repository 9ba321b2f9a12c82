"""Tables: ratings from anywhere, made ready once: who rated what, on which scale, for which patient."""

from medjury.tables._clean import clean_rows
from medjury.tables._consensus import (
    ConsensusRule,
    adjudicated,
    consensus_of,
    majority,
    mean_of_raters,
    median_of_raters,
)
from medjury.tables._grades import Grades, GradesArgument, grades_from_instrument, grades_of, round_half_up
from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid, Grids, RepeatRule, grids
from medjury.tables._read import read_rating_table
from medjury.tables._spelling import known_rater, look_alikes

__all__ = [
    "ABSENT",
    "NOT_APPLICABLE",
    "SCORED",
    "UNSCORED",
    "ConsensusRule",
    "Grades",
    "GradesArgument",
    "Grid",
    "Grids",
    "RepeatRule",
    "adjudicated",
    "clean_rows",
    "consensus_of",
    "grades_from_instrument",
    "grades_of",
    "grids",
    "known_rater",
    "look_alikes",
    "majority",
    "mean_of_raters",
    "median_of_raters",
    "read_rating_table",
    "round_half_up",
]
