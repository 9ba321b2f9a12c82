"""Statistics: an estimate with its interval, the bootstrap under it, and one way to print a number."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.statistics._at_any_time.confidence_sequence import ConfidenceSequence
    from medjury.statistics._at_any_time.e_process import Direction, EProcess
    from medjury.statistics._at_any_time.looks import Look, look, more_for_width
    from medjury.statistics._bootstrap import (
        UNDEFINED_ALLOWED,
        Clusters,
        Read,
        Replicates,
        Statistics,
        bootstrap,
        combined,
        compare,
        evaluate,
        joined,
        on_columns,
        replicates,
    )
    from medjury.statistics._choose import choose
    from medjury.statistics._estimate import Estimate, undefined
    from medjury.statistics._forest import seen
    from medjury.statistics._group_ranks import GroupRanks, Groups
    from medjury.statistics._interval import SAME, interval
    from medjury.statistics._memory import keep_freed_memory
    from medjury.statistics._options import Analytic, Options, estimates, kept_clusters
    from medjury.statistics._printing.printing import (
        NOTHING,
        Printable,
        counted,
        moment,
        p_value,
        percent,
        shown,
        supported,
    )
    from medjury.statistics._printing.text_table import text_table
    from medjury.statistics._ranks import (
        Levels,
        centred_midranks,
        concordance,
        levels_of,
        quantiles,
    )
    from medjury.statistics._resample import RESAMPLES, Floats, cluster_codes, sample
    from medjury.statistics._result import Result, ends, html_table
    from medjury.statistics._scores import (
        Level,
        Pairs,
        Scale,
        Scores,
        complete_rows,
        level_codes,
        read_pairs,
        read_scale,
        read_scores,
        refuse_off_scale,
        snapped_levels,
        tied,
    )
    from medjury.statistics._shares.clustered_proportion import clustered_proportion
    from medjury.statistics._shares.counted_share import counted_share
    from medjury.statistics._shares.error_rate import error_rate
    from medjury.statistics._shares.paired_rates import difference_of, paired_rate_difference
    from medjury.statistics._shares.post_strata import PostStrata, by_strata, drawn_from, post_strata
    from medjury.statistics._shares.proportion import (
        binomial_test,
        fisher_test,
        mcnemar,
        proportion,
        wilson_ends,
    )
    from medjury.statistics._shares.weighted import (
        by_last_column,
        difference_mean,
        effective_n,
        weighted_mean,
        weighted_proportion,
    )
    from medjury.statistics._symmetric import FEWEST_CLUSTERS, fewest_items
    from medjury.statistics._workers import one_thread_each, side_by_side

__all__ = [
    "FEWEST_CLUSTERS",
    "NOTHING",
    "RESAMPLES",
    "SAME",
    "UNDEFINED_ALLOWED",
    "Analytic",
    "Clusters",
    "ConfidenceSequence",
    "Direction",
    "EProcess",
    "Estimate",
    "Floats",
    "GroupRanks",
    "Groups",
    "Level",
    "Levels",
    "Look",
    "Options",
    "Pairs",
    "PostStrata",
    "Printable",
    "Read",
    "Replicates",
    "Result",
    "Scale",
    "Scores",
    "Statistics",
    "binomial_test",
    "bootstrap",
    "by_last_column",
    "by_strata",
    "centred_midranks",
    "choose",
    "cluster_codes",
    "clustered_proportion",
    "combined",
    "compare",
    "complete_rows",
    "concordance",
    "counted",
    "counted_share",
    "difference_mean",
    "difference_of",
    "drawn_from",
    "effective_n",
    "ends",
    "error_rate",
    "estimates",
    "evaluate",
    "fewest_items",
    "fisher_test",
    "html_table",
    "interval",
    "joined",
    "keep_freed_memory",
    "kept_clusters",
    "level_codes",
    "levels_of",
    "look",
    "mcnemar",
    "moment",
    "more_for_width",
    "on_columns",
    "one_thread_each",
    "p_value",
    "paired_rate_difference",
    "percent",
    "post_strata",
    "proportion",
    "quantiles",
    "read_pairs",
    "read_scale",
    "read_scores",
    "refuse_off_scale",
    "replicates",
    "sample",
    "seen",
    "shown",
    "side_by_side",
    "snapped_levels",
    "supported",
    "text_table",
    "tied",
    "undefined",
    "weighted_mean",
    "weighted_proportion",
    "wilson_ends",
]
