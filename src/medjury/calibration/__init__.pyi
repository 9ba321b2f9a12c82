from ._apply import apply_calibrations as apply_calibrations, evaluate_calibrations as evaluate_calibrations
from ._composite import followed_scores as followed_scores, parts_behind as parts_behind
from ._conformal.intervals import ConformalIntervals as ConformalIntervals
from ._conformal.sets import held_out_sets as held_out_sets
from ._conformal.strangeness import (
    Strangeness as Strangeness,
    first_share as first_share,
    strangeness as strangeness,
)
from ._curves import CurvePoint as CurvePoint
from ._estimates.prediction_powered import PoweredMeans as PoweredMeans, powered_means as powered_means
from ._estimates.quality import Quality as Quality, estimate as estimate
from ._estimates.strata import read_target as read_target
from ._jury_simulation.face import JurySimulation as JurySimulation
from ._jury_simulation.saved import save_jury_rule as save_jury_rule
from ._jury_simulation.study import simulate_jury as simulate_jury
from ._reliability import Reliability as Reliability
from ._review_queue.draw import inclusion_probabilities as inclusion_probabilities, systematic as systematic
from ._review_queue.queue import (
    QueueRow as QueueRow,
    ReviewQueue as ReviewQueue,
    draw_review as draw_review,
    sealed as sealed,
)
from ._review_queue.sizes import influence_sizes as influence_sizes
from ._saved import load_calibrations as load_calibrations, save_calibrations as save_calibrations
from ._stored_triage import (
    apply_triage as apply_triage,
    load_triage as load_triage,
    save_triage as save_triage,
    stored_triage as stored_triage,
)
from ._study import JURY_OF_CALIBRATED as JURY_OF_CALIBRATED, calibrate as calibrate
from ._study_result import CalibrationRow as CalibrationRow, CalibrationStudy as CalibrationStudy
from ._triage.label_triage import LabelTriage as LabelTriage, ScoreSpread as ScoreSpread
from ._triage.routine_disagreement import (
    RoutineDisagreement as RoutineDisagreement,
    routine_disagreement as routine_disagreement,
)
from ._triage.triage import triage as triage
from ._triage.triage_result import Triage as Triage
from ._written import check_ending as check_ending, write_frame as write_frame, write_text as write_text
