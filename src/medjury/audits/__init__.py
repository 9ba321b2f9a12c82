"""Audits: what moves a judge's scores besides the quality of the answer?"""

from medjury.audits._audit import Audit, Finding
from medjury.audits._consistency import internal_consistency
from medjury.audits._drift import drift, split_by
from medjury.audits._groups import group_differences, welch
from medjury.audits._mixed_model import MixedModel, fit_mixed_model
from medjury.audits._multiplicity import ADJUSTMENTS, Adjustment, adjust
from medjury.audits._position import position
from medjury.audits._self_preference import self_preference
from medjury.audits._stability import stability
from medjury.audits._table import rating_rows
from medjury.audits._text_effects import text_effects
from medjury.audits._text_features import TextFeatures, case_features, text_features

__all__ = [
    "ADJUSTMENTS",
    "Adjustment",
    "Audit",
    "Finding",
    "MixedModel",
    "TextFeatures",
    "adjust",
    "case_features",
    "drift",
    "fit_mixed_model",
    "group_differences",
    "internal_consistency",
    "position",
    "rating_rows",
    "self_preference",
    "split_by",
    "stability",
    "text_effects",
    "text_features",
    "welch",
]
