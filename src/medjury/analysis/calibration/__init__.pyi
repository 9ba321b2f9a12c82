from ._apply import apply_calibrations as apply_calibrations
from ._apply import evaluate_calibrations as evaluate_calibrations
from ._composite import followed_scores as followed_scores
from ._composite import parts_behind as parts_behind
from ._conformal.intervals import ConformalIntervals as ConformalIntervals
from ._conformal.sets import held_out_sets as held_out_sets
from ._conformal.strangeness import (
    Strangeness as Strangeness,
)
from ._conformal.strangeness import (
    first_share as first_share,
)
from ._conformal.strangeness import (
    strangeness as strangeness,
)
from ._estimates.prediction_powered import PoweredMeans as PoweredMeans
from ._estimates.prediction_powered import powered_means as powered_means
from ._estimates.quality import Quality as Quality
from ._estimates.quality import estimate as estimate
from ._estimates.strata import read_target as read_target
from ._jury_simulation.face import JurySimulation as JurySimulation
from ._jury_simulation.saved import save_jury_rule as save_jury_rule
from ._jury_simulation.study import simulate_jury as simulate_jury
from ._reliability import Reliability as Reliability
from ._review_queue.queue import (
    QueueRow as QueueRow,
)
from ._review_queue.queue import (
    ReviewQueue as ReviewQueue,
)
from ._review_queue.queue import (
    draw_review as draw_review,
)
from ._review_queue.queue import (
    inclusion_probabilities as inclusion_probabilities,
)
from ._review_queue.queue import (
    sealed as sealed,
)
from ._review_queue.queue import (
    systematic as systematic,
)
from ._review_queue.sizes import influence_sizes as influence_sizes
from ._saved import load_calibrations as load_calibrations
from ._saved import save_calibrations as save_calibrations
from ._stored_triage import (
    apply_triage as apply_triage,
)
from ._stored_triage import (
    load_triage as load_triage,
)
from ._stored_triage import (
    save_triage as save_triage,
)
from ._stored_triage import (
    stored_triage as stored_triage,
)
from ._study import JURY_OF_CALIBRATED as JURY_OF_CALIBRATED
from ._study import calibrate as calibrate
from ._study_result import (
    CalibrationRow as CalibrationRow,
)
from ._study_result import (
    CalibrationStudy as CalibrationStudy,
)
from ._study_result import (
    CurvePoint as CurvePoint,
)
from ._triage.label_triage import LabelTriage as LabelTriage
from ._triage.label_triage import ScoreSpread as ScoreSpread
from ._triage.routine_disagreement import (
    RoutineDisagreement as RoutineDisagreement,
)
from ._triage.routine_disagreement import (
    routine_disagreement as routine_disagreement,
)
from ._triage.triage import triage as triage
from ._triage.triage_result import Triage as Triage
from ._written import check_ending as check_ending
from ._written import write_frame as write_frame
from ._written import write_text as write_text
