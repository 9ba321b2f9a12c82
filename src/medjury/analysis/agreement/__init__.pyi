from ._agreement_row import AgreementRow as AgreementRow
from ._agreement_table import AgreementTable as AgreementTable
from ._among_humans.alternative_annotator import alternative_annotator_test as alternative_annotator_test
from ._among_humans.non_inferiority import (
    CAUTION as CAUTION,
)
from ._among_humans.non_inferiority import (
    NonInferiority as NonInferiority,
)
from ._among_humans.non_inferiority import (
    no_disagreement as no_disagreement,
)
from ._among_humans.non_inferiority import (
    non_inferiority as non_inferiority,
)
from ._among_humans.pairwise import (
    incomplete as incomplete,
)
from ._among_humans.pairwise import (
    mean_over_pairs as mean_over_pairs,
)
from ._among_humans.pairwise import (
    over_pairs as over_pairs,
)
from ._among_humans.pairwise import (
    too_few_each as too_few_each,
)
from ._among_humans.rows import judge_as_rater as judge_as_rater
from ._by_repeat import (
    RepeatedAgreement as RepeatedAgreement,
)
from ._by_repeat import (
    RepeatsRow as RepeatsRow,
)
from ._by_repeat import (
    agreement_by_repeat as agreement_by_repeat,
)
from ._groups.chance_corrected import (
    brennan_prediger as brennan_prediger,
)
from ._groups.chance_corrected import (
    conger_kappa as conger_kappa,
)
from ._groups.chance_corrected import (
    fleiss_kappa as fleiss_kappa,
)
from ._groups.chance_corrected import (
    gwet_ac as gwet_ac,
)
from ._groups.concordance import kendall_w as kendall_w
from ._groups.icc import (
    icc as icc,
)
from ._groups.icc import (
    icc_statistics as icc_statistics,
)
from ._groups.icc import (
    intraclass_correlations as intraclass_correlations,
)
from ._groups.icc_mixed import mixed_model_icc as mixed_model_icc
from ._groups.icc_standardised import icc_3_k_z as icc_3_k_z
from ._groups.icc_standardised import mean_icc_3_k_z as mean_icc_3_k_z
from ._groups.krippendorff import (
    alpha_statistics as alpha_statistics,
)
from ._groups.krippendorff import (
    krippendorff_alpha as krippendorff_alpha,
)
from ._groups.many_raters import cronbach_alpha as cronbach_alpha
from ._groups.many_raters import many_raters as many_raters
from ._jury_worth import JuryWorth as JuryWorth
from ._jury_worth import JuryWorthRow as JuryWorthRow
from ._jury_worth import jury_worth as jury_worth
from ._pairs.beta_binomial import compare_paired_rates as compare_paired_rates
from ._pairs.beta_binomial import compare_rates as compare_rates
from ._pairs.classification import classification as classification
from ._pairs.correlation import (
    correlation_statistics as correlation_statistics,
)
from ._pairs.correlation import (
    kendall_tau_b as kendall_tau_b,
)
from ._pairs.correlation import (
    pearson as pearson,
)
from ._pairs.correlation import (
    spearman as spearman,
)
from ._pairs.differences import (
    BlandAltman as BlandAltman,
)
from ._pairs.differences import (
    absolute_offset as absolute_offset,
)
from ._pairs.differences import (
    bland_altman as bland_altman,
)
from ._pairs.differences import (
    difference_statistics as difference_statistics,
)
from ._pairs.differences import (
    exact_match as exact_match,
)
from ._pairs.differences import (
    mean_absolute_error as mean_absolute_error,
)
from ._pairs.differences import (
    median_difference as median_difference,
)
from ._pairs.differences import (
    offset as offset,
)
from ._pairs.differences import (
    root_mean_squared_error as root_mean_squared_error,
)
from ._pairs.kappa import cohen_kappa as cohen_kappa
from ._pairs.kappa import kappa_statistics as kappa_statistics
from ._pairs.rater_pairs import RaterPair as RaterPair
from ._pairs.rater_pairs import RaterPairs as RaterPairs
from ._pairs.rater_pairs import rater_pairs as rater_pairs
from ._pairs.roc import (
    RocCurve as RocCurve,
)
from ._pairs.roc import (
    area_statistics as area_statistics,
)
from ._pairs.roc import (
    area_under_curve as area_under_curve,
)
from ._pairs.roc import (
    roc_curve as roc_curve,
)
from ._pairs.severe_errors import (
    SevereErrors as SevereErrors,
)
from ._pairs.severe_errors import (
    error_overlap as error_overlap,
)
from ._pairs.severe_errors import (
    severe_errors as severe_errors,
)
from ._pairs.signed_rank import wilcoxon_signed_rank as wilcoxon_signed_rank
from ._pairs.two_raters import (
    ConfusionMatrix as ConfusionMatrix,
)
from ._pairs.two_raters import (
    confusion_matrix as confusion_matrix,
)
from ._pairs.two_raters import (
    two_raters as two_raters,
)
from ._pairs.win_rate import win_rates as win_rates
from ._planning.blinded import BlindedReread as BlindedReread
from ._planning.blinded import plan_blinded_reread as plan_blinded_reread
from ._planning.f1 import plan_f1 as plan_f1
from ._planning.f1 import simulate_f1 as simulate_f1
from ._planning.gate_pilot import Expected as Expected
from ._planning.gate_pilot import expected_from as expected_from
from ._planning.icc import plan_icc as plan_icc
from ._planning.icc import simulate_icc as simulate_icc
from ._planning.kappa import plan_kappa as plan_kappa
from ._planning.kappa import simulate_kappa as simulate_kappa
from ._planning.study import plan_study as plan_study
from ._readings import reading as reading
from ._study import agreement as agreement
