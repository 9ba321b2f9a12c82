"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

from medjury.agreement._additional_rater import (
    RaterChange,
    judge_as_rater,
)
from medjury.agreement._agreement_table import (
    AgreementRow,
    AgreementTable,
    Counts,
)
from medjury.agreement._alternative_annotator import (
    AlternativeAnnotator,
    HumanLeftOut,
    alternative_annotator_test,
    benjamini_yekutieli,
)
from medjury.agreement._beta_binomial import (
    RateComparison,
    compare_paired_rates,
    compare_rates,
    probability_lower,
)
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
from medjury.agreement._classification import (
    classification,
    classification_rates,
    classification_statistics,
)
from medjury.agreement._clean import (
    clean_rows,
)
from medjury.agreement._concordance import (
    ConcordanceTest,
    concordance_statistics,
    kendall_w,
    kendall_w_test,
)
from medjury.agreement._consensus import (
    adjudicated,
    majority,
    mean_of_raters,
    median_of_raters,
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
from medjury.agreement._grades import (
    Grades,
    grades_from_instrument,
    grades_of,
    round_half_up,
)
from medjury.agreement._grid import (
    ABSENT,
    NOT_APPLICABLE,
    Grid,
    grids,
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
from medjury.agreement._non_inferiority import (
    NonInferiority,
    non_inferiority,
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
from medjury.agreement._pairwise import (
    mean_over_pairs,
)
from medjury.agreement._plan import (
    Plan,
    Simulated,
)
from medjury.agreement._plan_f1 import (
    plan_f1,
    plan_f1_by_simulation,
    simulate_f1,
)
from medjury.agreement._plan_icc import (
    cases_by_raters,
    plan_icc,
    plan_icc_by_simulation,
    simulate_icc,
)
from medjury.agreement._plan_kappa import (
    plan_kappa,
    plan_kappa_by_simulation,
    simulate_kappa,
)
from medjury.agreement._proportion import (
    FisherTest,
    McNemar,
    binomial_test,
    fisher_test,
    mcnemar,
    proportion,
)
from medjury.agreement._read import (
    read_rating_table,
)
from medjury.agreement._readings import (
    koo_li,
    landis_koch,
    reading,
)
from medjury.agreement._roc import (
    RocCurve,
    area_statistics,
    area_under_curve,
    roc_curve,
)
from medjury.agreement._severe_errors import (
    Overlap,
    SevereErrors,
    error_overlap,
    severe_errors,
)
from medjury.agreement._signed_rank import (
    SignedRankTest,
    wilcoxon_signed_rank,
)
from medjury.agreement._study import (
    agreement,
)
from medjury.agreement._weights import (
    agreement_weights,
)
from medjury.agreement._win_rate import (
    WinRate,
    win_rates,
)

__all__ = [
    "ABSENT",
    "MANY_RATER_STATISTICS",
    "NOT_APPLICABLE",
    "TWO_RATER_STATISTICS",
    "AgreementRow",
    "AgreementTable",
    "AlternativeAnnotator",
    "BlandAltman",
    "ChanceCorrected",
    "Comparison",
    "ConcordanceTest",
    "ConfusionMatrix",
    "Counts",
    "Estimate",
    "FisherTest",
    "Grades",
    "Grid",
    "HumanLeftOut",
    "McNemar",
    "NonInferiority",
    "Options",
    "Overlap",
    "Plan",
    "RateComparison",
    "RaterChange",
    "Replicates",
    "RocCurve",
    "SevereErrors",
    "SignedRankTest",
    "Simulated",
    "WinRate",
    "adjudicated",
    "agreement",
    "agreement_weights",
    "alpha_statistics",
    "alternative_annotator_test",
    "area_statistics",
    "area_under_curve",
    "benjamini_yekutieli",
    "binomial_test",
    "bland_altman",
    "bootstrap",
    "brennan_prediger",
    "cases_by_raters",
    "chance_corrected",
    "chance_statistics",
    "classification",
    "classification_rates",
    "classification_statistics",
    "clean_rows",
    "cohen_kappa",
    "combined",
    "compare",
    "compare_paired_rates",
    "compare_rates",
    "concordance_statistics",
    "confusion_matrix",
    "conger_kappa",
    "correlation_statistics",
    "cronbach_alpha",
    "difference_statistics",
    "error_overlap",
    "evaluate",
    "exact_match",
    "fisher_test",
    "fleiss_kappa",
    "grades_from_instrument",
    "grades_of",
    "grids",
    "gwet_ac",
    "icc",
    "icc_3_k_z",
    "icc_statistics",
    "intraclass_correlations",
    "judge_as_rater",
    "kappa_statistics",
    "kendall_tau_b",
    "kendall_w",
    "kendall_w_test",
    "koo_li",
    "krippendorff_alpha",
    "krippendorff_alphas",
    "landis_koch",
    "majority",
    "many_raters",
    "mcnemar",
    "mean_absolute_error",
    "mean_of_raters",
    "mean_over_pairs",
    "median_difference",
    "median_of_raters",
    "non_inferiority",
    "offset",
    "on_columns",
    "pearson",
    "plan_f1",
    "plan_f1_by_simulation",
    "plan_icc",
    "plan_icc_by_simulation",
    "plan_kappa",
    "plan_kappa_by_simulation",
    "probability_lower",
    "proportion",
    "read_rating_table",
    "reading",
    "replicates",
    "roc_curve",
    "root_mean_squared_error",
    "round_half_up",
    "severe_errors",
    "simulate_f1",
    "simulate_icc",
    "simulate_kappa",
    "spearman",
    "two_raters",
    "undefined",
    "wilcoxon_signed_rank",
    "win_rates",
]
