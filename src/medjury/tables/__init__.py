"""Tables: ratings from anywhere, made ready once: who rated what, on which scale, for which patient."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.tables._answers import answers_of
    from medjury.tables._case_columns import CASE_PARTS, MOST_GROUPS, tells_groups
    from medjury.tables._clean import PROBABILITY, clean_rows
    from medjury.tables._consensus import ConsensusRule, adjudicated, consensus_of, majority, mean_of_raters
    from medjury.tables._consensus_rater import with_consensus
    from medjury.tables._danger import danger_reference
    from medjury.tables._grades import Grades, GradesArgument, grades_from_instrument, grades_of
    from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid, RepeatRule
    from medjury.tables._jury import CALIBRATED, JURY, JuryName, JuryRule, add_jury
    from medjury.tables._measured import Measured
    from medjury.tables._open import open_run, rating_table, with_rules
    from medjury.tables._plain import read_plain_table
    from medjury.tables._probability import probability_of
    from medjury.tables._rating_table import RatingTable, case_columns
    from medjury.tables._read import read_rating_table
    from medjury.tables._roles import CONSENSUS, MACHINES, Names, Roles, named
    from medjury.tables._two_tables.doubt import AS_THEY_ARE, Answer, Doubt
    from medjury.tables._two_tables.panel import Meaning, Panel
    from medjury.tables._two_tables.panel_mapping import COLUMNS
    from medjury.tables._two_tables.same_ids import MATCHED, id_doubt, with_matched
    from medjury.tables._two_tables.same_scale import rescaled, reversed_doubt, scale_doubt, whole_scale
    from medjury.tables._two_tables.two_panels import UnclearColumnsError, read_panels, table_of, two_panels

__all__ = [
    "ABSENT",
    "AS_THEY_ARE",
    "CALIBRATED",
    "CASE_PARTS",
    "COLUMNS",
    "CONSENSUS",
    "JURY",
    "MACHINES",
    "MATCHED",
    "MOST_GROUPS",
    "NOT_APPLICABLE",
    "PROBABILITY",
    "SCORED",
    "UNSCORED",
    "Answer",
    "ConsensusRule",
    "Doubt",
    "Grades",
    "GradesArgument",
    "Grid",
    "JuryName",
    "JuryRule",
    "Meaning",
    "Measured",
    "Names",
    "Panel",
    "RatingTable",
    "RepeatRule",
    "Roles",
    "UnclearColumnsError",
    "add_jury",
    "adjudicated",
    "answers_of",
    "case_columns",
    "clean_rows",
    "consensus_of",
    "danger_reference",
    "grades_from_instrument",
    "grades_of",
    "id_doubt",
    "majority",
    "mean_of_raters",
    "named",
    "open_run",
    "probability_of",
    "rating_table",
    "read_panels",
    "read_plain_table",
    "read_rating_table",
    "rescaled",
    "reversed_doubt",
    "scale_doubt",
    "table_of",
    "tells_groups",
    "two_panels",
    "whole_scale",
    "with_consensus",
    "with_matched",
    "with_rules",
]
