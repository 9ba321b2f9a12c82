"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

from medjury.agreement._bootstrap import (
    Comparison,
    Replicates,
    bootstrap,
    combined,
    compare,
    evaluate,
    on_columns,
    replicates,
)
from medjury.agreement._chance_corrected import (
    brennan_prediger,
    chance_corrected,
    chance_statistics,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
)
from medjury.agreement._chance_variance import (
    ChanceCorrected,
)
from medjury.agreement._concordance import (
    ConcordanceTest,
    concordance_statistics,
    kendall_w,
    kendall_w_test,
)
from medjury.agreement._correlation import (
    correlation_statistics,
    kendall_tau_b,
    pearson,
    spearman,
)
from medjury.agreement._cronbach import (
    cronbach_alpha,
)
from medjury.agreement._differences import (
    BlandAltman,
    bland_altman,
    difference_statistics,
    exact_match,
    mean_absolute_error,
    median_difference,
    offset,
    root_mean_squared_error,
)
from medjury.agreement._estimate import (
    Estimate,
    undefined,
)
from medjury.agreement._icc import (
    icc,
    icc_statistics,
    intraclass_correlations,
)
from medjury.agreement._icc_standardised import (
    icc_3_k_z,
)
from medjury.agreement._kappa import (
    cohen_kappa,
    kappa_statistics,
)
from medjury.agreement._krippendorff import (
    alpha_statistics,
    krippendorff_alpha,
    krippendorff_alphas,
)
from medjury.agreement._many_raters import (
    MANY_RATER_STATISTICS,
    many_raters,
)
from medjury.agreement._options import (
    Options,
)
from medjury.agreement._pairs import (
    TWO_RATER_STATISTICS,
    ConfusionMatrix,
    confusion_matrix,
    two_raters,
)
from medjury.agreement._signed_rank import (
    SignedRankTest,
    wilcoxon_signed_rank,
)
from medjury.agreement._weights import (
    agreement_weights,
)

__all__ = [
    "MANY_RATER_STATISTICS",
    "TWO_RATER_STATISTICS",
    "BlandAltman",
    "ChanceCorrected",
    "Comparison",
    "ConcordanceTest",
    "ConfusionMatrix",
    "Estimate",
    "Options",
    "Replicates",
    "SignedRankTest",
    "agreement_weights",
    "alpha_statistics",
    "bland_altman",
    "bootstrap",
    "brennan_prediger",
    "chance_corrected",
    "chance_statistics",
    "cohen_kappa",
    "combined",
    "compare",
    "concordance_statistics",
    "confusion_matrix",
    "conger_kappa",
    "correlation_statistics",
    "cronbach_alpha",
    "difference_statistics",
    "evaluate",
    "exact_match",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "icc_3_k_z",
    "icc_statistics",
    "intraclass_correlations",
    "kappa_statistics",
    "kendall_tau_b",
    "kendall_w",
    "kendall_w_test",
    "krippendorff_alpha",
    "krippendorff_alphas",
    "many_raters",
    "mean_absolute_error",
    "median_difference",
    "offset",
    "on_columns",
    "pearson",
    "replicates",
    "root_mean_squared_error",
    "spearman",
    "two_raters",
    "undefined",
    "wilcoxon_signed_rank",
]
