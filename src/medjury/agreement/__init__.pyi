from ._agreement_row import AgreementRow as AgreementRow
from ._agreement_table import AgreementTable as AgreementTable
from ._among_humans.alternative_annotator import alternative_annotator_test as alternative_annotator_test
from ._among_humans.non_inferiority import (
    CAUTION as CAUTION,
    NonInferiority as NonInferiority,
    no_disagreement as no_disagreement,
    non_inferiority as non_inferiority,
)
from ._among_humans.pairwise import (
    incomplete as incomplete,
    mean_over_pairs as mean_over_pairs,
    over_pairs as over_pairs,
    too_few_each as too_few_each,
)
from ._among_humans.rows import judge_as_rater as judge_as_rater
from ._by_repeat import (
    RepeatedAgreement as RepeatedAgreement,
    RepeatsRow as RepeatsRow,
    agreement_by_repeat as agreement_by_repeat,
)
from ._groups.chance_corrected import (
    brennan_prediger as brennan_prediger,
    conger_kappa as conger_kappa,
    fleiss_kappa as fleiss_kappa,
    gwet_ac as gwet_ac,
)
from ._groups.concordance import kendall_w as kendall_w
from ._groups.cronbach import cronbach_alpha as cronbach_alpha
from ._groups.icc import (
    icc as icc,
    icc_statistics as icc_statistics,
    intraclass_correlations as intraclass_correlations,
)
from ._groups.icc_mixed import mixed_model_icc as mixed_model_icc
from ._groups.icc_standardised import icc_3_k_z as icc_3_k_z, mean_icc_3_k_z as mean_icc_3_k_z
from ._groups.krippendorff import alpha_statistics as alpha_statistics, krippendorff_alpha as krippendorff_alpha
from ._groups.many_raters import many_raters as many_raters
from ._jury_worth import JuryWorth as JuryWorth, JuryWorthRow as JuryWorthRow, jury_worth as jury_worth
from ._pairs.beta_binomial import compare_paired_rates as compare_paired_rates, compare_rates as compare_rates
from ._pairs.classification import classification as classification
from ._pairs.correlation import (
    correlation_statistics as correlation_statistics,
    kendall_tau_b as kendall_tau_b,
    pearson as pearson,
    spearman as spearman,
)
from ._pairs.differences import (
    BlandAltman as BlandAltman,
    absolute_offset as absolute_offset,
    bland_altman as bland_altman,
    difference_statistics as difference_statistics,
    exact_match as exact_match,
    mean_absolute_error as mean_absolute_error,
    median_difference as median_difference,
    offset as offset,
    root_mean_squared_error as root_mean_squared_error,
)
from ._pairs.kappa import cohen_kappa as cohen_kappa, kappa_statistics as kappa_statistics
from ._pairs.rater_pairs import RaterPair as RaterPair, RaterPairs as RaterPairs, rater_pairs as rater_pairs
from ._pairs.roc import (
    RocCurve as RocCurve,
    area_statistics as area_statistics,
    area_under_curve as area_under_curve,
    roc_curve as roc_curve,
)
from ._pairs.severe_errors import (
    SevereErrors as SevereErrors,
    error_overlap as error_overlap,
    severe_errors as severe_errors,
)
from ._pairs.signed_rank import wilcoxon_signed_rank as wilcoxon_signed_rank
from ._pairs.two_raters import (
    ConfusionMatrix as ConfusionMatrix,
    confusion_matrix as confusion_matrix,
    two_raters as two_raters,
)
from ._pairs.win_rate import win_rates as win_rates
from ._planning.blinded import BlindedReread as BlindedReread, plan_blinded_reread as plan_blinded_reread
from ._planning.f1 import plan_f1 as plan_f1, simulate_f1 as simulate_f1
from ._planning.gate_pilot import expected_from as expected_from
from ._planning.gate_world import Expected as Expected
from ._planning.icc import plan_icc as plan_icc, simulate_icc as simulate_icc
from ._planning.kappa import plan_kappa as plan_kappa, simulate_kappa as simulate_kappa
from ._planning.study import plan_study as plan_study
from ._readings import reading as reading
from ._study import agreement as agreement
