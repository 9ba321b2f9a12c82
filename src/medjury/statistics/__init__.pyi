from ._at_any_time.confidence_sequence import ConfidenceSequence as ConfidenceSequence
from ._at_any_time.e_process import Direction as Direction
from ._at_any_time.e_process import EProcess as EProcess
from ._at_any_time.looks import Look as Look
from ._at_any_time.looks import look as look
from ._at_any_time.looks import more_for_width as more_for_width
from ._bootstrap import (
    UNDEFINED_ALLOWED as UNDEFINED_ALLOWED,
)
from ._bootstrap import (
    Clusters as Clusters,
)
from ._bootstrap import (
    Read as Read,
)
from ._bootstrap import (
    Replicates as Replicates,
)
from ._bootstrap import (
    Statistics as Statistics,
)
from ._bootstrap import (
    bootstrap as bootstrap,
)
from ._bootstrap import (
    combined as combined,
)
from ._bootstrap import (
    compare as compare,
)
from ._bootstrap import (
    evaluate as evaluate,
)
from ._bootstrap import (
    joined as joined,
)
from ._bootstrap import (
    on_columns as on_columns,
)
from ._bootstrap import (
    replicates as replicates,
)
from ._choose import choose as choose
from ._estimate import Estimate as Estimate
from ._estimate import undefined as undefined
from ._forest import seen as seen
from ._group_ranks import GroupRanks as GroupRanks
from ._group_ranks import Groups as Groups
from ._interval import SAME as SAME
from ._interval import interval as interval
from ._options import (
    Analytic as Analytic,
)
from ._options import (
    Options as Options,
)
from ._options import (
    estimates as estimates,
)
from ._options import (
    kept_clusters as kept_clusters,
)
from ._printing.printing import (
    NOTHING as NOTHING,
)
from ._printing.printing import (
    Printable as Printable,
)
from ._printing.printing import (
    counted as counted,
)
from ._printing.printing import (
    moment as moment,
)
from ._printing.printing import (
    p_value as p_value,
)
from ._printing.printing import (
    percent as percent,
)
from ._printing.printing import (
    shown as shown,
)
from ._printing.printing import (
    supported as supported,
)
from ._printing.text_table import text_table as text_table
from ._ranks import (
    Levels as Levels,
)
from ._ranks import (
    centred_midranks as centred_midranks,
)
from ._ranks import (
    concordance as concordance,
)
from ._ranks import (
    levels_of as levels_of,
)
from ._ranks import (
    quantiles as quantiles,
)
from ._resample import (
    RESAMPLES as RESAMPLES,
)
from ._resample import (
    Floats as Floats,
)
from ._resample import (
    cluster_codes as cluster_codes,
)
from ._resample import (
    sample as sample,
)
from ._result import Result as Result
from ._result import ends as ends
from ._result import html_table as html_table
from ._scores import (
    Level as Level,
)
from ._scores import (
    Pairs as Pairs,
)
from ._scores import (
    Scale as Scale,
)
from ._scores import (
    Scores as Scores,
)
from ._scores import (
    complete_rows as complete_rows,
)
from ._scores import (
    level_codes as level_codes,
)
from ._scores import (
    read_pairs as read_pairs,
)
from ._scores import (
    read_scale as read_scale,
)
from ._scores import (
    read_scores as read_scores,
)
from ._scores import (
    refuse_off_scale as refuse_off_scale,
)
from ._scores import (
    snapped_levels as snapped_levels,
)
from ._scores import (
    tied as tied,
)
from ._shares.clustered_proportion import clustered_proportion as clustered_proportion
from ._shares.error_rate import error_rate as error_rate
from ._shares.paired_rates import (
    counted_share as counted_share,
)
from ._shares.paired_rates import (
    difference_of as difference_of,
)
from ._shares.paired_rates import (
    paired_rate_difference as paired_rate_difference,
)
from ._shares.post_strata import (
    PostStrata as PostStrata,
)
from ._shares.post_strata import (
    by_strata as by_strata,
)
from ._shares.post_strata import (
    drawn_from as drawn_from,
)
from ._shares.post_strata import (
    post_strata as post_strata,
)
from ._shares.proportion import (
    binomial_test as binomial_test,
)
from ._shares.proportion import (
    fisher_test as fisher_test,
)
from ._shares.proportion import (
    mcnemar as mcnemar,
)
from ._shares.proportion import (
    proportion as proportion,
)
from ._shares.proportion import (
    wilson_ends as wilson_ends,
)
from ._shares.weighted import (
    by_last_column as by_last_column,
)
from ._shares.weighted import (
    difference_mean as difference_mean,
)
from ._shares.weighted import (
    effective_n as effective_n,
)
from ._shares.weighted import (
    weighted_mean as weighted_mean,
)
from ._shares.weighted import (
    weighted_proportion as weighted_proportion,
)
from ._symmetric import FEWEST_CLUSTERS as FEWEST_CLUSTERS
from ._symmetric import fewest_items as fewest_items
from ._workers import one_thread_each as one_thread_each
from ._workers import side_by_side as side_by_side
