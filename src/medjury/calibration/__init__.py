"""Calibration: judges' scores turned into decisions, with cross-fitting, valid intervals and triage."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.calibration._apply import apply_calibrations, evaluate_calibrations
    from medjury.calibration._composite import followed_scores, parts_behind
    from medjury.calibration._conformal.intervals import ConformalIntervals
    from medjury.calibration._conformal.sets import held_out_sets
    from medjury.calibration._conformal.strangeness import Strangeness, first_share, strangeness
    from medjury.calibration._curves import CurvePoint
    from medjury.calibration._estimates.prediction_powered import PoweredMeans, powered_means
    from medjury.calibration._estimates.quality import Quality, estimate
    from medjury.calibration._estimates.strata import read_target
    from medjury.calibration._jury_simulation.face import JurySimulation
    from medjury.calibration._jury_simulation.saved import save_jury_rule
    from medjury.calibration._jury_simulation.study import simulate_jury
    from medjury.calibration._reliability import Reliability
    from medjury.calibration._review_queue.draw import inclusion_probabilities, systematic
    from medjury.calibration._review_queue.queue import QueueRow, ReviewQueue, draw_review, sealed
    from medjury.calibration._review_queue.sizes import influence_sizes
    from medjury.calibration._saved import load_calibrations, save_calibrations
    from medjury.calibration._stored_triage import (
        apply_triage,
        load_triage,
        save_triage,
        stored_triage,
    )
    from medjury.calibration._study import JURY_OF_CALIBRATED, calibrate
    from medjury.calibration._study_result import CalibrationRow, CalibrationStudy
    from medjury.calibration._triage.label_triage import LabelTriage, ScoreSpread
    from medjury.calibration._triage.routine_disagreement import RoutineDisagreement, routine_disagreement
    from medjury.calibration._triage.triage import triage
    from medjury.calibration._triage.triage_result import Triage
    from medjury.calibration._written import check_ending, write_frame, write_text

__all__ = [
    "JURY_OF_CALIBRATED",
    "CalibrationRow",
    "CalibrationStudy",
    "ConformalIntervals",
    "CurvePoint",
    "JurySimulation",
    "LabelTriage",
    "PoweredMeans",
    "Quality",
    "QueueRow",
    "Reliability",
    "ReviewQueue",
    "RoutineDisagreement",
    "ScoreSpread",
    "Strangeness",
    "Triage",
    "apply_calibrations",
    "apply_triage",
    "calibrate",
    "check_ending",
    "draw_review",
    "estimate",
    "evaluate_calibrations",
    "first_share",
    "followed_scores",
    "held_out_sets",
    "inclusion_probabilities",
    "influence_sizes",
    "load_calibrations",
    "load_triage",
    "parts_behind",
    "powered_means",
    "read_target",
    "routine_disagreement",
    "save_calibrations",
    "save_jury_rule",
    "save_triage",
    "sealed",
    "simulate_jury",
    "stored_triage",
    "strangeness",
    "systematic",
    "triage",
    "write_frame",
    "write_text",
]
