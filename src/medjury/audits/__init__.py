"""Audits: what moves a judge's scores besides the quality of the answer?"""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.audits._anchors import split_by
    from medjury.audits._audit import Audit, Finding
    from medjury.audits._audits import AUDITS, Audits, audit
    from medjury.audits._consistency import internal_consistency
    from medjury.audits._corpus import Corpus, corpus
    from medjury.audits._drift import drift
    from medjury.audits._error_model import error_model
    from medjury.audits._groups import group_differences
    from medjury.audits._injection import injection, planted_cases
    from medjury.audits._multiplicity import ADJUSTMENTS
    from medjury.audits._position import holds_pairs, position, read_pairs
    from medjury.audits._self_preference.self_preference import self_preference
    from medjury.audits._stability import stability
    from medjury.audits._text_effects import text_effects
    from medjury.audits._text_features import case_features

__all__ = [
    "ADJUSTMENTS",
    "AUDITS",
    "Audit",
    "Audits",
    "Corpus",
    "Finding",
    "audit",
    "case_features",
    "corpus",
    "drift",
    "error_model",
    "group_differences",
    "holds_pairs",
    "injection",
    "internal_consistency",
    "planted_cases",
    "position",
    "read_pairs",
    "self_preference",
    "split_by",
    "stability",
    "text_effects",
]
