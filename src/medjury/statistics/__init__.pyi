from ._at_any_time.confidence_sequence import ConfidenceSequence as ConfidenceSequence
from ._at_any_time.e_process import Direction as Direction, EProcess as EProcess
from ._at_any_time.looks import Look as Look, look as look, more_for_width as more_for_width
from ._bootstrap import (
    UNDEFINED_ALLOWED as UNDEFINED_ALLOWED,
    Clusters as Clusters,
    Read as Read,
    Replicates as Replicates,
    Statistics as Statistics,
    bootstrap as bootstrap,
    combined as combined,
    compare as compare,
    evaluate as evaluate,
    joined as joined,
    on_columns as on_columns,
    replicates as replicates,
)
from ._choose import choose as choose
from ._estimate import Estimate as Estimate, undefined as undefined
from ._forest import seen as seen
from ._group_ranks import GroupRanks as GroupRanks, Groups as Groups
from ._interval import SAME as SAME, interval as interval
from ._memory import keep_freed_memory as keep_freed_memory
from ._options import (
    Analytic as Analytic,
    Options as Options,
    estimates as estimates,
    kept_clusters as kept_clusters,
)
from ._printing.printing import (
    NOTHING as NOTHING,
    Printable as Printable,
    counted as counted,
    moment as moment,
    p_value as p_value,
    percent as percent,
    shown as shown,
    supported as supported,
)
from ._printing.text_table import text_table as text_table
from ._ranks import (
    Levels as Levels,
    centred_midranks as centred_midranks,
    concordance as concordance,
    levels_of as levels_of,
    quantiles as quantiles,
)
from ._resample import RESAMPLES as RESAMPLES, Floats as Floats, cluster_codes as cluster_codes, sample as sample
from ._result import Result as Result, ends as ends, html_table as html_table
from ._scores import (
    Level as Level,
    Pairs as Pairs,
    Scale as Scale,
    Scores as Scores,
    complete_rows as complete_rows,
    level_codes as level_codes,
    read_pairs as read_pairs,
    read_scale as read_scale,
    read_scores as read_scores,
    refuse_off_scale as refuse_off_scale,
    snapped_levels as snapped_levels,
    tied as tied,
)
from ._shares.clustered_proportion import clustered_proportion as clustered_proportion
from ._shares.counted_share import counted_share as counted_share
from ._shares.error_rate import error_rate as error_rate
from ._shares.paired_rates import difference_of as difference_of, paired_rate_difference as paired_rate_difference
from ._shares.post_strata import (
    PostStrata as PostStrata,
    by_strata as by_strata,
    drawn_from as drawn_from,
    post_strata as post_strata,
)
from ._shares.proportion import (
    binomial_test as binomial_test,
    fisher_test as fisher_test,
    mcnemar as mcnemar,
    proportion as proportion,
    wilson_ends as wilson_ends,
)
from ._shares.weighted import (
    by_last_column as by_last_column,
    difference_mean as difference_mean,
    effective_n as effective_n,
    weighted_mean as weighted_mean,
    weighted_proportion as weighted_proportion,
)
from ._symmetric import FEWEST_CLUSTERS as FEWEST_CLUSTERS, fewest_items as fewest_items
from ._workers import one_thread_each as one_thread_each, side_by_side as side_by_side
