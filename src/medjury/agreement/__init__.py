"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.agreement._agreement_row import AgreementRow
    from medjury.agreement._agreement_table import AgreementTable
    from medjury.agreement._among_humans.alternative_annotator import alternative_annotator_test
    from medjury.agreement._among_humans.non_inferiority import (
        CAUTION,
        NonInferiority,
        no_disagreement,
        non_inferiority,
    )
    from medjury.agreement._among_humans.pairwise import incomplete, mean_over_pairs, over_pairs, too_few_each
    from medjury.agreement._among_humans.rows import judge_as_rater
    from medjury.agreement._by_repeat import RepeatedAgreement, RepeatsRow, agreement_by_repeat
    from medjury.agreement._groups.chance_corrected import (
        brennan_prediger,
        conger_kappa,
        fleiss_kappa,
        gwet_ac,
    )
    from medjury.agreement._groups.concordance import kendall_w
    from medjury.agreement._groups.cronbach import cronbach_alpha
    from medjury.agreement._groups.icc import icc, icc_statistics, intraclass_correlations
    from medjury.agreement._groups.icc_mixed import mixed_model_icc
    from medjury.agreement._groups.icc_standardised import icc_3_k_z, mean_icc_3_k_z
    from medjury.agreement._groups.krippendorff import alpha_statistics, krippendorff_alpha
    from medjury.agreement._groups.many_raters import many_raters
    from medjury.agreement._jury_worth import JuryWorth, JuryWorthRow, jury_worth
    from medjury.agreement._pairs.beta_binomial import compare_paired_rates, compare_rates
    from medjury.agreement._pairs.classification import classification
    from medjury.agreement._pairs.correlation import (
        correlation_statistics,
        kendall_tau_b,
        pearson,
        spearman,
    )
    from medjury.agreement._pairs.differences import (
        BlandAltman,
        absolute_offset,
        bland_altman,
        difference_statistics,
        exact_match,
        mean_absolute_error,
        median_difference,
        offset,
        root_mean_squared_error,
    )
    from medjury.agreement._pairs.kappa import cohen_kappa, kappa_statistics
    from medjury.agreement._pairs.rater_pairs import RaterPair, RaterPairs, rater_pairs
    from medjury.agreement._pairs.roc import RocCurve, area_statistics, area_under_curve, roc_curve
    from medjury.agreement._pairs.severe_errors import SevereErrors, error_overlap, severe_errors
    from medjury.agreement._pairs.signed_rank import wilcoxon_signed_rank
    from medjury.agreement._pairs.two_raters import ConfusionMatrix, confusion_matrix, two_raters
    from medjury.agreement._pairs.win_rate import win_rates
    from medjury.agreement._planning.blinded import BlindedReread, plan_blinded_reread
    from medjury.agreement._planning.f1 import plan_f1, simulate_f1
    from medjury.agreement._planning.gate_pilot import expected_from
    from medjury.agreement._planning.gate_world import Expected
    from medjury.agreement._planning.icc import plan_icc, simulate_icc
    from medjury.agreement._planning.kappa import plan_kappa, simulate_kappa
    from medjury.agreement._planning.study import plan_study
    from medjury.agreement._readings import reading
    from medjury.agreement._study import agreement

__all__ = [
    "CAUTION",
    "AgreementRow",
    "AgreementTable",
    "BlandAltman",
    "BlindedReread",
    "ConfusionMatrix",
    "Expected",
    "JuryWorth",
    "JuryWorthRow",
    "NonInferiority",
    "RaterPair",
    "RaterPairs",
    "RepeatedAgreement",
    "RepeatsRow",
    "RocCurve",
    "SevereErrors",
    "absolute_offset",
    "agreement",
    "agreement_by_repeat",
    "alpha_statistics",
    "alternative_annotator_test",
    "area_statistics",
    "area_under_curve",
    "bland_altman",
    "brennan_prediger",
    "classification",
    "cohen_kappa",
    "compare_paired_rates",
    "compare_rates",
    "confusion_matrix",
    "conger_kappa",
    "correlation_statistics",
    "cronbach_alpha",
    "difference_statistics",
    "error_overlap",
    "exact_match",
    "expected_from",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "icc_3_k_z",
    "icc_statistics",
    "incomplete",
    "intraclass_correlations",
    "judge_as_rater",
    "jury_worth",
    "kappa_statistics",
    "kendall_tau_b",
    "kendall_w",
    "krippendorff_alpha",
    "many_raters",
    "mean_absolute_error",
    "mean_icc_3_k_z",
    "mean_over_pairs",
    "median_difference",
    "mixed_model_icc",
    "no_disagreement",
    "non_inferiority",
    "offset",
    "over_pairs",
    "pearson",
    "plan_blinded_reread",
    "plan_f1",
    "plan_icc",
    "plan_kappa",
    "plan_study",
    "rater_pairs",
    "reading",
    "roc_curve",
    "root_mean_squared_error",
    "severe_errors",
    "simulate_f1",
    "simulate_icc",
    "simulate_kappa",
    "spearman",
    "too_few_each",
    "two_raters",
    "wilcoxon_signed_rank",
    "win_rates",
]


class _Room(ModuleType):
    # The room and its chief function have one name: so `medjury.agreement(table)` works, whichever is meant.
    def __call__(self, table: object, **options: Any) -> AgreementTable:
        found: AgreementTable = self.agreement(table, **options)
        return found


sys.modules[__name__].__class__ = _Room
