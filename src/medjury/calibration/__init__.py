"""Calibration: judges' scores turned into decisions, with cross-fitting, valid intervals and triage."""

from medjury.calibration._apply import CalibratedRatings, apply_calibrations, evaluate_calibrations
from medjury.calibration._automatic import AutomaticDecisions, automatic_decisions
from medjury.calibration._before_after import Change, before_after
from medjury.calibration._calibrator import Calibrator, Method, count_outside
from medjury.calibration._conformal_intervals import ConformalIntervals
from medjury.calibration._conformal_sets import ConformalSets, GradeSets, HeldOutSets, held_out_sets
from medjury.calibration._cross_fit import METHODS, CrossFitted, OutOfFold, cross_fit
from medjury.calibration._folds import case_folds
from medjury.calibration._isotonic import Isotonic
from medjury.calibration._judged import Judged, JudgedDimension, read_judged
from medjury.calibration._jury_simulation.figure import jury_figure
from medjury.calibration._jury_simulation.result import (
    DimensionLoss,
    JuryCurvePoint,
    JuryPolicy,
    JurySimulation,
    JurySplit,
    RandomEscalation,
)
from medjury.calibration._jury_simulation.study import simulate_jury
from medjury.calibration._jury_simulation.widths import DEFAULT_JURY_SIGNALS, JURY_SIGNALS, JurySignal
from medjury.calibration._linear import Linear
from medjury.calibration._offset import Offset
from medjury.calibration._ordinal import Ordinal
from medjury.calibration._prediction_powered import PredictionPowered, estimate_difference, estimate_mean
from medjury.calibration._quality import Quality, QualityEstimate, estimate_quality
from medjury.calibration._reliability import Reliability, ReliabilityPoint, calibration_curve, reliability
from medjury.calibration._review_curve import ReviewCurve, review_curves
from medjury.calibration._routine_disagreement import RoutineDisagreement, routine_disagreement
from medjury.calibration._saved import (
    AppliedCalibration,
    SavedCalibration,
    load_calibrations,
    save_calibrations,
)
from medjury.calibration._study import (
    CalibrationStudy,
    DerivedScores,
    JudgeCalibration,
    Refusal,
    calibrate,
    change_table,
)
from medjury.calibration._triage import Triage, triage
from medjury.calibration._triaged import TriagedRatings, routine_disagreement_of, triage_ratings

__all__ = [
    "DEFAULT_JURY_SIGNALS",
    "JURY_SIGNALS",
    "METHODS",
    "AppliedCalibration",
    "AutomaticDecisions",
    "CalibratedRatings",
    "CalibrationStudy",
    "Calibrator",
    "Change",
    "ConformalIntervals",
    "ConformalSets",
    "CrossFitted",
    "DerivedScores",
    "DimensionLoss",
    "GradeSets",
    "HeldOutSets",
    "Isotonic",
    "JudgeCalibration",
    "Judged",
    "JudgedDimension",
    "JuryCurvePoint",
    "JuryPolicy",
    "JurySignal",
    "JurySimulation",
    "JurySplit",
    "Linear",
    "Method",
    "Offset",
    "Ordinal",
    "OutOfFold",
    "PredictionPowered",
    "Quality",
    "QualityEstimate",
    "RandomEscalation",
    "Refusal",
    "Reliability",
    "ReliabilityPoint",
    "ReviewCurve",
    "RoutineDisagreement",
    "SavedCalibration",
    "Triage",
    "TriagedRatings",
    "apply_calibrations",
    "automatic_decisions",
    "before_after",
    "calibrate",
    "calibration_curve",
    "case_folds",
    "change_table",
    "count_outside",
    "cross_fit",
    "estimate_difference",
    "estimate_mean",
    "estimate_quality",
    "evaluate_calibrations",
    "held_out_sets",
    "jury_figure",
    "load_calibrations",
    "read_judged",
    "reliability",
    "review_curves",
    "routine_disagreement",
    "routine_disagreement_of",
    "save_calibrations",
    "simulate_jury",
    "triage",
    "triage_ratings",
]
