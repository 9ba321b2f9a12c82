from ._anchors import split_by as split_by
from ._audit import Audit as Audit, Finding as Finding
from ._audits import AUDITS as AUDITS, Audits as Audits, audit as audit
from ._consistency import internal_consistency as internal_consistency
from ._corpus import Corpus as Corpus, corpus as corpus
from ._drift import drift as drift
from ._error_model import error_model as error_model
from ._groups import group_differences as group_differences
from ._injection import injection as injection, planted_cases as planted_cases
from ._multiplicity import ADJUSTMENTS as ADJUSTMENTS
from ._position import holds_pairs as holds_pairs, position as position, read_pairs as read_pairs
from ._self_preference.self_preference import self_preference as self_preference
from ._stability import stability as stability
from ._text_effects import text_effects as text_effects
from ._text_features import case_features as case_features
